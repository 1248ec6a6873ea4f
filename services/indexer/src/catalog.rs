//! The catalog: queue of record, and the only owner of what is known about documents.
//!
//! One SQLite file in WAL mode. One connection writes, a few read; every call is synchronous and
//! async code goes through [`Catalog::run`]. Both indexes are derived from it by the numbered
//! rows of `changes`.

mod admit;
mod change;
mod check;
mod commit;
mod dump;
mod feed;
mod filter;
mod join;
mod language;
mod list;
mod neighbours;
mod pages;
mod receipt;
mod remove;
mod row;
mod schema;
mod stage;
mod visible;

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod scale_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod upgrade_tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use shared::contract::Pipeline;

pub use check::{CheckedChunk, SourceBlobs, VersionSummary};
pub use commit::Committed;
pub use feed::{Finished, Handout, InFlight, Progress};
pub use receipt::{PendingPurge, Store};
pub use remove::{BlobUse, Garbage, Removed};
pub use stage::Staged;

use crate::error::CatalogError;

/// Idle readers kept open; more are opened under load and closed again.
const IDLE_READERS: usize = 3;

/// Bytes of the file that a reader maps; it reads what lies beyond.
const MAPPED_BYTES: i64 = 1 << 30;

/// The catalog. Cheap to clone.
#[derive(Clone)]
pub struct Catalog {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    pipeline: Pipeline,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
    /// Raised when what is visible changes; filters are cached by it.
    epoch: AtomicU64,
}

/// What opening led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Opened {
    /// Documents queued again because the pipeline is another than before.
    pub requeued: u64,
    /// Documents that show what an earlier parser or chunker made, and go on doing so.
    pub outdated: u64,
    /// Versions that are not searchable any more because their model is another.
    pub retired: u64,
}

impl Catalog {
    /// Opens or makes the catalog at `path` for `pipeline`.
    ///
    /// What another parser or chunker made stays searchable, outdated, until it is read again on
    /// request. What another model made is hidden and queued again: vectors of two models cannot
    /// be compared.
    ///
    /// # Errors
    /// When the file cannot be opened, or a newer program wrote it.
    pub fn open(path: &Path, pipeline: Pipeline) -> Result<(Self, Opened), CatalogError> {
        let open = |source| CatalogError::Open {
            path: path.to_owned(),
            source,
        };
        let mut writer = connect(path).map_err(open)?;
        let found = schema::found(&writer).map_err(open)?;
        if found > schema::KNOWN {
            return Err(CatalogError::Newer {
                path: path.to_owned(),
                found,
                known: schema::KNOWN,
            });
        }
        if found < schema::KNOWN {
            let tx = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
            schema::migrate(&tx, found).map_err(open)?;
            tx.commit()?;
        }
        let catalog = Self {
            inner: Arc::new(Inner {
                path: path.to_owned(),
                pipeline,
                writer: Mutex::new(writer),
                readers: Mutex::new(Vec::new()),
                epoch: AtomicU64::new(1),
            }),
        };
        let opened = catalog.adopt_pipeline()?;
        Ok((catalog, opened))
    }

    /// The pipeline that versions are made with.
    pub fn pipeline(&self) -> &Pipeline {
        &self.inner.pipeline
    }

    /// A number that is raised whenever what is visible changes.
    pub fn epoch(&self) -> u64 {
        self.inner.epoch.load(Ordering::Acquire)
    }

    /// Runs `work` on the blocking pool, in the caller's span.
    ///
    /// # Errors
    /// Those of `work`.
    pub async fn run<T, F>(&self, work: F) -> Result<T, CatalogError>
    where
        T: Send + 'static,
        F: FnOnce(&Self) -> Result<T, CatalogError> + Send + 'static,
    {
        let (catalog, span) = (self.clone(), tracing::Span::current());
        tokio::task::spawn_blocking(move || span.in_scope(|| work(&catalog)))
            .await
            .unwrap_or_else(|error| {
                tracing::error!(%error, "catalog work was cut short");
                Err(CatalogError::Cut)
            })
    }

    /// Shortens the write-ahead log to nothing, so that no deleted text stays in it.
    ///
    /// # Errors
    /// When it cannot be written; `false` when readers kept it from being emptied.
    pub fn truncate_log(&self) -> Result<bool, CatalogError> {
        let writer = self.inner.writer.lock();
        let busy: i64 =
            writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        Ok(busy == 0)
    }

    /// One transaction that writes; durable when it returns.
    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        let mut writer = self.inner.writer.lock();
        let tx = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = work(&tx)?;
        tx.commit()?;
        Ok(value)
    }

    /// As [`Self::write`], for what changes which chunks can be found.
    fn write_visible<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        let value = self.write(work)?;
        self.inner.epoch.fetch_add(1, Ordering::AcqRel);
        Ok(value)
    }

    /// Reads a consistent state.
    fn read<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        let idle = self.inner.readers.lock().pop();
        let mut reader = match idle {
            Some(reader) => reader,
            None => reader(&self.inner.path).map_err(|source| CatalogError::Open {
                path: self.inner.path.clone(),
                source,
            })?,
        };
        let tx = reader.transaction()?;
        let value = work(&tx)?;
        tx.finish()?;
        let mut readers = self.inner.readers.lock();
        if readers.len() < IDLE_READERS {
            readers.push(reader);
        }
        Ok(value)
    }
}

/// A connection that reads the file where the system has it in memory: the hits of a question lie
/// anywhere in it.
fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let connection = connect(path)?;
    connection.pragma_update_and_check(None, "mmap_size", MAPPED_BYTES, |_| Ok(()))?;
    Ok(connection)
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    schema::configure(&connection)?;
    Ok(connection)
}
