//! Batches of embedded chunks, kept until all of a document's have come.

use rusqlite::{OptionalExtension as _, Transaction, params};
use shared::contract::{ChunksEmbedded, DocumentState, Vector, Work};

use super::Catalog;
use super::row::Source;
use crate::error::CatalogError;

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Staged {
    /// The document is gone, or newer work on it has been ordered.
    Superseded,
    /// The work this batch belongs to is finished.
    AlreadyDone,
    /// Kept; some batches are still to come.
    Waiting,
    /// Kept, and it was the last one missing: commit.
    Complete,
}

/// What a source is to a message about it.
pub(super) enum Standing {
    Superseded,
    Done,
    Working(Source),
}

/// Whether `work` is still wanted.
pub(super) fn standing(
    catalog: &Catalog,
    tx: &Transaction<'_>,
    work: &Work,
) -> rusqlite::Result<Standing> {
    let Some(source) = Source::by_id(tx, &work.document_id)? else {
        return Ok(Standing::Superseded);
    };
    if source.generation != work.generation
        || source.file_hash != work.file_hash
        || work.pipeline != *catalog.pipeline()
    {
        return Ok(Standing::Superseded);
    }
    if source.state.is_final() || source.state == DocumentState::Indexing {
        return Ok(Standing::Done);
    }
    Ok(Standing::Working(source))
}

impl Catalog {
    /// Keeps a batch. The same batch again replaces what was kept, so a redelivery changes
    /// nothing; batches of an attempt that was cut otherwise make room for those of the later one.
    ///
    /// # Errors
    /// When the catalog cannot be written.
    pub fn stage(&self, message: &ChunksEmbedded) -> Result<Staged, CatalogError> {
        let chunks = serde_json::to_string(&message.chunks)?;
        let vectors: Vec<u8> = message
            .vectors
            .iter()
            .flat_map(Vector::to_le_bytes)
            .collect();
        let tokens: u64 = message
            .chunks
            .iter()
            .map(|chunk| u64::from(chunk.tokens))
            .sum();
        self.write(|tx| {
            let source = match standing(self, tx, &message.work)? {
                Standing::Superseded => return Ok(Staged::Superseded),
                Standing::Done => return Ok(Staged::AlreadyDone),
                Standing::Working(source) => source,
            };
            let document = source.id.as_str();
            if !make_room(tx, document, message)? {
                return Ok(Staged::Superseded);
            }
            tx.prepare_cached(
                "INSERT OR REPLACE INTO staged(document, batch, batches, total_chunks, attempt,
                                               dimension, count, tokens, chunks, vectors)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                document,
                message.batch.index,
                message.batch.count,
                message.total_chunks,
                message.work.attempt,
                message.dimension,
                message.chunks.len(),
                tokens,
                chunks,
                vectors
            ])?;
            let kept: u32 = tx
                .prepare_cached("SELECT count(*) FROM staged WHERE document = ?1")?
                .query_row([document], |row| row.get(0))?;
            Ok(if kept == message.batch.count {
                Staged::Complete
            } else {
                Staged::Waiting
            })
        })
    }

    /// Forgets the batches kept for a document whose parts do not fit together.
    ///
    /// # Errors
    /// When the catalog cannot be written.
    pub fn unstage(&self, work: &Work) -> Result<(), CatalogError> {
        self.write(|tx| {
            if let Standing::Working(source) = standing(self, tx, work)? {
                tx.execute(
                    "DELETE FROM staged WHERE document = ?1",
                    [source.id.as_str()],
                )?;
            }
            Ok(())
        })
    }
}

/// Drops kept batches that were cut otherwise than `message`'s; `false` when those are of a later
/// attempt and it is `message` that has to go.
fn make_room(
    tx: &Transaction<'_>,
    document: &str,
    message: &ChunksEmbedded,
) -> rusqlite::Result<bool> {
    let other: Option<u32> = tx
        .prepare_cached(
            "SELECT max(attempt) FROM staged WHERE document = ?1
             AND (batches <> ?2 OR total_chunks <> ?3 OR dimension <> ?4)",
        )?
        .query_row(
            params![
                document,
                message.batch.count,
                message.total_chunks,
                message.dimension
            ],
            |row| row.get(0),
        )
        .optional()?
        .flatten();
    match other {
        Some(attempt) if attempt > message.work.attempt => Ok(false),
        Some(_) => {
            tx.prepare_cached("DELETE FROM staged WHERE document = ?1")?
                .execute([document])?;
            Ok(true)
        }
        None => Ok(true),
    }
}
