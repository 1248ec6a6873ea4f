//! Bringing both indexes up to the catalog, change by change.
//!
//! Each index knows the change it has passed, so whatever was cut short is done again from there:
//! after a restart, after a kill, and from the beginning for an index that was lost.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use shared::service::Drain;
use shared::telemetry;
use tokio::sync::{Notify, watch};
use tracing::{debug, error, info, info_span, warn};

use crate::catalog::{Catalog, Finished};
use crate::error::{CatalogError, chain};
use crate::indexes::Indexes;
use crate::keyword::KeywordError;
use crate::vector::VectorError;

/// Looks for changes at least so often, whether woken or not.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// A vector snapshot is made after so long without a change …
const QUIET: Duration = Duration::from_secs(10);
/// … or after so many changed vectors: catching up with them takes a second.
const UNSAVED_VECTORS: usize = 20_000;

/// Why an index could not follow.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The catalog.
    #[error("changes could not be read")]
    Catalog(#[from] CatalogError),
    /// The keyword index.
    #[error("the keyword index could not follow")]
    Keyword(#[from] KeywordError),
    /// The vector index.
    #[error("the vector index could not follow")]
    Vector(#[from] VectorError),
}

/// Keeps the indexes at the catalog's heels.
pub struct Follower {
    catalog: Catalog,
    indexes: Arc<Indexes>,
    wake: Notify,
    passed: watch::Sender<u64>,
}

impl Follower {
    /// A follower; nothing is applied before [`Self::catch_up`] or [`Self::run`].
    pub fn new(catalog: Catalog, indexes: Arc<Indexes>) -> Self {
        Self {
            catalog,
            indexes,
            wake: Notify::new(),
            passed: watch::Sender::new(0),
        }
    }

    /// Says that there may be changes.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Returns once both indexes have passed `sequence`; `false` when `within` is over first.
    pub async fn until(&self, sequence: u64, within: Duration) -> bool {
        self.wake();
        let mut passed = self.passed.subscribe();
        let reached = passed.wait_for(|passed| *passed >= sequence);
        matches!(tokio::time::timeout(within, reached).await, Ok(Ok(_)))
    }

    /// Applies all changes to both indexes and makes final what has thereby become findable.
    /// Returns the number of changed vectors. Blocks.
    ///
    /// # Errors
    /// When a store fails; what was applied until then stays.
    pub fn catch_up(&self) -> Result<usize, SyncError> {
        self.rewind_if_ahead()?;
        let (keyword, vector) = (&self.indexes.keyword, &self.indexes.vector);
        let mut changed = 0;
        loop {
            let words = self.catalog.keyword_changes(keyword.sequence())?;
            if let Some(changes) = &words {
                keyword.apply(changes)?;
            }
            let vectors = self.catalog.vector_changes(vector.sequence())?;
            if let Some(changes) = &vectors {
                vector.apply(changes)?;
                changed += changes.upserts.len() + changes.deletes.len();
            }
            let passed = keyword.sequence().min(vector.sequence());
            for document in self.catalog.finish(passed, crate::clock::now_ms())? {
                tell(&document);
            }
            self.passed.send_replace(passed);
            if words.is_none() && vectors.is_none() {
                return Ok(changed);
            }
        }
    }

    /// An index that knows changes the catalog does not was made from another catalog.
    fn rewind_if_ahead(&self) -> Result<(), SyncError> {
        let sequence = self.catalog.sequence()?;
        if self.indexes.keyword.sequence() > sequence {
            warn!("the keyword index is ahead of the catalog, rebuilding it");
            self.indexes.keyword.clear()?;
        }
        if self.indexes.vector.sequence() > sequence {
            warn!("the vector index is ahead of the catalog, rebuilding it");
            self.indexes.vector.clear()?;
        }
        Ok(())
    }

    /// Follows until `drain` begins, and saves the vector index then and whenever it is quiet.
    pub async fn run(self: Arc<Self>, drain: Drain) {
        let mut unsaved = 0;
        let mut changed_at = Instant::now();
        loop {
            tokio::select! {
                () = self.wake.notified() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = drain.begun() => break,
            }
            let follower = Arc::clone(&self);
            match blocking(move || follower.catch_up()).await {
                Ok(0) => {}
                Ok(changed) => {
                    unsaved += changed;
                    changed_at = Instant::now();
                    debug!(changed, "the indexes followed");
                }
                Err(failure) => {
                    error!(
                        error = chain(&failure),
                        "the indexes could not follow, trying again"
                    );
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            }
            let due = unsaved >= UNSAVED_VECTORS || changed_at.elapsed() >= QUIET;
            if unsaved > 0 && due && self.save().await {
                unsaved = 0;
            }
        }
        if unsaved > 0 {
            self.save().await;
        }
        info!("the indexes are saved");
    }

    async fn save(&self) -> bool {
        let Some(index) = self.indexes.vector.get() else {
            return true;
        };
        let saved = blocking(move || Ok(index.snapshot()?)).await;
        saved
            .inspect_err(|failure| warn!(error = chain(failure), "no vector snapshot was made"))
            .is_ok()
    }
}

/// The moment a document can be found: the end of the trace that queued it, and the one line of
/// the log on its way through all stages.
fn tell(document: &Finished) {
    let span = info_span!(
        "searchable",
        document.id = %document.id,
        state = ?document.state,
        duration_ms = document.took_ms
    );
    telemetry::follow(&span, document.trace.as_deref());
    span.in_scope(|| info!("can be found"));
}

/// Runs `work` on the blocking pool.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SyncError> + Send + 'static,
) -> Result<T, SyncError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_panicked| Err(SyncError::Catalog(CatalogError::Cut)))
}
