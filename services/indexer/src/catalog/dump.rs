//! Everything visible, row by row.

use rusqlite::params;
use shared::contract::{ChunkId, DumpPage, DumpRow};

use super::Catalog;
use super::change::vector;
use super::row::{json, text};
use crate::error::CatalogError;

/// Bytes of a page, well under the bus limit of 1 MiB also when text has to be escaped.
const PAGE_BYTES: usize = 384 * 1024;
/// Rows of a page at most.
const PAGE_ROWS: usize = 256;

impl Catalog {
    /// The rows after a cursor, in the order of collection, path and chunk number.
    ///
    /// # Errors
    /// [`CatalogError::Cursor`], or when the catalog cannot be read.
    pub fn dump(&self, after: Option<&str>) -> Result<DumpPage, CatalogError> {
        let (collection, path, index): (String, String, i64) = match after {
            None => (String::new(), String::new(), -1),
            Some(cursor) => serde_json::from_str(cursor)
                .map_err(|_not_ours| CatalogError::Cursor(cursor.to_owned()))?,
        };
        self.read(|tx| {
            let mut statement = tx.prepare_cached(
                "SELECT s.collection, s.path, v.file_hash, c.idx, c.spans, c.heading_path, c.text,
                        e.vector
                 FROM sources AS s
                 JOIN versions AS v ON v.id = s.visible_version
                 JOIN chunks AS c ON c.version = v.id
                 JOIN vectors AS e ON e.chunk = c.key
                 WHERE (s.collection, s.path, c.idx) > (?1, ?2, ?3)
                   AND (s.collection, s.path) >= (?1, ?2)
                 ORDER BY s.collection, s.path, c.idx LIMIT ?4",
            )?;
            let mut rows = statement.query(params![collection, path, index, PAGE_ROWS + 1])?;
            let mut page = DumpPage {
                rows: Vec::new(),
                next: None,
            };
            let mut bytes = 0;
            while let Some(row) = rows.next()? {
                if page.rows.len() == PAGE_ROWS || bytes > PAGE_BYTES {
                    page.next = page.rows.last().map(cursor).transpose()?;
                    break;
                }
                let dumped = DumpRow {
                    collection: text(row, 0)?,
                    path: row.get(1)?,
                    chunk_id: ChunkId {
                        file_hash: text(row, 2)?,
                        index: row.get(3)?,
                    },
                    spans: json(row, 4)?,
                    heading_path: json(row, 5)?,
                    text: row.get(6)?,
                    vector: vector(row, 7)?,
                };
                bytes += dumped.text.len() + dumped.path.len() + dumped.vector.0.len() * 6;
                page.rows.push(dumped);
            }
            Ok(page)
        })
    }
}

fn cursor(row: &DumpRow) -> Result<String, serde_json::Error> {
    serde_json::to_string(&(&row.collection, &row.path, row.chunk_id.index))
}
