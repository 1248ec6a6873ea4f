//! What the catalog tells of its documents.

use rusqlite::{Row, ToSql, Transaction, params};
use shared::contract::{
    CatalogStatus, DocumentId, DocumentPage, DocumentState, DocumentView, Generation,
    ListDocuments, PageManifest, PageRecord, Pipeline, StateCounts,
};

use super::Catalog;
use super::remove::last_change;
use super::row::{json, json_option, state, state_text, text};
use super::visible::count_outdated;
use crate::error::CatalogError;

/// Rows of a page when none or 0 is asked for, and at most.
const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 500;
/// Ids of a listing by id, at most.
const MAX_IDS: usize = 1_000;

/// Numbers of missing pages told of a document, and of each in a listing: 500 documents of them
/// stay well under the bus limit of 1 MiB.
const MISSING: usize = 1_000;
const MISSING_LISTED: usize = 100;
/// Pages of the ledger in the view of a document.
const LEDGER: u32 = 100;

const VIEW: &str = "
    SELECT s.ordinal, s.id, s.generation, s.collection, s.path, s.name, s.format, s.bytes,
           s.content, s.file_hash, s.state, s.pages_seen, s.error, s.added_ms, s.indexed_ms,
           v.id, v.pages, v.missing, v.chunks, v.tokens,
           (SELECT sum(count) FROM staged WHERE document = s.id),
           (SELECT sum(tokens) FROM staged WHERE document = s.id),
           v.parser, v.chunker, s.modified_ms, v.language
    FROM sources AS s LEFT JOIN versions AS v ON v.id = s.visible_version";

impl Catalog {
    /// One document with its page ledger.
    ///
    /// # Errors
    /// [`CatalogError::NotFound`], or when the catalog cannot be read.
    pub fn get(&self, id: &DocumentId) -> Result<DocumentView, CatalogError> {
        self.read(|tx| {
            let row = tx
                .prepare_cached(&format!("{VIEW} WHERE s.id = ?1"))?
                .query_map([id.as_str()], |row| read_view(row, self.pipeline()))?
                .next()
                .transpose()?;
            let Some((_, version, mut view)) = row else {
                return Err(CatalogError::NotFound(id.clone()));
            };
            if let Some(version) = version {
                view.page_ledger = page_records(tx, version, LEDGER)?;
                view.notes = tx
                    .prepare_cached("SELECT notes FROM versions WHERE id = ?1")?
                    .query_row([version], |row| json(row, 0))?;
            }
            view.missing_pages.truncate(MISSING);
            Ok(view)
        })
    }

    /// A page of the listing, in the order of admission.
    ///
    /// # Errors
    /// [`CatalogError::Cursor`], or when the catalog cannot be read.
    pub fn list(&self, request: &ListDocuments) -> Result<DocumentPage, CatalogError> {
        let after: i64 = match &request.after {
            None => 0,
            Some(cursor) => cursor
                .parse()
                .map_err(|_not_a_number| CatalogError::Cursor(cursor.clone()))?,
        };
        let limit = match request.limit {
            0 => DEFAULT_LIMIT,
            limit => limit.min(MAX_LIMIT),
        };
        let ids = match request.ids.as_slice() {
            [] => None,
            ids => Some(serde_json::to_string(ids.get(..MAX_IDS).unwrap_or(ids))?),
        };
        let collection = request
            .collection
            .as_ref()
            .map(|name| name.as_str().to_owned());
        let wanted = request.state.map(state_text);
        let condition = "(?1 IS NULL OR s.collection = ?1) AND (?2 IS NULL OR s.state = ?2)
                         AND (?3 IS NULL OR s.id IN (SELECT value FROM json_each(?3)))";
        self.read(|tx| {
            let filter: [&dyn ToSql; 3] = [&collection, &wanted, &ids];
            let total = tx
                .prepare_cached(&format!(
                    "SELECT count(*) FROM sources AS s WHERE {condition}"
                ))?
                .query_row(filter, |row| row.get(0))?;
            let rows = tx
                .prepare_cached(&format!(
                    "{VIEW} WHERE {condition} AND s.ordinal > ?4 ORDER BY s.ordinal LIMIT ?5"
                ))?
                .query_map(params![collection, wanted, ids, after, limit + 1], |row| {
                    read_view(row, self.pipeline())
                })?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            let more = rows.len() > usize::try_from(limit).unwrap_or(usize::MAX);
            let shown: Vec<_> = rows.into_iter().take(limit as usize).collect();
            let next = shown
                .last()
                .filter(|_| more)
                .map(|(ordinal, ..)| ordinal.to_string());
            let mut documents: Vec<_> = shown.into_iter().map(|(_, _, view)| view).collect();
            for view in &mut documents {
                view.missing_pages.truncate(MISSING_LISTED);
            }
            Ok(DocumentPage {
                documents,
                next,
                total,
            })
        })
    }

