//! The chunk stage: pages from the blob store in, batches of chunks out.

use std::sync::Arc;

use async_trait::async_trait;
use shared::blobs::Blobs;
use shared::bus::{Bus, Failure, Handler, Outgoing};
use shared::contract::subject::Stage;
use shared::contract::{
    ChunksMade, DocumentParsed, ErrorCode, ModelId, PageManifest, Pipeline, ReadMethod,
    StageProgress, Work,
};
use tracing::debug;

use crate::{Budget, ChunkError, PageText, batches, chunk_pages};

/// Turns a document's pages into batches of chunks.
pub struct Chunker {
    blobs: Blobs,
    budget: Arc<Budget>,
    pipeline: Pipeline,
}

impl Chunker {
    /// A chunker of the pages in `blobs`, for the model that `budget` is of.
    pub fn new(blobs: Blobs, budget: Budget, model: ModelId) -> Self {
        Self {
            blobs,
            budget: Arc::new(budget),
            pipeline: Pipeline::current(model),
        }
    }

    /// Chunks the document of `message`. The same message gives the same batches.
    ///
    /// # Errors
    /// A rejection for a document without text or of another pipeline; a retry when its pages
    /// cannot be read.
    pub async fn chunk(&self, message: &DocumentParsed) -> Result<Vec<ChunksMade>, Failure> {
        self.check(&message.work.pipeline)?;
        let pages = self.pages(&message.folder).await?;
        let (budget, work) = (Arc::clone(&self.budget), message.work.clone());
        tokio::task::spawn_blocking(move || {
            let chunks = chunk_pages(&pages, &budget).map_err(failure)?;
            Ok(batches(&work, &budget, chunks))
        })
        .await
        .map_err(Failure::retry)?
    }

    fn check(&self, theirs: &Pipeline) -> Result<(), Failure> {
        let ours = &self.pipeline;
        if theirs.chunker == ours.chunker && theirs.model == ours.model {
            return Ok(());
        }
        Err(Failure::reject(
            ErrorCode::PipelineMismatch,
            format!(
                "the work is for chunker `{}` and model `{}` but this is chunker `{}` with `{}`",
                theirs.chunker, theirs.model, ours.chunker, ours.model
            ),
            "run all services from one version with the same `model` section, then retry",
        ))
    }

    /// The pages in `folder`, in order; a page that could not be read is blank.
    async fn pages(&self, folder: &str) -> Result<Vec<PageText>, Failure> {
        let manifest = self
            .read(&format!("{folder}/{}", PageManifest::FILE))
            .await?;
        let manifest: PageManifest = serde_json::from_slice(&manifest).map_err(Failure::retry)?;
        let mut pages = Vec::with_capacity(manifest.pages.len());
        for page in &manifest.pages {
            let markdown = if page.method == ReadMethod::Missing {
                String::new()
            } else {
                let key = format!("{folder}/{}", PageManifest::page_file(page.number));
                let bytes = self.read(&key).await?;
                String::from_utf8(bytes.into()).map_err(|error| {
                    Failure::retry(format!("page {} is not UTF-8: {error}", page.number))
                })?
            };
            pages.push(PageText {
                number: page.number,
                locator: page.locator.clone(),
                markdown,
            });
        }
        Ok(pages)
    }

    async fn read(&self, key: &str) -> Result<bytes::Bytes, Failure> {
        self.blobs.get(key).await.map_err(Failure::retry)
    }
}

fn failure(error: ChunkError) -> Failure {
    match error {
        ChunkError::NoText => Failure::reject(
            ErrorCode::NoText,
            "the document has no text",
            "if it is a scan, install tesseract and retry the document",
        ),
        ChunkError::PageTooLarge { .. } => Failure::reject(
            ErrorCode::OverLimit,
            error.to_string(),
            "split the document and add its parts",
        ),
        ChunkError::WindowTooSmall { .. } => Failure::reject(
            ErrorCode::Internal,
            error.to_string(),
            "set `model.name` to a model with a larger window",
        ),
        ChunkError::Tokenize(_) | ChunkError::ModelFile { .. } => Failure::retry(error),
    }
}

/// The chunker on the bus.
pub struct ChunkStage {
    bus: Bus,
    chunker: Chunker,
}

impl ChunkStage {
    /// `chunker`, telling its progress on `bus`.
    pub fn new(bus: Bus, chunker: Chunker) -> Self {
        Self { bus, chunker }
    }
}

#[async_trait]
impl Handler for ChunkStage {
    type Message = DocumentParsed;

    fn stage(&self) -> Stage {
        Stage::Chunk
    }

    fn work<'a>(&self, message: &'a DocumentParsed) -> &'a Work {
        &message.work
    }

    async fn handle(&self, message: DocumentParsed) -> Result<Vec<Outgoing>, Failure> {
        let started = std::time::Instant::now();
        let batches = self.chunker.chunk(&message).await?;
        let chunks = batches.first().map_or(0, |batch| batch.total_chunks);
        let duration_ms = started.elapsed().as_millis();
        debug!(
            pages = message.pages,
            chunks,
            batches = batches.len(),
            duration_ms,
            "chunked"
        );
        let outgoing = batches
            .iter()
            .map(|batch| Outgoing::stage(Stage::Embed, &message.work, Some(batch.batch), batch))
            .collect::<Result<Vec<_>, _>>()
            .map_err(Failure::retry)?;
        self.bus
            .progress(&StageProgress {
                document_id: message.work.document_id.clone(),
                generation: message.work.generation,
                stage: Stage::Chunk,
                pages: message.pages,
                chunks,
            })
            .await;
        Ok(outgoing)
    }
}
