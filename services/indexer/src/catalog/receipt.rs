//! Receipts of deletions, store by store.

use rusqlite::{OptionalExtension as _, Row, params};
use shared::contract::{DeletionReceipt, DocumentId, StorePurge};

use super::Catalog;
use super::row::text;
use crate::error::CatalogError;

/// A store that has to forget what was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// The database file and its log.
    Catalog,
    /// The keyword index.
    Keyword,
    /// The vector index.
    Vector,
    /// Originals and pages.
    Blobs,
    /// Messages under way.
    Streams,
}

impl Store {
    /// All of them, in the order of a receipt.
    pub const ALL: [Self; 5] = [
        Self::Catalog,
        Self::Keyword,
        Self::Vector,
        Self::Blobs,
        Self::Streams,
    ];

    /// The store's name in receipts and findings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Keyword => "keyword",
            Self::Vector => "vector",
            Self::Blobs => "blobs",
            Self::Streams => "streams",
        }
    }
}

/// A deletion that some store has not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingPurge {
    /// The document that was deleted.
    pub document: DocumentId,
    /// The change that the indexes must pass.
    pub sequence: u64,
}

const RECEIPT: &str = "document, path, chunks, hidden_ms, catalog_ms, keyword_ms, vector_ms, \
                       blobs_ms, streams_ms";

impl Catalog {
    /// Deletions that some store has not finished, oldest first.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn pending_purges(&self) -> Result<Vec<PendingPurge>, CatalogError> {
        self.read(|tx| {
            let rows = tx
                .prepare_cached(
                    "SELECT document, sequence FROM receipts
                     WHERE catalog_ms IS NULL OR keyword_ms IS NULL OR vector_ms IS NULL
                        OR blobs_ms IS NULL OR streams_ms IS NULL
                     ORDER BY rowid",
                )?
                .query_map([], |row| {
                    Ok(PendingPurge {
                        document: text(row, 0)?,
                        sequence: row.get(1)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()?;
            Ok(rows)
        })
    }

    /// Notes that `store` has forgotten `documents`.
    ///
    /// # Errors
    /// When the catalog cannot be written.
    pub fn purged(
        &self,
        store: Store,
        documents: &[DocumentId],
        now: i64,
    ) -> Result<(), CatalogError> {
        let column = store.name();
        self.write(|tx| {
            let mut statement = tx.prepare_cached(&format!(
                "UPDATE receipts SET {column}_ms = coalesce({column}_ms, ?1) WHERE document = ?2"
            ))?;
            for document in documents {
                statement.execute(params![now, document.as_str()])?;
            }
            Ok(())
        })
    }

    /// The receipt of a deleted document.
    ///
    /// # Errors
    /// [`CatalogError::NotFound`] when no such document was deleted.
    pub fn receipt(&self, document: &DocumentId) -> Result<DeletionReceipt, CatalogError> {
        self.read(|tx| {
            tx.prepare_cached(&format!(
                "SELECT {RECEIPT} FROM receipts WHERE document = ?1"
            ))?
            .query_row([document.as_str()], read)
            .optional()?
            .ok_or_else(|| CatalogError::NotFound(document.clone()))
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<DeletionReceipt> {
    let hidden_ms = row.get(3)?;
    let mut stores = Vec::with_capacity(Store::ALL.len());
    for (store, column) in Store::ALL.into_iter().zip(4..) {
        stores.push(StorePurge {
            store: store.name().to_owned(),
            hidden_ms,
            purged_ms: row.get(column)?,
        });
    }
    Ok(DeletionReceipt {
        document_id: text(row, 0)?,
        path: row.get(1)?,
        chunks: row.get(2)?,
        stores,
    })
}
