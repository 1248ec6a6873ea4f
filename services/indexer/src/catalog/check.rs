//! What `fsck` asks of the catalog.

use rusqlite::params;
use shared::contract::{Chunk, DocumentId, DocumentState, FileHash, Sha256Hex};

use super::Catalog;
use super::row::{json, state, text};
use crate::chunk_set::ChunkKey;
use crate::error::CatalogError;

/// A visible version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionSummary {
    /// Its row.
    pub id: i64,
    /// Names its folder of pages, with the parser.
    pub file_hash: FileHash,
    /// The parser's version.
    pub parser: String,
    /// Its pages.
    pub pages: u32,
    /// Length of its vectors.
    pub dimension: usize,
    /// Its chunks.
    pub chunks: u64,
}

/// A document and the blob it was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceBlobs {
    /// The document.
    pub id: DocumentId,
    /// Names the original.
    pub content: Sha256Hex,
    /// Where it stands.
    pub state: DocumentState,
    /// Whether it shows a version.
    pub visible: bool,
}

/// A chunk with its key and the length of its vector, 0 when it has none.
pub type CheckedChunk = (ChunkKey, Chunk, usize);

impl Catalog {
    /// What SQLite and the catalog's own laws find wrong.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn check(&self) -> Result<Vec<String>, CatalogError> {
        self.read(|tx| {
            let mut problems: Vec<String> = tx
                .prepare("PRAGMA integrity_check(20)")?
                .query_map([], |row| row.get::<_, String>(0))?
                .filter(|line| line.as_ref().map_or(true, |line| line != "ok"))
                .collect::<rusqlite::Result<_>>()?;
            let mut law = |what: &str, query: &str| -> rusqlite::Result<()> {
                let count: u64 =
                    tx.query_row(&format!("SELECT count(*) FROM ({query})"), [], |row| {
                        row.get(0)
                    })?;
                if count > 0 {
                    problems.push(format!("{count} {what}"));
                }
                Ok(())
            };
            law(
                "rows point at rows that are not there",
                "SELECT * FROM pragma_foreign_key_check",
            )?;
            law(
                "versions are shown by no document",
                "SELECT 1 FROM versions AS v WHERE NOT EXISTS
                    (SELECT 1 FROM sources WHERE visible_version = v.id)",
            )?;
            law(
                "documents are ready without a version",
                "SELECT 1 FROM sources WHERE state IN ('indexing', 'ready', 'partial')
                    AND visible_version IS NULL",
            )?;
            law(
                "versions have another number of chunks than they say",
                "SELECT 1 FROM versions AS v WHERE chunks <>
                    (SELECT count(*) FROM chunks WHERE version = v.id
                        AND key BETWEEN v.first_key AND v.first_key + v.chunks - 1)",
            )?;
            law(
                "versions have not one chunk",
                "SELECT 1 FROM versions WHERE chunks = 0",
            )?;
            law(
                "documents are ready although pages are missing, or partial although none is",
                "SELECT 1 FROM sources AS s JOIN versions AS v ON v.id = s.visible_version
                 WHERE (s.state = 'ready' AND v.missing <> '[]')
                    OR (s.state = 'partial' AND v.missing = '[]')",
            )?;
            law(
                "versions have another number of pages than they say",
                "SELECT 1 FROM versions AS v WHERE pages <>
                    (SELECT count(*) FROM pages WHERE version = v.id)",
            )?;
            law(
                "batches are left over from finished work",
                "SELECT 1 FROM staged AS b JOIN sources AS s ON s.id = b.document
                 WHERE s.state IN ('queued', 'indexing', 'ready', 'partial', 'failed')",
            )?;
            law(
                "documents wait for a change that was never made",
                "SELECT 1 FROM sources WHERE state = 'indexing' AND (sequence IS NULL
                    OR sequence > (SELECT coalesce(max(sequence), 0) FROM changes))",
            )?;
            Ok(problems)
        })
    }

    /// All visible versions.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn versions(&self) -> Result<Vec<VersionSummary>, CatalogError> {
        self.read(|tx| {
            let rows = tx
                .prepare_cached(
                    "SELECT id, file_hash, parser, pages, dimension, chunks FROM versions
                     ORDER BY id",
                )?
                .query_map([], |row| {
                    Ok(VersionSummary {
                        id: row.get(0)?,
                        file_hash: text(row, 1)?,
                        parser: row.get(2)?,
                        pages: row.get(3)?,
                        dimension: row.get(4)?,
                        chunks: row.get(5)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()?;
            Ok(rows)
        })
    }

    /// At most `limit` chunks of `version` from number `from` on.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn version_chunks(
        &self,
        version: i64,
        from: u32,
        limit: u32,
    ) -> Result<Vec<CheckedChunk>, CatalogError> {
        self.read(|tx| {
            let rows = tx
                .prepare_cached(
                    "SELECT c.key, c.idx, c.heading_path, c.prefix, c.overlap, c.text, c.spans,
                            c.tokens, coalesce(length(v.vector), 0) / 4
                     FROM chunks AS c LEFT JOIN vectors AS v ON v.chunk = c.key
                     WHERE c.version = ?1 AND c.idx >= ?2 ORDER BY c.idx LIMIT ?3",
                )?
                .query_map(params![version, from, limit], |row| {
                    let chunk = Chunk {
                        index: row.get(1)?,
                        heading_path: json(row, 2)?,
                        prefix: row.get(3)?,
                        overlap: row.get(4)?,
                        text: row.get(5)?,
                        spans: json(row, 6)?,
                        tokens: row.get(7)?,
                    };
                    Ok((row.get(0)?, chunk, row.get(8)?))
                })?
                .collect::<rusqlite::Result<_>>()?;
            Ok(rows)
        })
    }

    /// All documents with what they were made from.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn source_blobs(&self) -> Result<Vec<SourceBlobs>, CatalogError> {
        self.read(|tx| {
            let rows = tx
                .prepare_cached(
                    "SELECT id, content, state, visible_version IS NOT NULL FROM sources
                     ORDER BY ordinal",
                )?
                .query_map([], |row| {
                    Ok(SourceBlobs {
                        id: text(row, 0)?,
                        content: text(row, 1)?,
                        state: state(row, 2)?,
                        visible: row.get(3)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()?;
            Ok(rows)
        })
    }

    /// Keys of all visible chunks, ascending.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn chunk_keys(&self) -> Result<Vec<ChunkKey>, CatalogError> {
        self.read(|tx| {
            let rows = tx
                .prepare_cached("SELECT key FROM chunks ORDER BY key")?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            Ok(rows)
        })
    }
}
