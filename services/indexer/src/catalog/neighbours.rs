//! What stands around chunks.

use rusqlite::{Transaction, params};
use shared::contract::{ChunkId, Hit, NeighbourList, Neighbours};

use super::Catalog;
use super::filter::Restriction;
use super::join::{CHUNK, ChunkRow, Joiner};
use crate::error::CatalogError;

/// Bytes of text in a reply, well under the bus limit of 1 MiB also when it has to be escaped.
const REPLY_BYTES: usize = 384 * 1024;

impl Catalog {
    /// The chunks around each of `request.chunks`, in reading order within the same version; empty
    /// for a chunk that no permitted document shows. Once a reply is full, the chunks asked for
    /// come alone.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn neighbours(&self, request: &Neighbours) -> Result<NeighbourList, CatalogError> {
        let restriction = Restriction::of(&request.filter)?;
        self.read(|tx| {
            let mut joiner = Joiner::new(tx, &restriction)?;
            let mut bytes = 0;
            let mut runs = Vec::with_capacity(request.chunks.len());
            for chunk in &request.chunks {
                let run = run(tx, &mut joiner, request, chunk)?;
                let size: usize = run.iter().map(|hit| hit.text.len()).sum();
                let run = if bytes + size <= REPLY_BYTES {
                    run
                } else {
                    run.into_iter()
                        .filter(|hit| hit.chunk_id == *chunk)
                        .collect()
                };
                bytes += run.iter().map(|hit| hit.text.len()).sum::<usize>();
                runs.push(run);
            }
            Ok(NeighbourList { runs })
        })
    }
}

fn run(
    tx: &Transaction<'_>,
    joiner: &mut Joiner<'_>,
    request: &Neighbours,
    chunk: &ChunkId,
) -> Result<Vec<Hit>, CatalogError> {
    // Of two makings of the same bytes, both shown while documents are read again, the later.
    let versions: Vec<i64> = tx
        .prepare_cached("SELECT id FROM versions WHERE file_hash = ?1 ORDER BY id DESC")?
        .query_map([chunk.file_hash.as_str()], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let first = chunk.index.saturating_sub(request.before);
    let last = chunk.index.saturating_add(request.after);
    let mut statement = tx.prepare_cached(&format!(
        "{CHUNK} WHERE version = ?1 AND idx BETWEEN ?2 AND ?3 ORDER BY idx"
    ))?;
    for version in versions {
        let mut hits = Vec::new();
        let mut rows = statement.query(params![version, first, last])?;
        while let Some(row) = rows.next()? {
            hits.extend(joiner.hit(ChunkRow::read(row)?, 0.0)?);
        }
        if hits.iter().any(|hit| hit.chunk_id == *chunk) {
            return Ok(hits);
        }
    }
    Ok(Vec::new())
}
