//! A catalog full of generated chunks, put there as the index stage puts them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexer::catalog::{Catalog, Committed};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use shared::contract::{
    Admit, Batch, Chunk, ChunksEmbedded, CollectionName, DocumentAdmitted, Locator, PageManifest,
    PageRecord, Pipeline, ReadMethod, Sha256Hex, Span, Vector,
};
use shared::format::Format;
use shared::settings::Model;

use super::words::{Lexicon, Writer};
use crate::error::Complaint;
use crate::evaluation::progress::Progress;
use crate::files::private_folder;
use crate::output::thousands;
use crate::screen::Screen;

/// The collection with one document of a hundred.
pub(super) const ONE_PERCENT: &str = "one-percent";
/// Raise it when other chunks are made.
const LAYOUT: &str = "1";
const CHUNKS_PER_DOCUMENT: u32 = 50;
const LINES_PER_CHUNK: usize = 6;
const WORDS_PER_LINE: usize = 15;
/// About what the words come to.
const TOKENS_PER_CHUNK: u32 = 110;

/// Where the chunks are kept.
pub(super) struct Place {
    folder: PathBuf,
    chunks: u32,
    pipeline: Pipeline,
}

/// The length of the model's vectors.
///
/// # Errors
/// When it cannot be told without asking a server.
pub(super) fn dimension(model: &Model) -> Result<usize, Complaint> {
    if model.on_server() {
        return Err(Complaint::new(
            "the model runs on a server, whose vectors have no known length here",
            "set `model.provider` (IBID_MODEL__PROVIDER) to `onnx` for the measurement",
        ));
    }
    let card = model.folder().join("model.json");
    let value: Option<serde_json::Value> = fs::read(&card)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let dimension = value.and_then(|value| value.get("dimension")?.as_u64());
    dimension
        .and_then(|dimension| usize::try_from(dimension).ok())
        .ok_or_else(|| {
            let card = card.display();
            Complaint::new(format!("`{card}` tells no dimension"), "run `ibid setup`")
        })
}

fn trouble(path: &Path, error: &dyn std::fmt::Display) -> Complaint {
    let path = path.display();
    Complaint::new(
        format!("cannot use `{path}`: {error}"),
        "check free space and permissions, or name another folder with `--cache`",
    )
}

impl Place {
    /// The folder below `cache` for so many chunks.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(super) fn of(cache: &Path, chunks: u32, pipeline: &Pipeline) -> Result<Self, Complaint> {
        let mut hasher = Sha256::new();
        let parts = [
            LAYOUT,
            &pipeline.parser,
            &pipeline.chunker,
            pipeline.model.as_str(),
        ];
        hasher.update(parts.join("\n"));
        let hash = hex::encode(hasher.finalize());
        let hash = hash.get(..12).unwrap_or_default();
        let folder = cache.join(format!("search-{chunks}-{hash}"));
        private_folder(&folder).map_err(|error| trouble(&folder, &error))?;
        Ok(Self {
            folder,
            chunks,
            pipeline: pipeline.clone(),
        })
    }

    /// The data folder.
    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Has the next measurement fill it anew.
    pub(super) fn forget(&self) {
        // Where it cannot be removed the next measurement has some more to search in.
        fs::remove_file(self.stamp()).ok();
    }

    fn stamp(&self) -> PathBuf {
        self.folder.join("filled")
    }

    /// For documents that are taken in while questions are asked.
    pub(super) fn documents(&self) -> PathBuf {
        self.folder.join("documents")
    }

    /// Fills the catalog, if it is not there; what was begun is begun again.
    ///
    /// # Errors
    /// When the catalog cannot be written.
    pub(super) async fn fill(
        &self,
        lexicon: &Arc<Lexicon>,
        dimension: usize,
        screen: &Screen,
    ) -> Result<(), Complaint> {
        let (data, stamp) = (self.data(), self.stamp());
        if stamp.exists() {
            return Ok(());
        }
        match fs::remove_dir_all(&data) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(trouble(&data, &error));
            }
            _ => {}
        }
        screen.line(format!("making {} chunks …", thousands(self.chunks.into())));
        let opened = indexer::open(&data, self.pipeline.clone());
        let (catalog, _indexes) = opened.map_err(|error| trouble(&data, &error))?;
        let documents = self.chunks.div_ceil(CHUNKS_PER_DOCUMENT);
        let progress = Progress::new(screen, documents as usize, "document");
        for number in 0..documents {
            let (catalog, lexicon) = (catalog.clone(), Arc::clone(lexicon));
            let left = self.chunks - number * CHUNKS_PER_DOCUMENT;
            let generated = Generated {
                number,
                chunks: left.min(CHUNKS_PER_DOCUMENT),
                dimension,
            };
            let put = tokio::task::spawn_blocking(move || generated.put(&catalog, &lexicon));
            let put = put.await.map_err(|error| trouble(&data, &error))?;
            put.map_err(|error| trouble(&data, &error))?;
            progress.step("made");
        }
        progress.finish();
        fs::write(&stamp, "").map_err(|error| trouble(&stamp, &error))
    }
}

