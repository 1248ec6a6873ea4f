//! Making deletions complete: streams, both indexes, blobs, and the log of the database.
//!
//! What a deletion still owes stands in its receipt, so whatever was cut short is finished at the
//! next start.

mod orphan;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use shared::blobs::{BlobError, Blobs, original_key};
use shared::bus::{Bus, BusError};
use shared::contract::{DeletionReceipt, DocumentId, PageManifest};
use shared::service::Drain;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tracing::{error, info, warn};

use crate::catalog::{Catalog, Garbage, PendingPurge, Store};
use crate::clock;
use crate::error::{CatalogError, chain};
use crate::indexes::Indexes;
use crate::sync::{Follower, SyncError, blocking};

pub(crate) use orphan::orphans;

/// How long the indexes may take to follow a deletion before the pass is tried again.
const FOLLOW_WITHIN: Duration = Duration::from_mins(1);
/// Garbage looked after per transaction.
const SWEEP: usize = 200;
/// Looks for garbage at least so often.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// Looks for blobs that nobody ever told of so often. Each look lists the whole store.
const ORPHANS_EVERY: Duration = Duration::from_hours(1);
/// An original without a document may belong to an upload that is being admitted.
pub(crate) const UPLOAD_WITHIN: Duration = Duration::from_mins(10);

