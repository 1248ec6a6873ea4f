//! The page ledger of what a document shows, with the chunks on each page.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, Transaction, params};
use shared::contract::{
    ChunkId, DocumentId, FileHash, ListPages, PageList, PageManifest, PageView,
};

use super::Catalog;
use super::row::{json, text};
use crate::error::CatalogError;

/// Pages of a part when none or 0 is asked for, and at most.
const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 500;
/// Bytes of a part, well under the bus limit of 1 MiB; one page always fits in.
const PART_BYTES: usize = 384 * 1024;

/// A version that is shown.
struct Shown {
    id: i64,
    file_hash: FileHash,
    parser: String,
}

impl Catalog {
    /// A part of a document's page ledger.
    ///
    /// # Errors
    /// [`CatalogError::NotFound`], or when the catalog cannot be read.
    pub fn pages(&self, request: &ListPages) -> Result<PageList, CatalogError> {
        self.read(|tx| {
            let Some(shown) = shown(tx, &request.document)? else {
                return Ok(PageList {
                    pages: Vec::new(),
                    next: None,
                    total: 0,
                    folder: String::new(),
                });
            };
            let (pages, more) = records(tx, &shown, request)?;
            let (pages, cut) = within_a_message(pages)?;
            let last = pages.last().map(|page| page.record.number);
            Ok(PageList {
                next: last.filter(|_| more || cut),
                pages,
                total: count(tx, &shown, request.missing)?,
                folder: PageManifest::folder(&shown.file_hash, &shown.parser),
            })
        })
    }
}

fn shown(tx: &Transaction<'_>, id: &DocumentId) -> Result<Option<Shown>, CatalogError> {
    let version: Option<Option<i64>> = tx
        .prepare_cached("SELECT visible_version FROM sources WHERE id = ?1")?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?;
    let Some(version) = version else {
        return Err(CatalogError::NotFound(id.clone()));
    };
    let Some(version) = version else {
        return Ok(None);
    };
    let shown = tx
        .prepare_cached("SELECT id, file_hash, parser FROM versions WHERE id = ?1")?
        .query_row([version], |row| {
            Ok(Shown {
                id: row.get(0)?,
                file_hash: text(row, 1)?,
                parser: row.get(2)?,
            })
        })?;
    Ok(Some(shown))
}

/// Parameters ?1 and ?2.
const WANTED: &str = "version = ?1 AND (NOT ?2 OR json_extract(record, '$.method') = 'missing')";

fn count(tx: &Transaction<'_>, shown: &Shown, missing: bool) -> rusqlite::Result<u32> {
    tx.prepare_cached(&format!("SELECT count(*) FROM pages WHERE {WANTED}"))?
        .query_row(params![shown.id, missing], |row| row.get(0))
}

/// The pages asked for, and whether there are more.
fn records(
    tx: &Transaction<'_>,
    shown: &Shown,
    request: &ListPages,
) -> rusqlite::Result<(Vec<PageView>, bool)> {
    let limit = match request.limit {
        0 => DEFAULT_LIMIT,
        limit => limit.min(MAX_LIMIT),
    };
    let mut pages: Vec<PageView> = tx
        .prepare_cached(&format!(
            "SELECT record FROM pages WHERE {WANTED} AND number > ?3 ORDER BY number LIMIT ?4"
        ))?
        .query_map(
            params![shown.id, request.missing, request.after, limit + 1],
            |row| {
                Ok(PageView {
                    record: json(row, 0)?,
                    chunks: Vec::new(),
                })
            },
        )?
        .collect::<rusqlite::Result<_>>()?;
    let more = pages.len() > limit as usize;
    pages.truncate(limit as usize);
    let (Some(first), Some(last)) = (pages.first(), pages.last()) else {
        return Ok((pages, false));
    };
    let mut chunks = chunks(tx, shown, (first.record.number, last.record.number))?;
    for page in &mut pages {
        page.chunks = chunks.remove(&page.record.number).unwrap_or_default();
    }
    Ok((pages, more))
}

/// The chunks that stand on the pages from `first` to `last`.
fn chunks(
    tx: &Transaction<'_>,
    shown: &Shown,
    (first, last): (u32, u32),
) -> rusqlite::Result<BTreeMap<u32, Vec<ChunkId>>> {
    let mut found: BTreeMap<u32, Vec<ChunkId>> = BTreeMap::new();
    let mut statement = tx.prepare_cached(
        "SELECT DISTINCT json_extract(span.value, '$.page'), c.idx
         FROM chunks AS c, json_each(c.spans) AS span
         WHERE c.version = ?1 AND json_extract(span.value, '$.page') BETWEEN ?2 AND ?3
         ORDER BY c.idx",
    )?;
    let mut rows = statement.query(params![shown.id, first, last])?;
    while let Some(row) = rows.next()? {
        let on_page = found.entry(row.get(0)?).or_default();
        if on_page.len() < PageView::MOST_CHUNKS {
            on_page.push(ChunkId {
                file_hash: shown.file_hash.clone(),
                index: row.get(1)?,
            });
        }
    }
    Ok(found)
}

/// As many of `pages` as fit into a message, and whether some do not.
fn within_a_message(mut pages: Vec<PageView>) -> Result<(Vec<PageView>, bool), CatalogError> {
    let (mut bytes, mut fitting) = (0, 0);
    for page in &pages {
        bytes += serde_json::to_vec(page)?.len();
        if bytes > PART_BYTES && fitting > 0 {
            break;
        }
        fitting += 1;
    }
    let cut = fitting < pages.len();
    pages.truncate(fitting);
    Ok((pages, cut))
}
