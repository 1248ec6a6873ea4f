//! The index stage: batches of embedded chunks become a visible version.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use parking_lot::Mutex;
use shared::blobs::Blobs;
use shared::bus::{Bus, DeadLetterHandler, Failure, Handler, Outgoing};
use shared::contract::subject::Stage;
use shared::contract::{ChunksEmbedded, DeadLetter, ErrorCode, PageManifest, StageProgress, Work};
use tokio::sync::Notify;
use tracing::{Instrument as _, debug, info_span, warn};

use crate::catalog::{Catalog, Committed, Staged};
use crate::clock;
use crate::error::{CatalogError, chain};
use crate::feeder::Leases;
use crate::indexes::Indexes;
use crate::sync::Follower;

/// What a stage of the indexer has at hand.
#[derive(Clone)]
pub struct Bench {
    /// The queue of record.
    pub catalog: Catalog,
    /// Where the pages lie.
    pub blobs: Blobs,
    /// The derived indexes.
    pub indexes: Arc<Indexes>,
    /// Who brings the indexes up to the catalog.
    pub follower: Arc<Follower>,
    /// Signs of life.
    pub leases: Arc<Mutex<Leases>>,
    /// Tells the feeder that there is room.
    pub feeder: Arc<Notify>,
}

impl Bench {
    /// Takes a batch in; the last one of a document makes it visible.
    ///
    /// # Errors
    /// A rejection of a batch that is no batch, a retry when a store does not answer.
    pub async fn accept(&self, message: ChunksEmbedded) -> Result<(), Failure> {
        let work = message.work.clone();
        self.leases
            .lock()
            .sign_of_life(&work.document_id, work.generation, Instant::now());
        well_formed(&message, self.indexes.vector.dimension())?;
        let staged = self
            .catalog
            .run(move |catalog| catalog.stage(&message))
            .await;
        match staged.map_err(|error| retry(&error))? {
            Staged::Waiting | Staged::AlreadyDone => Ok(()),
            Staged::Superseded => self.superseded(&work).await,
            Staged::Complete => self.commit(work).instrument(info_span!("commit")).await,
        }
    }

    async fn commit(&self, work: Work) -> Result<(), Failure> {
        let manifest = self.manifest(&work).await?;
        let about = work.clone();
        let committed = self
            .catalog
            .run(move |catalog| {
                let committed = catalog.commit(&work, &manifest)?;
                if matches!(committed, Committed::Unfit(_) | Committed::Empty) {
                    catalog.unstage(&work)?;
                }
                Ok(committed)
            })
            .await
            .map_err(|error| retry(&error))?;
        match committed {
            Committed::Visible {
                sequence,
                documents,
                chunks,
            } => {
                debug!(sequence, documents, chunks, "visible");
                self.follower.wake();
                self.feeder.notify_one();
                Ok(())
            }
            Committed::AlreadyDone | Committed::Incomplete => Ok(()),
            Committed::Superseded => self.superseded(&about).await,
            Committed::Empty => Err(Failure::reject(
                ErrorCode::NoText,
                "the document has no text that could be found",
                "if it is a scan, install tesseract and retry the document",
            )),
            Committed::Unfit(problem) => Err(Failure::reject(
                ErrorCode::BadMessage,
                problem,
                "check that all services are of the same version, then retry the document",
            )),
        }
    }

    async fn manifest(&self, work: &Work) -> Result<PageManifest, Failure> {
        let folder = PageManifest::folder(&work.file_hash, &work.pipeline.parser);
        let key = format!("{folder}/{}", PageManifest::FILE);
        let bytes = self.blobs.get(&key).await.map_err(Failure::retry)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            Failure::reject(
                ErrorCode::BadMessage,
                format!("`{key}` is no page manifest: {error}"),
                "check that all services are of the same version, then retry the document",
            )
        })
    }

    /// Drops work nobody wants. Its pages may have been written after the document was deleted.
    async fn superseded(&self, work: &Work) -> Result<(), Failure> {
        debug!(document.id = %work.document_id, "superseded, dropped");
        let leftovers = work.clone();
        self.catalog
            .run(move |catalog| catalog.suspect(&leftovers))
            .await
            .map_err(|error| retry(&error))
    }

    /// Takes note of a dead letter: its document has failed.
    ///
    /// # Errors
    /// When the catalog cannot be written.
    pub async fn bury(&self, letter: DeadLetter) -> Result<(), Failure> {
        let (id, code) = (letter.document_id.clone(), letter.error.code);
        let failed = self
            .catalog
            .run(move |catalog| catalog.fail(&letter, clock::now_ms()))
            .await
            .map_err(|error| retry(&error))?;
        if failed {
            warn!(document.id = %id, ?code, "failed");
            self.feeder.notify_one();
        }
        Ok(())
    }
}

fn retry(error: &CatalogError) -> Failure {
    Failure::retry(chain(error))
}

/// Whether a batch is one, and its vectors are of the index's length, when that is known.
fn well_formed(message: &ChunksEmbedded, dimension: Option<usize>) -> Result<(), Failure> {
    let reject = |problem: String| {
        Err(Failure::reject(
            ErrorCode::BadMessage,
            problem,
            "check that all services are of the same version, then retry the document",
        ))
    };
    let length = usize::try_from(message.dimension).unwrap_or(0);
    if message.batch.index >= message.batch.count {
        return reject(format!(
            "batch {} of {}",
            message.batch.index, message.batch.count
        ));
    }
    if message.chunks.len() != message.vectors.len() {
        let (chunks, vectors) = (message.chunks.len(), message.vectors.len());
        return reject(format!("{chunks} chunks came with {vectors} vectors"));
    }
    if length == 0
        || message
            .vectors
            .iter()
            .any(|vector| vector.0.len() != length)
    {
        return reject(format!(
            "not every vector has the dimension {length} that was told"
        ));
    }
    if message
        .vectors
        .iter()
        .flat_map(|vector| &vector.0)
        .any(|value| !value.is_finite())
    {
        return reject("a vector has a component that is not a finite number".to_owned());
    }
    match dimension {
        Some(expected) if expected != length => Err(Failure::reject(
            ErrorCode::PipelineMismatch,
            format!("vector dimension is {length} but the index holds {expected}"),
            "set `model.name` back, or give the other model a name of its own",
        )),
        _ => Ok(()),
    }
}

/// The handler of the index stage.
pub struct IndexStage {
    bench: Bench,
    bus: Bus,
}

impl IndexStage {
    /// The stage over `bench`.
    pub fn new(bench: Bench, bus: Bus) -> Self {
        Self { bench, bus }
    }
}

#[async_trait]
impl Handler for IndexStage {
    type Message = ChunksEmbedded;

    fn stage(&self) -> Stage {
        Stage::Index
    }

    fn work<'a>(&self, message: &'a ChunksEmbedded) -> &'a Work {
        &message.work
    }

    async fn handle(&self, message: ChunksEmbedded) -> Result<Vec<Outgoing>, Failure> {
        let progress = StageProgress {
            document_id: message.work.document_id.clone(),
            generation: message.work.generation,
            stage: Stage::Index,
            pages: 0,
            chunks: u32::try_from(message.chunks.len()).unwrap_or(u32::MAX),
        };
        self.bench.accept(message).await?;
        self.bus.progress(&progress).await;
        Ok(Vec::new())
    }
}

/// Hears dead letters.
pub struct Coroner(pub Bench);

#[async_trait]
impl DeadLetterHandler for Coroner {
    async fn note(&self, letter: DeadLetter) -> Result<(), Failure> {
        self.0.bury(letter).await
    }
}
