//! Documents, messages and stores for the tests of this crate.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use shared::blobs::{Blobs, original_key};
use shared::contract::{
    Admit, Admitted, Batch, Chunk, ChunksEmbedded, CollectionName, DocumentAdmitted, DocumentId,
    DocumentState, Generation, Locator, PageManifest, PageRecord, Pipeline, ReadMethod, Sha256Hex,
    Span, Vector,
};
use shared::format::Format;
use shared::service::Drain;
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::catalog::Catalog;
use crate::feeder::Leases;
use crate::indexes::Indexes;
use crate::stage::Bench;
use crate::sync::Follower;

pub(crate) const DIMENSION: usize = 8;

pub(crate) fn pipeline() -> Pipeline {
    Pipeline::current("test-model-fp32".parse().unwrap())
}

pub(crate) fn admit(path: &str, text: &str, force: bool) -> Admit {
    Admit {
        path: path.to_owned(),
        collection: CollectionName::default(),
        content: Sha256Hex::of(text.as_bytes()),
        bytes: text.len() as u64,
        format: Format::Text,
        force,
        password: None,
        modified_ms: None,
    }
}

/// The pages of a text: parted by form feeds; one that begins with `!` cannot be read.
pub(crate) fn pages(text: &str) -> (PageManifest, Vec<String>) {
    let pages: Vec<String> = text.split('\u{c}').map(str::to_owned).collect();
    let records = pages
        .iter()
        .zip(1..)
        .map(|(page, number)| PageRecord {
            number,
            locator: Locator::PdfPage {
                physical: number,
                label: None,
            },
            method: if page.starts_with('!') {
                ReadMethod::Missing
            } else {
                ReadMethod::Native
            },
            characters: page.chars().count() as u64,
            doubts: Vec::new(),
            error: None,
        })
        .collect();
    let manifest = PageManifest {
        format: Format::Text,
        parser: Pipeline::PARSER.to_owned(),
        title: None,
        pages: records,
        notes: vec!["read in a test".to_owned()],
    };
    (manifest, pages)
}

/// The chunks of a text: one per line, with its line end.
pub(crate) fn chunks(text: &str) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    for (page, number) in pages(text).1.iter().zip(1..) {
        let mut start = 0_u32;
        for line in page
            .split_inclusive('\n')
            .filter(|_| !page.starts_with('!'))
        {
            let end = start + u32::try_from(line.len()).unwrap();
            chunks.push(Chunk {
                index: u32::try_from(chunks.len()).unwrap(),
                heading_path: vec!["Top".to_owned()],
                prefix: "Section: Top".to_owned(),
                overlap: String::new(),
                text: line.to_owned(),
                spans: vec![Span {
                    page: number,
                    start,
                    end,
                }],
                tokens: 3,
            });
            start = end;
        }
    }
    chunks
}

/// A unit vector that depends on the text alone.
pub(crate) fn vector(text: &str) -> Vec<f32> {
    let hash = Sha256Hex::of(text.trim().as_bytes());
    let raw: Vec<f32> = hash
        .as_str()
        .bytes()
        .take(DIMENSION)
        .map(|byte| f32::from(byte) - 77.0)
        .collect();
    let norm = raw.iter().map(|value| value * value).sum::<f32>().sqrt();
    raw.into_iter().map(|value| value / norm).collect()
}

/// What the embedder sends for `text`, in batches of `size` chunks.
pub(crate) fn embedded(work: &DocumentAdmitted, text: &str, size: usize) -> Vec<ChunksEmbedded> {
    let all = chunks(text);
    let groups: Vec<&[Chunk]> = if all.is_empty() {
        vec![&[]]
    } else {
        all.chunks(size).collect()
    };
    let count = u32::try_from(groups.len()).unwrap();
    groups
        .iter()
        .zip(0..)
        .map(|(group, index)| ChunksEmbedded {
            work: work.work.clone(),
            batch: Batch { index, count },
            total_chunks: u32::try_from(all.len()).unwrap(),
            dimension: u32::try_from(DIMENSION).unwrap(),
            chunks: group.to_vec(),
            vectors: group
                .iter()
                .map(|chunk| Vector(vector(&chunk.text)))
                .collect(),
        })
        .collect()
}

/// Real stores in a folder of their own.
pub(crate) struct Kit {
    pub folder: TempDir,
    pub bench: Bench,
    pub indexes: Arc<Indexes>,
    followers: Mutex<Vec<(Drain, JoinHandle<()>)>>,
}

