//! The change sequence, as the two indexes want it.
//!
//! A batch is read in one transaction: what a change added and a later one removed is not in it,
//! and the keys of what was removed are told from the change alone.

use rusqlite::{Transaction, params};
use shared::contract::{Chunk, Vector};

use super::Catalog;
use super::remove::last_change;
use super::row::json;
use super::visible::names;
use crate::chunk_set::ChunkKey;
use crate::error::CatalogError;
use crate::keyword::{KeywordChanges, KeywordDocument};
use crate::vector::VectorChanges;

/// A batch ends with the version that brings it to this many chunks. With vectors of 384
/// dimensions that is 3 MB.
const BATCH_CHUNKS: u64 = 2_000;

/// What a stretch of the sequence comes to.
struct Stretch {
    sequence: u64,
    /// Versions whose chunks are to be put in, each once.
    added: Vec<i64>,
    /// Versions of which only the names are others, each once.
    named: Vec<i64>,
    removed: Vec<ChunkKey>,
}

impl Catalog {
    /// The number of the last change.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn sequence(&self) -> Result<u64, CatalogError> {
        self.read(|tx| Ok(last_change(tx)?))
    }

    /// Length of the vectors, once there has been one.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn dimension(&self) -> Result<Option<usize>, CatalogError> {
        self.read(|tx| {
            Ok(tx
                .prepare_cached("SELECT dimension FROM versions ORDER BY id DESC LIMIT 1")?
                .query_map([], |row| row.get(0))?
                .next()
                .transpose()?)
        })
    }

    /// The next batch after `sequence` for the keyword index; `None` when it has passed all.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn keyword_changes(&self, sequence: u64) -> Result<Option<KeywordChanges>, CatalogError> {
        self.read(|tx| {
            let Some(stretch) = stretch(tx, sequence)? else {
                return Ok(None);
            };
            let mut upserts = Vec::new();
            for version in stretch.added.iter().chain(&stretch.named) {
                keyword_documents(tx, *version, &mut upserts)?;
            }
            Ok(Some(KeywordChanges {
                upserts,
                deletes: stretch.removed,
                sequence: stretch.sequence,
            }))
        })
    }

    /// The next batch after `sequence` for the vector index; `None` when it has passed all.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn vector_changes(&self, sequence: u64) -> Result<Option<VectorChanges>, CatalogError> {
        self.read(|tx| {
            let Some(stretch) = stretch(tx, sequence)? else {
                return Ok(None);
            };
            let mut upserts = Vec::new();
            for version in stretch.added {
                vectors(tx, version, &mut upserts)?;
            }
            Ok(Some(VectorChanges {
                upserts,
                deletes: stretch.removed,
                sequence: stretch.sequence,
            }))
        })
    }
}

fn stretch(tx: &Transaction<'_>, after: u64) -> rusqlite::Result<Option<Stretch>> {
    let mut statement = tx.prepare_cached(
        "SELECT c.sequence, c.kind, c.version, c.first_key, c.chunks,
                EXISTS (SELECT 1 FROM versions AS v WHERE v.id = c.version)
         FROM changes AS c WHERE c.sequence > ?1 ORDER BY c.sequence",
    )?;
    let mut rows = statement.query([after])?;
    let mut stretch = Stretch {
        sequence: after,
        added: Vec::new(),
        named: Vec::new(),
        removed: Vec::new(),
    };
    let mut seen = std::collections::HashSet::new();
    let mut chunks = 0;
    while chunks < BATCH_CHUNKS
        && let Some(row) = rows.next()?
    {
        stretch.sequence = row.get(0)?;
        let kind: String = row.get(1)?;
        let (version, first, count): (i64, i64, i64) = (row.get(2)?, row.get(3)?, row.get(4)?);
        let alive: bool = row.get(5)?;
        match kind.as_str() {
            "removed" => stretch.removed.extend(first..first.saturating_add(count)),
            "added" if alive && seen.insert(version) => stretch.added.push(version),
            "named" if alive && seen.insert(version) => stretch.named.push(version),
            _ => continue,
        }
        chunks += u64::try_from(count).unwrap_or(0);
    }
    Ok((stretch.sequence > after).then_some(stretch))
}

fn keyword_documents(
    tx: &Transaction<'_>,
    version: i64,
    upserts: &mut Vec<KeywordDocument>,
) -> rusqlite::Result<()> {
    // One chunk, several documents: each of their names finds it.
    let name = names(tx, version)?.join(" ");
    let mut statement = tx.prepare_cached(
        "SELECT key, text, heading_path, overlap FROM chunks WHERE version = ?1 ORDER BY idx",
    )?;
    let rows = statement.query_map([version], |row| {
        let headings: Vec<String> = json(row, 2)?;
        let (mut text, overlap): (String, String) = (row.get(1)?, row.get(3)?);
        // The names of its columns find a row, on whichever chunk it stands.
        let header = Chunk::table_header(&overlap);
        if !header.is_empty() {
            text = format!("{header}\n{text}");
        }
        Ok(KeywordDocument {
            key: row.get(0)?,
            text,
            heading_path: headings.join(" > "),
            name: name.clone(),
        })
    })?;
    for row in rows {
        upserts.push(row?);
    }
    Ok(())
}

fn vectors(
    tx: &Transaction<'_>,
    version: i64,
    upserts: &mut Vec<(ChunkKey, Vec<f32>)>,
) -> rusqlite::Result<()> {
    let mut statement = tx.prepare_cached(
        "SELECT c.key, v.vector FROM chunks AS c JOIN vectors AS v ON v.chunk = c.key
         WHERE c.version = ?1 ORDER BY c.idx",
    )?;
    let rows = statement.query_map(params![version], |row| Ok((row.get(0)?, vector(row, 1)?.0)))?;
    for row in rows {
        upserts.push(row?);
    }
    Ok(())
}

/// A column that is a vector.
pub(super) fn vector(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Vector> {
    let bytes = row.get_ref(column)?.as_blob()?;
    Vector::from_le_bytes(bytes).ok_or_else(|| {
        rusqlite::Error::FromSqlConversionFailure(
            column,
            rusqlite::types::Type::Blob,
            format!("{} bytes are no vector", bytes.len()).into(),
        )
    })
}
