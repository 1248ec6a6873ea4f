//! The parse stage: an admitted document becomes Markdown pages in the blob store.

use std::path::PathBuf;

use async_trait::async_trait;
use bytes::Bytes;
use futures::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use shared::blobs::{BlobError, Blobs, original_key};
use shared::bus::{Bus, Failure, Handler, Outgoing};
use shared::contract::subject::Stage;
use shared::contract::{
    DocumentAdmitted, DocumentParsed, ErrorCode, PageManifest, PagePlaces, Pipeline, ReadMethod,
    StageProgress, Work,
};
use shared::secret::{Password, SealError, Sealer};
use tracing::debug;

use crate::extract::Extraction;
use crate::pool::{Parsed, Pool};
use crate::wire::Task;

/// Page files written at once; each is synced to disk.
const WRITES_AT_ONCE: usize = 8;

/// The stage.
pub struct ParseStage {
    bus: Bus,
    parsing: Parsing,
}

#[async_trait]
impl Handler for ParseStage {
    type Message = DocumentAdmitted;

    fn stage(&self) -> Stage {
        Stage::Parse
    }

    fn work<'a>(&self, message: &'a DocumentAdmitted) -> &'a Work {
        &message.work
    }

    async fn handle(&self, message: DocumentAdmitted) -> Result<Vec<Outgoing>, Failure> {
        let work = &message.work;
        check_pipeline(&work.pipeline)?;
        let folder = PageManifest::folder(&work.file_hash, Pipeline::PARSER);
        let manifest = self.parsing.manifest(&message, &folder).await?;
        let pages = u32::try_from(manifest.pages.len()).unwrap_or(u32::MAX);
        self.bus
            .progress(&StageProgress {
                document_id: work.document_id.clone(),
                generation: work.generation,
                stage: Stage::Parse,
                pages,
                chunks: 0,
            })
            .await;
        let parsed = DocumentParsed {
            work: work.clone(),
            folder,
            pages,
        };
        let next = Outgoing::stage(Stage::Chunk, work, None, &parsed).map_err(Failure::retry)?;
        Ok(vec![next])
    }
}

impl ParseStage {
    /// The stage that tells its progress on `bus`.
    pub fn new(bus: Bus, parsing: Parsing) -> Self {
        Self { bus, parsing }
    }
}

/// What the stage does between the blob store and the pool; the bus has no part in it.
pub struct Parsing {
    blobs: Blobs,
    pool: Pool,
    /// Where the key of the stored passwords lies; looked at when a locked document comes.
    keys: PathBuf,
}

impl Parsing {
    /// From and to `blobs`, by `pool`.
    pub fn new(blobs: Blobs, pool: Pool) -> Self {
        Self {
            blobs,
            pool,
            keys: shared::settings::data_dir(),
        }
    }

    /// With the key of the stored passwords in another folder than the data folder.
    #[must_use]
    pub fn with_keys(mut self, folder: PathBuf) -> Self {
        self.keys = folder;
        self
    }

    /// The manifest of the document's pages in `folder`: that of an earlier run, else a new one.
    ///
    /// # Errors
    /// Why the document has no pages, with the retry class.
    pub async fn manifest(
        &self,
        message: &DocumentAdmitted,
        folder: &str,
    ) -> Result<PageManifest, Failure> {
        match self.written(folder).await? {
            Some(manifest) => Ok(manifest),
            None => self.parse(message, folder).await,
        }
    }

    /// The manifest of an earlier run. It is written last, so its pages are there.
    async fn written(&self, folder: &str) -> Result<Option<PageManifest>, Failure> {
        let key = format!("{folder}/{}", PageManifest::FILE);
        match self.blobs.get(&key).await {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(BlobError::NotFound { .. }) => Ok(None),
            Err(error) => Err(Failure::retry(error)),
        }
    }