impl Kit {
    pub(crate) fn new() -> Self {
        Self::within(tempfile::tempdir().unwrap(), pipeline())
    }

    fn within(folder: TempDir, pipeline: Pipeline) -> Self {
        let (catalog, indexes) = crate::open(folder.path(), pipeline).unwrap();
        let blobs = Blobs::open(&folder.path().join("blobs")).unwrap();
        let leases = Leases::new(Duration::from_secs(20));
        let bench = Bench {
            follower: Arc::new(Follower::new(catalog.clone(), Arc::clone(&indexes))),
            catalog,
            blobs,
            indexes: Arc::clone(&indexes),
            leases: Arc::new(Mutex::new(leases)),
            feeder: Arc::new(Notify::new()),
        };
        Self {
            folder,
            bench,
            indexes,
            followers: Mutex::default(),
        }
    }

    /// As after a kill: everything in memory is gone, the files are as they were.
    pub(crate) async fn reopen(self) -> Self {
        self.reopen_as(pipeline()).await
    }

    /// As after an upgrade to a program with another pipeline.
    pub(crate) async fn reopen_as(self, pipeline: Pipeline) -> Self {
        let Self {
            folder,
            bench,
            indexes,
            followers,
        } = self;
        for (drain, follower) in followers.into_inner() {
            drain.begin();
            follower.await.unwrap();
        }
        drop((bench, indexes));
        Self::within(folder, pipeline)
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.bench.catalog
    }

    /// Follows until the kit is reopened or the test ends.
    pub(crate) fn follow(&self) {
        let drain = Drain::new();
        let follower = tokio::spawn(Arc::clone(&self.bench.follower).run(drain.clone()));
        self.followers.lock().push((drain, follower));
    }

    /// Uploads and admits.
    pub(crate) async fn add(&self, path: &str, text: &str, force: bool) -> Admitted {
        let request = admit(path, text, force);
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        self.bench
            .blobs
            .put(&original_key(&request.content), bytes)
            .await
            .unwrap();
        self.catalog().admit(&request, 1).unwrap()
    }

    /// Does the parser's work.
    pub(crate) async fn parse(&self, work: &DocumentAdmitted, text: &str) {
        let (manifest, pages) = pages(text);
        let folder = PageManifest::folder(&work.work.file_hash, &work.work.pipeline.parser);
        for (page, number) in pages.into_iter().zip(1..) {
            let key = format!("{folder}/{}", PageManifest::page_file(number));
            self.bench.blobs.put(&key, Bytes::from(page)).await.unwrap();
        }
        let bytes = Bytes::from(serde_json::to_vec(&manifest).unwrap());
        self.bench
            .blobs
            .put(&format!("{folder}/{}", PageManifest::FILE), bytes)
            .await
            .unwrap();
    }

    /// Hands everything out and does all stages' work; `text_of` gives a document's text.
    pub(crate) async fn work(&self, text_of: impl Fn(&DocumentAdmitted) -> String) {
        loop {
            let next: Vec<(DocumentId, Generation)> = self
                .catalog()
                .next_queued(100)
                .unwrap()
                .into_iter()
                .map(|queued| (queued.id, queued.generation))
                .collect();
            if next.is_empty() {
                return;
            }
            for message in self.catalog().hand_out(&next).unwrap() {
                let text = text_of(&message);
                self.parse(&message, &text).await;
                for batch in embedded(&message, &text, 2) {
                    self.bench.accept(batch).await.unwrap();
                }
            }
        }
    }

    /// Adds documents and brings them to the end.
    pub(crate) async fn ready(&self, documents: &[(&str, &str)]) -> Vec<DocumentId> {
        let mut ids = Vec::new();
        for (path, text) in documents {
            ids.push(self.add(path, text, false).await.document_id);
        }
        let texts = documents.to_vec();
        self.work(|message| {
            let wanted =
                |(_, text): &&(&str, &str)| Sha256Hex::of(text.as_bytes()) == message.content;
            texts.iter().find(wanted).unwrap().1.to_owned()
        })
        .await;
        self.bench.follower.catch_up().unwrap();
        for id in &ids {
            assert!(self.state(id).is_final());
        }
        ids
    }

    pub(crate) fn state(&self, id: &DocumentId) -> DocumentState {
        self.catalog().get(id).unwrap().state
    }
}