    /// The catalog as a whole; what the indexes have to say is left at its default.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn status(&self) -> Result<CatalogStatus, CatalogError> {
        self.read(|tx| {
            let mut documents = StateCounts::default();
            let mut statement =
                tx.prepare_cached("SELECT state, count(*) FROM sources GROUP BY state")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let count: u64 = row.get(1)?;
                match state(row, 0)? {
                    DocumentState::Queued => documents.queued += count,
                    DocumentState::Ready => documents.ready += count,
                    DocumentState::Partial => documents.partial += count,
                    DocumentState::Failed => documents.failed += count,
                    DocumentState::Parsing
                    | DocumentState::Chunking
                    | DocumentState::Embedding
                    | DocumentState::Indexing => documents.working += count,
                }
            }
            let (pages, chunks, tokens, missing_pages) = tx
                .prepare_cached(
                    "SELECT coalesce(sum(pages), 0), coalesce(sum(chunks), 0),
                            coalesce(sum(tokens), 0), coalesce(sum(json_array_length(missing)), 0)
                     FROM versions",
                )?
                .query_row([], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                })?;
            let collections = tx
                .prepare_cached(
                    "SELECT collection, count(*) FROM sources GROUP BY collection ORDER BY 1",
                )?
                .query_map([], |row| Ok((text(row, 0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            let dead_letters = tx
                .prepare_cached(
                    "SELECT count(*) FROM dead_letters AS d
                     JOIN sources AS s ON s.id = d.document AND s.generation = d.generation",
                )?
                .query_row([], |row| row.get(0))?;
            Ok(CatalogStatus {
                documents,
                pages,
                chunks,
                tokens,
                collections,
                sequence: last_change(tx)?,
                keyword_sequence: 0,
                vector_sequence: 0,
                keyword_engine: String::new(),
                vector_engine: String::new(),
                dead_letters,
                missing_pages,
                outdated: count_outdated(tx, self.pipeline())?,
            })
        })
    }
}

/// The row's ordinal, the version it shows, and the view with all missing pages.
fn read_view(
    row: &Row<'_>,
    pipeline: &Pipeline,
) -> rusqlite::Result<(i64, Option<i64>, DocumentView)> {
    let state = state(row, 10)?;
    let version: Option<i64> = row.get(15)?;
    let committed =
        version.is_some() && (state.is_final() || matches!(state, DocumentState::Indexing));
    let made_by: (Option<String>, Option<String>) = (row.get(22)?, row.get(23)?);
    let current = (
        Some(pipeline.parser.clone()),
        Some(pipeline.chunker.clone()),
    );
    let (pages, missing_pages, chunks, tokens) = if committed {
        let missing: Vec<u32> = json(row, 17)?;
        (row.get(16)?, missing, row.get(18)?, row.get(19)?)
    } else {
        let staged: Option<u32> = row.get(20)?;
        let tokens: Option<u64> = row.get(21)?;
        (
            row.get(11)?,
            Vec::new(),
            staged.unwrap_or(0),
            tokens.unwrap_or(0),
        )
    };
    let view = DocumentView {
        id: text(row, 1)?,
        generation: Generation(row.get(2)?),
        collection: text(row, 3)?,
        path: row.get(4)?,
        name: row.get(5)?,
        format: text(row, 6)?,
        bytes: row.get(7)?,
        content: text(row, 8)?,
        file_hash: text(row, 9)?,
        state,
        searchable: version.is_some(),
        pages,
        missing_count: u32::try_from(missing_pages.len()).unwrap_or(u32::MAX),
        missing_pages,
        chunks,
        tokens,
        error: json_option(row, 12)?,
        added_ms: row.get(13)?,
        indexed_ms: row.get(14)?,
        modified_ms: row.get(24)?,
        language: row
            .get::<_, Option<String>>(25)?
            .and_then(|code| code.parse().ok()),
        outdated: version.is_some() && made_by != current,
        notes: Vec::new(),
        page_ledger: Vec::new(),
    };
    Ok((row.get(0)?, version, view))
}

/// The first `limit` pages of a version's ledger.
fn page_records(
    tx: &Transaction<'_>,
    version: i64,
    limit: u32,
) -> rusqlite::Result<Vec<PageRecord>> {
    tx.prepare_cached("SELECT record FROM pages WHERE version = ?1 ORDER BY number LIMIT ?2")?
        .query_map([version, i64::from(limit)], |row| json(row, 0))?
        .collect()
}

/// The manifest a version was made with.
pub(super) fn manifest(tx: &Transaction<'_>, version: i64) -> rusqlite::Result<PageManifest> {
    let pages = page_records(tx, version, u32::MAX)?;
    tx.prepare_cached("SELECT format, parser, title, notes FROM versions WHERE id = ?1")?
        .query_row([version], |row| {
            Ok(PageManifest {
                format: text(row, 0)?,
                parser: row.get(1)?,
                title: row.get(2)?,
                pages,
                notes: json(row, 3)?,
            })
        })
}