    async fn parse(
        &self,
        message: &DocumentAdmitted,
        folder: &str,
    ) -> Result<PageManifest, Failure> {
        let started = tokio::time::Instant::now();
        let path = self.blobs.local_path(&original_key(&message.content));
        let file = match tokio::fs::File::open(&path).await {
            Ok(file) => file.into_std().await,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Failure::reject(
                    ErrorCode::NotFound,
                    "the document's bytes are not in the blob store",
                    "add the file again",
                ));
            }
            Err(error) => return Err(Failure::retry(error)),
        };
        let format = message.work.format;
        let task = Task {
            format,
            name: message.name.clone(),
            password: self.password(message).await?,
        };
        let Parsed { extraction, places } = self.pool.parse(task, file).await?;
        check_text(&extraction)?;
        self.write_places(folder, places).await?;
        let (records, texts): (Vec<_>, Vec<_>) = extraction
            .pages
            .into_iter()
            .map(|page| (page.record, page.markdown))
            .unzip();
        let manifest = PageManifest {
            format,
            parser: Pipeline::PARSER.to_owned(),
            title: extraction.title,
            pages: records,
            notes: extraction.notes,
        };
        self.write(folder, &manifest, texts).await?;
        debug!(
            pages = manifest.pages.len(),
            missing = manifest.missing().len(),
            duration_ms = started.elapsed().as_millis(),
            "parsed"
        );
        Ok(manifest)
    }

    /// What opens the document, if it came with it.
    async fn password(&self, message: &DocumentAdmitted) -> Result<Option<Password>, Failure> {
        let Some(sealed) = message.password.clone() else {
            return Ok(None);
        };
        let (keys, content) = (self.keys.clone(), message.content.clone());
        let opened = tokio::task::spawn_blocking(move || {
            Sealer::open(&keys).and_then(|sealer| sealer.unseal(&sealed, &content))
        });
        match opened.await.map_err(Failure::retry)? {
            Ok(password) => Ok(Some(password)),
            Err(error @ SealError::Key { .. }) => Err(Failure::retry(error)),
            Err(SealError::NoKey { .. }) => Err(Failure::reject(
                ErrorCode::Internal,
                "the key of the stored passwords is damaged",
                "restore `password.key` in the data folder from a backup, or remove it and add \
                 the document again with its password",
            )),
            Err(SealError::OtherKey | SealError::Refused) => Err(Failure::reject(
                ErrorCode::PasswordNeeded,
                "the password was sealed with another key",
                "add the document again with its password",
            )),
        }
    }

    /// Where the pages' text stands on them; before the manifest, so that it is there once that is.
    async fn write_places(&self, folder: &str, places: Vec<PagePlaces>) -> Result<(), Failure> {
        for page in places {
            let key = format!("{folder}/{}", PagePlaces::file(page.number));
            let bytes = serde_json::to_vec(&page).map_err(Failure::retry)?;
            self.blobs
                .put(&key, Bytes::from(bytes))
                .await
                .map_err(Failure::retry)?;
        }
        Ok(())
    }

    /// Pages first, then the manifest that says they are there.
    async fn write(
        &self,
        folder: &str,
        manifest: &PageManifest,
        texts: Vec<String>,
    ) -> Result<(), Failure> {
        let writes = manifest.pages.iter().zip(texts).map(|(page, text)| {
            let key = format!("{folder}/{}", PageManifest::page_file(page.number));
            let blobs = self.blobs.clone();
            async move { blobs.put(&key, Bytes::from(text)).await }.boxed()
        });
        futures::stream::iter(writes.collect::<Vec<_>>())
            .buffer_unordered(WRITES_AT_ONCE)
            .try_collect::<()>()
            .await
            .map_err(Failure::retry)?;
        let key = format!("{folder}/{}", PageManifest::FILE);
        let bytes = serde_json::to_vec_pretty(manifest).map_err(Failure::retry)?;
        self.blobs
            .put(&key, Bytes::from(bytes))
            .await
            .map_err(Failure::retry)
    }
}