/// Why a pass was cut short.
#[derive(Debug, thiserror::Error)]
pub enum JanitorError {
    /// The catalog.
    #[error("the catalog could not be asked")]
    Catalog(#[from] CatalogError),
    /// A blob.
    #[error("blobs could not be removed")]
    Blobs(#[from] BlobError),
    /// An index.
    #[error("an index could not forget")]
    Index(#[from] SyncError),
    /// The streams.
    #[error("streams could not be purged")]
    Streams(#[from] BusError),
    /// Something takes too long.
    #[error("{0}")]
    NotYet(&'static str),
}

/// What can forget the messages of a document.
#[async_trait]
pub trait Streams: Send + Sync + 'static {
    /// Removes all messages of `document`.
    ///
    /// # Errors
    /// When a stream cannot be reached.
    async fn purge(&self, document: &DocumentId) -> Result<(), BusError>;
}

#[async_trait]
impl Streams for Bus {
    async fn purge(&self, document: &DocumentId) -> Result<(), BusError> {
        match self.purge_document(document).await {
            Ok(()) => Ok(()),
            Err(_perhaps_no_stream) => {
                self.ensure_streams().await?;
                self.purge_document(document).await
            }
        }
    }
}

/// The janitor.
pub struct Janitor<S> {
    catalog: Catalog,
    blobs: Blobs,
    indexes: Arc<Indexes>,
    follower: Arc<Follower>,
    streams: S,
    /// Held while a blob's users are counted and it is removed, and while a document is admitted.
    gate: Arc<tokio::sync::Mutex<()>>,
    wake: Notify,
    passes: watch::Sender<u64>,
}

impl<S: Streams> Janitor<S> {
    /// A janitor. `gate` is the one that admissions go through.
    pub fn new(
        (catalog, blobs): (Catalog, Blobs),
        indexes: Arc<Indexes>,
        follower: Arc<Follower>,
        streams: S,
        gate: Arc<tokio::sync::Mutex<()>>,
    ) -> Self {
        Self {
            catalog,
            blobs,
            indexes,
            follower,
            streams,
            gate,
            wake: Notify::new(),
            passes: watch::Sender::new(0),
        }
    }

    /// Deletes a document. It is hidden when this returns, and also gone from every store unless
    /// that takes longer than `within`: then the receipt says what is still to come.
    ///
    /// # Errors
    /// [`CatalogError::NotFound`], or when the catalog cannot be written.
    pub async fn delete(
        &self,
        id: DocumentId,
        within: Duration,
    ) -> Result<DeletionReceipt, CatalogError> {
        let deadline = Instant::now() + within;
        let mut passes = self.passes.subscribe();
        let document = id.clone();
        let removed = self
            .catalog
            .run(move |catalog| catalog.delete(&document, clock::now_ms()))
            .await?;
        info!(document.id = %id, chunks = removed.chunks, "deleted");
        self.follower.wake();
        self.wake.notify_one();
        loop {
            let document = id.clone();
            let receipt = self
                .catalog
                .run(move |catalog| catalog.receipt(&document))
                .await?;
            let complete = receipt.stores.iter().all(|store| store.purged_ms.is_some());
            if complete
                || tokio::time::timeout_at(deadline, passes.changed())
                    .await
                    .is_err()
            {
                return Ok(receipt);
            }
        }
    }

    /// Works until `drain` begins.
    pub async fn run(self: Arc<Self>, drain: Drain) {
        let mut orphans_at = Instant::now() + LOOK_EVERY;
        loop {
            let pass = tokio::select! {
                pass = self.pass() => pass,
                // What it leaves is in the receipts.
                () = drain.begun() => return,
            };
            let deleted = match pass {
                Ok(deleted) => deleted,
                Err(failure) => {
                    warn!(
                        error = chain(&failure),
                        "a deletion is not complete, trying again"
                    );
                    self.wake.notify_one();
                    tokio::time::sleep(Duration::from_secs(2)).await;
                    0
                }
            };
            self.passes.send_modify(|passes| *passes += 1);
            if deleted > 0 {
                // A parser may be writing pages of what was just deleted.
                orphans_at = orphans_at.min(Instant::now() + LOOK_EVERY);
            }
            if orphans_at <= Instant::now() {
                orphans_at = Instant::now() + ORPHANS_EVERY;
                if let Err(failure) = self.remove_orphans(UPLOAD_WITHIN).await {
                    error!(error = chain(&failure), "orphans could not be removed");
                }
            }
            tokio::select! {
                () = self.wake.notified() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = drain.begun() => return,
            }
        }
    }

    /// Completes the deletions there are and looks after garbage. Returns the deletions.
    ///
    /// # Errors
    /// The first failure; what was done until then is noted.
    pub async fn pass(&self) -> Result<usize, JanitorError> {
        let pending = self.catalog.run(Catalog::pending_purges).await?;
        let documents: Vec<DocumentId> = pending.iter().map(|one| one.document.clone()).collect();
        let streams = self.purge_streams(&documents).await;
        let swept = self.sweep().await;
        if pending.is_empty() {
            return streams.and(swept).map(|()| 0);
        }
        if swept.is_ok() {
            self.purged(Store::Blobs, &documents).await?;
        }
        self.purge_indexes(&pending, &documents).await?;
        if !self.catalog.run(Catalog::truncate_log).await? {
            return Err(JanitorError::NotYet(
                "readers keep the catalog's log from being emptied",
            ));
        }
        self.purged(Store::Catalog, &documents).await?;
        streams.and(swept)?;
        info!(documents = documents.len(), "deletions are complete");
        Ok(documents.len())
    }

    async fn purge_streams(&self, documents: &[DocumentId]) -> Result<(), JanitorError> {
        for document in documents {
            self.streams.purge(document).await?;
        }
        self.purged(Store::Streams, documents).await
    }

    async fn purge_indexes(
        &self,
        pending: &[PendingPurge],
        documents: &[DocumentId],
    ) -> Result<(), JanitorError> {
        let last = pending.iter().map(|one| one.sequence).max().unwrap_or(0);
        if !self.follower.until(last, FOLLOW_WITHIN).await {
            return Err(JanitorError::NotYet("the indexes have not followed yet"));
        }
        let indexes = Arc::clone(&self.indexes);
        blocking(move || Ok(indexes.keyword.purge()?)).await?;
        self.purged(Store::Keyword, documents).await?;
        if let Some(index) = self.indexes.vector.get() {
            blocking(move || Ok(index.compact()?)).await?;
        }
        self.purged(Store::Vector, documents).await
    }

    async fn purged(&self, store: Store, documents: &[DocumentId]) -> Result<(), JanitorError> {
        if documents.is_empty() {
            return Ok(());
        }
        let documents = documents.to_vec();
        let note = move |catalog: &Catalog| catalog.purged(store, &documents, clock::now_ms());
        Ok(self.catalog.run(note).await?)
    }

    /// Looks after all garbage there is.
    async fn sweep(&self) -> Result<(), JanitorError> {
        loop {
            let garbage = self.catalog.run(|catalog| catalog.garbage(SWEEP)).await?;
            if garbage.is_empty() {
                return Ok(());
            }
            for item in &garbage {
                self.look_after(item).await?;
            }
            self.catalog
                .run(move |catalog| catalog.swept(&garbage))
                .await?;
        }
    }

    /// Removes what has no user, and restores the manifest of pages that a forced reading forgot
    /// and then did not finish.
    async fn look_after(&self, item: &Garbage) -> Result<(), JanitorError> {
        let _closed = self.gate.lock().await;
        if let Some(content) = item.content.clone() {
            let key = original_key(&content);
            if !self
                .catalog
                .run(move |catalog| catalog.uses_original(&content))
                .await?
            {
                self.blobs.delete(&key).await?;
            }
        }
        let (hash, parser) = (item.file_hash.clone(), item.parser.clone());
        let usage = self
            .catalog
            .run(move |catalog| catalog.uses_pages(&hash, &parser))
            .await?;
        if !usage.pages {
            self.blobs.delete_prefix(&item.folder()).await?;
        } else if let Some(manifest) = usage.manifest.filter(|_| !usage.working) {
            let key = format!("{}/{}", item.folder(), PageManifest::FILE);
            if !self.blobs.exists(&key).await? {
                let bytes = serde_json::to_vec(&manifest).map_err(CatalogError::from)?;
                self.blobs.put(&key, Bytes::from(bytes)).await?;
            }
        }
        Ok(())
    }

    /// Removes blobs without a user that no deletion told of: an upload that was never admitted,
    /// pages written after their document was deleted. Originals younger than `young` are left.
    ///
    /// # Errors
    /// When a store does not answer.
    pub async fn remove_orphans(&self, young: Duration) -> Result<usize, JanitorError> {
        let found = orphans(&self.catalog, &self.blobs, young).await?;
        let mut removed = 0;
        for orphan in &found.blobs {
            let _closed = self.gate.lock().await;
            if orphan.is_unused(&self.catalog).await? {
                self.blobs.delete_prefix(&orphan.folder_or_key()).await?;
                self.blobs.delete(&orphan.folder_or_key()).await?;
                removed += 1;
            }
        }
        if removed > 0 {
            info!(removed, "removed blobs that nothing used");
        }
        Ok(removed)
    }
}
