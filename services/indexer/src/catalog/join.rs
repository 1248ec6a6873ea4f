//! From keys of an index to hits, and from a filter to keys.

use rusqlite::{OptionalExtension as _, Transaction, params};
use shared::contract::{Chunk, ChunkId, Coverage, Filter, Hit, Locator, PageRecord, Span};

use super::Catalog;
use super::row::{json, text};
use crate::chunk_set::{AllowedChunks, ChunkKey};
use crate::error::CatalogError;

/// A filter as two JSON lists for SQL, `NULL` where it does not restrict.
struct Restriction {
    collections: Option<String>,
    documents: Option<String>,
}

impl Restriction {
    fn of(filter: &Filter) -> Result<Self, CatalogError> {
        fn list<T: serde::Serialize>(values: &[T]) -> Result<Option<String>, CatalogError> {
            if values.is_empty() {
                return Ok(None);
            }
            Ok(Some(serde_json::to_string(values)?))
        }
        Ok(Self {
            collections: list(&filter.collections)?,
            documents: list(&filter.documents)?,
        })
    }
}

/// Parameters ?1 and ?2 of every statement here.
const PERMITTED: &str = "(?1 IS NULL OR s.collection IN (SELECT value FROM json_each(?1)))
                     AND (?2 IS NULL OR s.id IN (SELECT value FROM json_each(?2)))";

impl Catalog {
    /// The chunks that `filter` permits.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn allowed(&self, filter: &Filter) -> Result<AllowedChunks, CatalogError> {
        let restriction = Restriction::of(filter)?;
        self.read(|tx| {
            let ranges = tx
                .prepare_cached(&format!(
                    "SELECT DISTINCT v.first_key, v.chunks
                     FROM sources AS s JOIN versions AS v ON v.id = s.visible_version
                     WHERE {PERMITTED}"
                ))?
                .query_map(
                    params![restriction.collections, restriction.documents],
                    |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)),
                )?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(ranges
                .into_iter()
                .flat_map(|(first, count)| first..first + count)
                .collect())
        })
    }

    /// The first `k` of `found` that are visible under `filter`, as hits in the same order. A
    /// chunk that several documents show is told once, for the first permitted path.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn join(
        &self,
        found: &[(ChunkKey, f32)],
        filter: &Filter,
        k: usize,
    ) -> Result<Vec<Hit>, CatalogError> {
        let restriction = Restriction::of(filter)?;
        self.read(|tx| {
            let mut hits = Vec::with_capacity(k.min(found.len()));
            for (key, score) in found {
                if hits.len() == k {
                    break;
                }
                if let Some(hit) = hit(tx, *key, *score, &restriction)? {
                    hits.push(hit);
                }
            }
            Ok(hits)
        })
    }
}

fn hit(
    tx: &Transaction<'_>,
    key: ChunkKey,
    score: f32,
    restriction: &Restriction,
) -> rusqlite::Result<Option<Hit>> {
    let found = tx
        .prepare_cached(&format!(
            "SELECT v.file_hash, c.idx, s.id, s.collection, s.path, s.name, c.heading_path,
                    c.text, c.spans, c.version, c.overlap, v.pages, json_array_length(v.missing)
             FROM chunks AS c
             JOIN versions AS v ON v.id = c.version
             JOIN sources AS s ON s.visible_version = c.version
             WHERE c.key = ?3 AND {PERMITTED}
             ORDER BY s.path, s.collection LIMIT 1"
        ))?
        .query_row(
            params![restriction.collections, restriction.documents, key],
            |row| {
                let spans: Vec<Span> = json(row, 8)?;
                let words: String = row.get(7)?;
                let Some(locator) = locator(tx, row.get(9)?, (&spans, &words))? else {
                    return Ok(None);
                };
                Ok(Some(Hit {
                    chunk_id: ChunkId {
                        file_hash: text(row, 0)?,
                        index: row.get(1)?,
                    },
                    document_id: text(row, 2)?,
                    collection: text(row, 3)?,
                    path: row.get(4)?,
                    name: row.get(5)?,
                    heading_path: json(row, 6)?,
                    text: words,
                    spans,
                    locator,
                    score,
                    table_header: Chunk::table_header(&row.get::<_, String>(10)?).to_owned(),
                    coverage: Coverage::of(row.get(11)?, row.get(12)?),
                }))
            },
        )
        .optional()?;
    Ok(found.flatten())
}

/// The place of the first page that a chunk has words on.
fn locator(
    tx: &Transaction<'_>,
    version: i64,
    (spans, words): (&[Span], &str),
) -> rusqlite::Result<Option<Locator>> {
    let Some(page) = Span::pages_with_words(spans, words).first().copied() else {
        return Ok(None);
    };
    let record = tx
        .prepare_cached("SELECT record FROM pages WHERE version = ?1 AND number = ?2")?
        .query_row(params![version, page], |row| json::<PageRecord>(row, 0))
        .optional()?;
    Ok(record.map(|record| record.locator))
}
