//! From keys of an index to hits.

use std::collections::HashMap;

use rusqlite::{CachedStatement, OptionalExtension as _, Row, Transaction, params};
use serde::Deserialize;
use shared::contract::{
    Chunk, ChunkId, CollectionName, Coverage, DocumentId, FileHash, Filter, Hit, Locator, Span,
};

use super::Catalog;
use super::filter::Restriction;
use super::row::{json, text};
use crate::chunk_set::ChunkKey;
use crate::error::CatalogError;

impl Catalog {
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
            let mut joiner = Joiner::new(tx, &restriction)?;
            let mut chunk = tx.prepare_cached(&format!("{CHUNK} WHERE key = ?1"))?;
            let mut hits = Vec::with_capacity(k.min(found.len()));
            for (key, score) in found {
                if hits.len() == k {
                    break;
                }
                let row = chunk.query_row([key], ChunkRow::read).optional()?;
                if let Some(row) = row
                    && let Some(hit) = joiner.hit(row, *score)?
                {
                    hits.push(hit);
                }
            }
            Ok(hits)
        })
    }
}

/// Columns of [`ChunkRow`].
pub(super) const CHUNK: &str =
    "SELECT version, idx, heading_path, text, spans, overlap FROM chunks";

/// What a hit takes from the chunk's own row.
pub(super) struct ChunkRow {
    version: i64,
    pub index: u32,
    heading_path: Vec<String>,
    pub text: String,
    spans: Vec<Span>,
    overlap: String,
}

impl ChunkRow {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            version: row.get(0)?,
            index: row.get(1)?,
            heading_path: json(row, 2)?,
            text: row.get(3)?,
            spans: json(row, 4)?,
            overlap: row.get(5)?,
        })
    }
}

/// What the hits of one version share: the document they are told for.
#[derive(Clone)]
struct Shown {
    file_hash: FileHash,
    coverage: Option<Coverage>,
    document_id: DocumentId,
    collection: CollectionName,
    path: String,
    name: String,
}

/// Makes hits of chunks. Statements are held, and what belongs to a version is read once: the hits
/// of a question lie in few documents.
pub(super) struct Joiner<'tx> {
    shown: CachedStatement<'tx>,
    page: CachedStatement<'tx>,
    /// Parameter of the version in `shown`, after those of the filter.
    version: usize,
    versions: HashMap<i64, Option<Shown>>,
}

impl<'tx> Joiner<'tx> {
    pub(super) fn new(
        tx: &'tx Transaction<'_>,
        restriction: &Restriction,
    ) -> Result<Self, CatalogError> {
        let mut shown = tx.prepare_cached(&format!(
            "SELECT v.file_hash, v.pages, json_array_length(v.missing), s.id, s.collection, s.path,
                    s.name
             FROM sources AS s JOIN versions AS v ON v.id = s.visible_version
             WHERE {} AND s.visible_version = ?
             ORDER BY s.path, s.collection LIMIT 1",
            restriction.conditions()
        ))?;
        for (parameter, value) in (1..).zip(restriction.values()) {
            shown.raw_bind_parameter(parameter, value)?;
        }
        Ok(Self {
            shown,
            page: tx
                .prepare_cached("SELECT record FROM pages WHERE version = ?1 AND number = ?2")?,
            version: restriction.values().len() + 1,
            versions: HashMap::new(),
        })
    }

    /// The hit, unless no permitted document shows the chunk.
    pub(super) fn hit(&mut self, chunk: ChunkRow, score: f32) -> rusqlite::Result<Option<Hit>> {
        let Some(shown) = self.shown(chunk.version)? else {
            return Ok(None);
        };
        let Some(locator) = self.locator(&chunk)? else {
            return Ok(None);
        };
        Ok(Some(Hit {
            chunk_id: ChunkId {
                file_hash: shown.file_hash,
                index: chunk.index,
            },
            document_id: shown.document_id,
            collection: shown.collection,
            path: shown.path,
            name: shown.name,
            heading_path: chunk.heading_path,
            table_header: Chunk::table_header(&chunk.overlap).to_owned(),
            text: chunk.text,
            spans: chunk.spans,
            locator,
            score,
            coverage: shown.coverage,
        }))
    }

    fn shown(&mut self, version: i64) -> rusqlite::Result<Option<Shown>> {
        if let Some(known) = self.versions.get(&version) {
            return Ok(known.clone());
        }
        self.shown.raw_bind_parameter(self.version, version)?;
        let mut rows = self.shown.raw_query();
        let shown = rows.next()?.map(Shown::read).transpose()?;
        drop(rows);
        self.versions.insert(version, shown.clone());
        Ok(shown)
    }

    /// The place of the first page that the chunk has words on.
    fn locator(&mut self, chunk: &ChunkRow) -> rusqlite::Result<Option<Locator>> {
        /// Of a page's record, what a hit needs.
        #[derive(Deserialize)]
        struct Place {
            locator: Locator,
        }
        let pages = Span::pages_with_words(&chunk.spans, &chunk.text);
        let Some(page) = pages.first() else {
            return Ok(None);
        };
        let place: Option<Place> = self
            .page
            .query_row(params![chunk.version, page], |row| json(row, 0))
            .optional()?;
        Ok(place.map(|place| place.locator))
    }
}

impl Shown {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            file_hash: text(row, 0)?,
            coverage: Coverage::of(row.get(1)?, row.get(2)?),
            document_id: text(row, 3)?,
            collection: text(row, 4)?,
            path: row.get(5)?,
            name: row.get(6)?,
        })
    }
}
