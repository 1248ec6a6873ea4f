//! Deleting documents, and finding out which blobs nobody needs any more.

use rusqlite::params;
use shared::contract::{DocumentId, FileHash, PageManifest, Sha256Hex, Work};

use super::Catalog;
use super::row::{Source, text};
use super::visible::{discard_wanted, release};
use crate::error::CatalogError;

/// What a deletion took away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The document's path.
    pub path: String,
    /// Chunks that are gone.
    pub chunks: u64,
    /// The change that the indexes must pass before they have forgotten it.
    pub sequence: u64,
}

/// Blobs that may have lost their last user.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Garbage {
    /// Names the original, when that may be garbage too.
    pub content: Option<Sha256Hex>,
    /// With the parser's version, names the folder of pages.
    pub file_hash: FileHash,
    /// The parser's version.
    pub parser: String,
}

impl Garbage {
    /// The folder of pages.
    pub fn folder(&self) -> String {
        PageManifest::folder(&self.file_hash, &self.parser)
    }
}

/// Who uses blobs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlobUse {
    /// Whether a document or visible version has the original.
    pub original: bool,
    /// Whether a document or visible version has the pages.
    pub pages: bool,
    /// Whether work is under way that may be writing the pages now.
    pub working: bool,
    /// What belongs in the manifest, when a visible version has the pages.
    pub manifest: Option<PageManifest>,
}

impl Catalog {
    /// Removes a document in one transaction: from here on no answer shows it. A receipt is kept
    /// until all stores have forgotten it, and for ever after.
    ///
    /// # Errors
    /// [`CatalogError::NotFound`], or when the catalog cannot be written.
    pub fn delete(&self, id: &DocumentId, now: i64) -> Result<Removed, CatalogError> {
        self.write_visible(|tx| {
            let source =
                Source::by_id(tx, id)?.ok_or_else(|| CatalogError::NotFound(id.clone()))?;
            discard_wanted(tx, &source, self.pipeline())?;
            tx.prepare_cached("DELETE FROM sources WHERE ordinal = ?1")?
                .execute([source.ordinal])?;
            let chunks = match source.visible_version {
                Some(version) => release(tx, version, &source.name)?,
                None => 0,
            };
            let sequence = last_change(tx)?;
            tx.prepare_cached(
                "INSERT INTO receipts(document, path, chunks, sequence, hidden_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![id.as_str(), source.path, chunks, sequence, now])?;
            Ok(Removed {
                path: source.path,
                chunks,
                sequence,
            })
        })
    }

    /// Has the janitor look at the pages of work that nobody wants any more: a parser may have
    /// written them after their document was deleted.
    ///
    /// # Errors
    /// When the catalog cannot be written.
    pub fn suspect(&self, work: &Work) -> Result<(), CatalogError> {
        if self
            .uses_pages(&work.file_hash, &work.pipeline.parser)?
            .pages
        {
            return Ok(());
        }
        self.write(|tx| {
            tx.prepare_cached(
                "INSERT OR IGNORE INTO garbage(content, file_hash, parser) VALUES ('', ?1, ?2)",
            )?
            .execute(params![work.file_hash.as_str(), work.pipeline.parser])?;
            Ok(())
        })
    }

    /// At most `limit` blobs to look after.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn garbage(&self, limit: usize) -> Result<Vec<Garbage>, CatalogError> {
        self.read(|tx| {
            let rows = tx
                .prepare_cached("SELECT content, file_hash, parser FROM garbage LIMIT ?1")?
                .query_map([limit], |row| {
                    let content: String = row.get(0)?;
                    Ok(Garbage {
                        content: (!content.is_empty()).then(|| text(row, 0)).transpose()?,
                        file_hash: text(row, 1)?,
                        parser: row.get(2)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()?;
            Ok(rows)
        })
    }

    /// Notes that `garbage` was looked after.
    ///
    /// # Errors
    /// When the catalog cannot be written.
    pub fn swept(&self, garbage: &[Garbage]) -> Result<(), CatalogError> {
        self.write(|tx| {
            for item in garbage {
                tx.prepare_cached(
                    "DELETE FROM garbage WHERE content = ?1 AND file_hash = ?2 AND parser = ?3",
                )?
                .execute(params![
                    item.content.as_ref().map_or("", Sha256Hex::as_str),
                    item.file_hash.as_str(),
                    item.parser
                ])?;
            }
            Ok(())
        })
    }

    /// Whether an original is used by any document or version.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn uses_original(&self, content: &Sha256Hex) -> Result<bool, CatalogError> {
        self.read(|tx| {
            Ok(tx
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM sources WHERE content = ?1)
                         OR EXISTS (SELECT 1 FROM versions WHERE content = ?1)",
                )?
                .query_row([content.as_str()], |row| row.get(0))?)
        })
    }

    /// Who uses the pages of `file_hash` as read by `parser`. `original` is left `false`.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn uses_pages(&self, file_hash: &FileHash, parser: &str) -> Result<BlobUse, CatalogError> {
        let current = parser == self.pipeline().parser;
        self.read(|tx| {
            let hash = file_hash.as_str();
            let version: Option<i64> = tx
                .prepare_cached(
                    "SELECT max(id) FROM versions WHERE file_hash = ?1 AND parser = ?2",
                )?
                .query_row(params![hash, parser], |row| row.get(0))?;
            let (wanted, working): (bool, bool) = tx
                .prepare_cached(
                    "SELECT count(*) > 0,
                            coalesce(sum(state NOT IN ('ready', 'partial', 'failed', 'indexing')),
                                     0) > 0
                     FROM sources WHERE file_hash = ?1",
                )?
                .query_row([hash], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(BlobUse {
                original: false,
                pages: version.is_some() || (current && wanted),
                working: current && working,
                manifest: version
                    .map(|version| super::list::manifest(tx, version))
                    .transpose()?,
            })
        })
    }
}

/// The number of the last change, 0 when there was none. Counted by SQLite itself, so that it
/// never goes back.
pub(super) fn last_change(connection: &rusqlite::Connection) -> rusqlite::Result<u64> {
    connection
        .prepare_cached("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'changes'")?
        .query_row([], |row| row.get(0))
}