fn check_pipeline(pipeline: &Pipeline) -> Result<(), Failure> {
    if pipeline.parser == Pipeline::PARSER {
        return Ok(());
    }
    Err(Failure::reject(
        ErrorCode::PipelineMismatch,
        format!(
            "the work is for parser `{}` but this is `{}`",
            pipeline.parser,
            Pipeline::PARSER
        ),
        "run the same version of all services",
    ))
}

/// A document is worth going on with if any page has text.
fn check_text(extraction: &Extraction) -> Result<(), Failure> {
    if extraction
        .pages
        .iter()
        .any(|page| !page.markdown.trim().is_empty())
    {
        return Ok(());
    }
    let count = extraction.pages.len();
    let missing: Vec<_> = extraction
        .pages
        .iter()
        .filter(|page| page.record.method == ReadMethod::Missing)
        .filter_map(|page| Some((page.record.number, page.record.error.as_deref()?)))
        .collect();
    let (message, remedy) = match missing.first() {
        None => (
            "the document is empty".to_owned(),
            "add it again once it has text",
        ),
        Some((number, error)) => {
            let which = match (missing.len(), count) {
                (1, 1) => "its only page".to_owned(),
                (1, _) => format!("page {number} of {count}, the others are blank"),
                (n, count) if n == count => format!("all {count} pages"),
                (n, count) => format!("{n} of {count} pages from page {number} on"),
            };
            (
                format!("no text could be read: {which}: {error}"),
                "install tesseract (`apt-get install tesseract-ocr`) if it is not there and retry the \
                 document, or run it through an OCR program and add that",
            )
        }
    };
    Err(Failure::reject(ErrorCode::NoText, message, remedy))
}

#[cfg(test)]
mod tests {
    use shared::contract::{Locator, PageRecord};

    use super::*;
    use crate::extract::ExtractedPage;

    fn page(number: u32, text: &str, error: Option<&str>) -> ExtractedPage {
        let method = if error.is_some() {
            ReadMethod::Missing
        } else {
            ReadMethod::TextLayer
        };
        ExtractedPage {
            record: PageRecord {
                number,
                locator: Locator::PdfPage {
                    physical: number,
                    label: None,
                },
                method,
                characters: 0,
                doubts: Vec::new(),
                error: error.map(str::to_owned),
            },
            markdown: text.to_owned(),
        }
    }

    #[test]
    fn a_document_without_text_names_its_missing_pages() {
        #[track_caller]
        fn check(pages: Vec<ExtractedPage>, says: Option<&str>) {
            let extraction = Extraction {
                pages,
                ..Extraction::default()
            };
            match (check_text(&extraction), says) {
                (Ok(()), None) => {}
                (Err(Failure::Reject(error)), Some(says)) => {
                    assert_eq!(error.code, ErrorCode::NoText);
                    assert!(error.to_string().contains(says), "{error}");
                }
                (other, _) => panic!("{other:?}"),
            }
        }
        let scan = Some("needs OCR: the page is a picture");
        check(vec![page(1, "text", None), page(2, "", scan)], None);
        check(
            vec![page(1, "", scan), page(2, "", scan), page(3, "", scan)],
            Some("all 3 pages: needs OCR"),
        );
        check(vec![page(1, "", scan)], Some("its only page: needs OCR"));
        check(
            vec![page(1, "", None), page(2, "", scan)],
            Some("page 2 of 2"),
        );
        check(vec![page(1, " \n", None)], Some("the document is empty"));
        check(Vec::new(), Some("the document is empty"));
    }

    #[test]
    fn work_of_another_parser_is_refused() {
        let mut pipeline = Pipeline::current("m".parse().unwrap());
        assert!(check_pipeline(&pipeline).is_ok());
        pipeline.parser = "p0".to_owned();
        let Err(Failure::Reject(error)) = check_pipeline(&pipeline) else {
            panic!("accepted")
        };
        assert_eq!(error.code, ErrorCode::PipelineMismatch);
    }
}