/// One generated document.
struct Generated {
    number: u32,
    chunks: u32,
    dimension: usize,
}

impl Generated {
    /// Admits it, hands it out, stages its chunks and commits them. Blocks.
    fn put(&self, catalog: &Catalog, lexicon: &Lexicon) -> anyhow::Result<()> {
        let mut writer = Writer::new(lexicon, self.number.into());
        let texts: Vec<String> = (0..self.chunks)
            .map(|_| {
                (0..LINES_PER_CHUNK)
                    .map(|_| writer.line(WORDS_PER_LINE))
                    .collect()
            })
            .collect();
        let page = texts.concat();
        let admitted = catalog.admit(&self.admission(&page)?, 0)?;
        let wanted = [(admitted.document_id, admitted.generation)];
        for work in catalog.hand_out(&wanted)? {
            catalog.stage(&self.embedded(&work, &texts, &mut writer)?)?;
            let committed = catalog.commit(&work.work, &manifest(&work, &page))?;
            let is_visible = matches!(committed, Committed::Visible { .. });
            anyhow::ensure!(is_visible, "generated chunks do not fit: {committed:?}");
        }
        Ok(())
    }

    fn admission(&self, page: &str) -> anyhow::Result<Admit> {
        let collection = if self.number.is_multiple_of(100) {
            ONE_PERCENT.parse()?
        } else {
            CollectionName::default()
        };
        // As it comes over the bus: what is left out has its default.
        Ok(serde_json::from_value(json!({
            "path": format!("/generated/{:07}.txt", self.number),
            "collection": collection,
            "content": Sha256Hex::of(page.as_bytes()),
            "bytes": page.len(),
            "format": Format::Text,
        }))?)
    }

    fn embedded(
        &self,
        work: &DocumentAdmitted,
        texts: &[String],
        writer: &mut Writer<'_>,
    ) -> anyhow::Result<ChunksEmbedded> {
        let centre = writer.vector(&vec![0.0; self.dimension]);
        // Chunks of a document are alike: half of each is the document's.
        let centre: Vec<f32> = centre.iter().map(|value| value * 10.0).collect();
        let mut chunks = Vec::with_capacity(texts.len());
        let mut start = 0;
        for (text, index) in texts.iter().zip(0..) {
            let end = start + u32::try_from(text.len())?;
            chunks.push(Chunk {
                index,
                heading_path: vec![format!("Part {}", index / 10 + 1)],
                prefix: format!("Section: Part {}", index / 10 + 1),
                overlap: String::new(),
                text: text.clone(),
                spans: vec![Span {
                    page: 1,
                    start,
                    end,
                }],
                tokens: TOKENS_PER_CHUNK,
            });
            start = end;
        }
        Ok(ChunksEmbedded {
            work: work.work.clone(),
            batch: Batch { index: 0, count: 1 },
            total_chunks: self.chunks,
            dimension: u32::try_from(self.dimension)?,
            vectors: texts
                .iter()
                .map(|_| Vector(writer.vector(&centre)))
                .collect(),
            chunks,
        })
    }
}

fn manifest(work: &DocumentAdmitted, page: &str) -> PageManifest {
    PageManifest {
        format: Format::Text,
        parser: work.work.pipeline.parser.clone(),
        title: None,
        pages: vec![PageRecord {
            number: 1,
            locator: Locator::Block { number: 1 },
            method: ReadMethod::Native,
            characters: page.chars().count() as u64,
            doubts: Vec::new(),
            error: None,
        }],
        notes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::contract::Filter;

    #[tokio::test]
    async fn a_filled_catalog_holds_the_chunks_and_one_percent_of_the_documents_apart() {
        let cache = tempfile::tempdir().unwrap();
        let pipeline = Pipeline::current("m-fp32".parse().unwrap());
        let place = Place::of(cache.path(), 120, &pipeline).unwrap();
        let lexicon = Arc::new(Lexicon::made_up());
        let screen = Screen::stderr();
        place.fill(&lexicon, 8, &screen).await.unwrap();
        // Nothing is done again.
        place.fill(&lexicon, 8, &screen).await.unwrap();

        let (catalog, indexes) = indexer::open(&place.data(), pipeline).unwrap();
        let all = Filter::default();
        assert_eq!(catalog.allowed(&all).unwrap().len(), 120);
        let few = Filter {
            collections: vec![ONE_PERCENT.parse().unwrap()],
            ..all
        };
        assert_eq!(catalog.allowed(&few).unwrap().len(), 50);
        let follower = indexer::sync::Follower::new(catalog, indexes);
        assert_eq!(follower.catch_up().unwrap(), 120);
    }
}
