//! The transaction that makes a version visible.

use rusqlite::{Transaction, params};
use shared::contract::{Chunk, DocumentState, PageManifest, Work};

use super::row::{SOURCE, Source, decode};
use super::stage::{Standing, standing};
use super::visible::{
    Change, Version, append_change, attach, discard_wanted, find_version, release, retire, settle,
};
use super::{Catalog, language};
use crate::error::CatalogError;

/// What a commit led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Committed {
    /// The document is gone, or newer work on it has been ordered.
    Superseded,
    /// It was committed before.
    AlreadyDone,
    /// Batches are missing.
    Incomplete,
    /// The batches do not fit together; the text says how.
    Unfit(String),
    /// There is not one chunk: nothing of it could ever be found.
    Empty,
    /// The version is visible; the indexes have to pass this change.
    Visible {
        /// Number of the change.
        sequence: u64,
        /// Documents that show it from now on, the one worked for included.
        documents: usize,
        /// Chunks of the version.
        chunks: u32,
    },
}

/// Staged batches put together.
struct Assembled {
    chunks: Vec<Chunk>,
    vectors: Vec<u8>,
    dimension: u32,
    tokens: u64,
    /// As stored.
    language: String,
}

impl Catalog {
    /// Makes the staged version of `work` visible, with the page ledger of `manifest`, in one
    /// transaction: the document and every other one that waits for the same content show it,
    /// and what they showed before is gone unless something else still shows it.
    ///
    /// # Errors
    /// When the catalog cannot be written; then nothing has changed.
    pub fn commit(&self, work: &Work, manifest: &PageManifest) -> Result<Committed, CatalogError> {
        self.write_visible(|tx| {
            let source = match standing(self, tx, work)? {
                Standing::Superseded => return Ok(Committed::Superseded),
                Standing::Done => return Ok(Committed::AlreadyDone),
                Standing::Working(source) => source,
            };
            let Some(assembled) = assemble(tx, &source)? else {
                return Ok(Committed::Incomplete);
            };
            if assembled.chunks.is_empty() {
                return Ok(Committed::Empty);
            }
            if let Some(problem) = unfit(&assembled, manifest) {
                return Ok(Committed::Unfit(problem));
            }
            let chunks = u32::try_from(assembled.chunks.len()).unwrap_or(u32::MAX);
            let (version, others) = self.replace(tx, &source, &assembled, manifest)?;
            let mut documents = 1;
            settle(tx, source.ordinal, version.sequence)?;
            for other in others {
                documents += 1;
                // It already shows the version, or it waited for this content.
                if other.visible_version == Some(version.id) {
                    settle(tx, other.ordinal, version.sequence)?;
                } else {
                    attach(tx, &other, version)?;
                }
            }
            Ok(Committed::Visible {
                sequence: version.sequence,
                documents,
                chunks,
            })
        })
    }

    /// Writes the new version in place of what `source` showed and of an older making of the
    /// same content. Returns it with the other sources that are finished by it.
    fn replace(
        &self,
        tx: &Transaction<'_>,
        source: &Source,
        assembled: &Assembled,
        manifest: &PageManifest,
    ) -> Result<(Version, Vec<Source>), CatalogError> {
        let mut showing = vec![source.ordinal];
        let older = find_version(tx, &source.file_hash, self.pipeline())?;
        if let Some(older) = older {
            showing.extend(ordinals_showing(tx, older.id)?);
            tx.prepare_cached(
                "UPDATE sources SET visible_version = NULL WHERE visible_version = ?1",
            )?
            .execute([older.id])?;
            retire(tx, older.id)?;
        }
        let id = insert_version(tx, self, source, assembled, manifest)?;
        for ordinal in &showing {
            tx.prepare_cached("UPDATE sources SET visible_version = ?1 WHERE ordinal = ?2")?
                .execute(params![id, ordinal])?;
        }
        let sequence = append_change(tx, Change::Added, id)?;
        tx.prepare_cached("UPDATE versions SET sequence = ?1 WHERE id = ?2")?
            .execute(params![sequence, id])?;
        let replaced_by_older = older.map(|older| older.id);
        if let Some(before) = source.visible_version
            && Some(before) != replaced_by_older
        {
            release(tx, before, &source.name)?;
        }
        let others = tx
            .prepare_cached(&format!(
                "SELECT {SOURCE} FROM sources
                 WHERE file_hash = ?1 AND ordinal <> ?2 AND fresh = 0 AND state <> 'failed'"
            ))?
            .query_map(
                params![source.file_hash.as_str(), source.ordinal],
                Source::read,
            )?
            .collect::<rusqlite::Result<_>>()?;
        Ok((Version { id, sequence }, others))
    }

    /// Gives a document up. Returns whether it did: not when it is gone, finished, or newer work
    /// on it has been ordered. What it showed before stays visible, and another document that
    /// waits for the same content gets its own turn.
    ///
    /// # Errors
    /// When the catalog cannot be written.
    pub fn fail(
        &self,
        letter: &shared::contract::DeadLetter,
        now: i64,
    ) -> Result<bool, CatalogError> {
        let error = serde_json::to_string(&letter.error)?;
        self.write(|tx| {
            let Some(source) = Source::by_id(tx, &letter.document_id)? else {
                return Ok(false);
            };
            let other = letter
                .generation
                .is_some_and(|generation| generation != source.generation);
            if other || source.state.is_final() || source.state == DocumentState::Indexing {
                return Ok(false);
            }
            tx.prepare_cached(
                "INSERT INTO dead_letters(document, generation, stage, deliveries, error, noted_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                source.id.as_str(),
                source.generation.0,
                letter.stage.name(),
                letter.deliveries,
                error,
                now
            ])?;
            // The janitor looks after the pages: a forced reading may have left a visible version
            // without its manifest.
            discard_wanted(tx, &source, self.pipeline())?;
            tx.prepare_cached(
                "UPDATE sources SET state = 'failed', error = ?1 WHERE ordinal = ?2",
            )?
            .execute(params![error, source.ordinal])?;
            Ok(true)
        })
    }
}

fn ordinals_showing(tx: &Transaction<'_>, version: i64) -> rusqlite::Result<Vec<i64>> {
    tx.prepare_cached("SELECT ordinal FROM sources WHERE visible_version = ?1")?
        .query_map([version], |row| row.get(0))?
        .collect()
}

/// All batches in order; `None` while one is missing.
fn assemble(tx: &Transaction<'_>, source: &Source) -> Result<Option<Assembled>, CatalogError> {
    let mut statement = tx.prepare_cached(
        "SELECT batches, dimension, tokens, chunks, vectors FROM staged
         WHERE document = ?1 ORDER BY batch",
    )?;
    let mut rows = statement.query([source.id.as_str()])?;
    let mut all = Assembled {
        chunks: Vec::new(),
        vectors: Vec::new(),
        dimension: 0,
        tokens: 0,
        language: String::new(),
    };
    let (mut kept, mut expected) = (0_u32, 1_u32);
    while let Some(row) = rows.next()? {
        kept += 1;
        expected = row.get(0)?;
        all.dimension = row.get(1)?;
        all.tokens += row.get::<_, u64>(2)?;
        let chunks: String = row.get(3)?;
        all.chunks.extend(decode::<Vec<Chunk>>(&chunks, 3)?);
        all.vectors
            .extend_from_slice(row.get_ref(4)?.as_blob().map_err(rusqlite::Error::from)?);
    }
    if kept != expected {
        return Ok(None);
    }
    all.language = language::stored(language::of_chunks(&all.chunks));
    Ok(Some(all))
}

/// What is wrong with the batches as a whole.
fn unfit(all: &Assembled, manifest: &PageManifest) -> Option<String> {
    let in_order = all
        .chunks
        .iter()
        .zip(0_u32..)
        .all(|(chunk, index)| chunk.index == index);
    if !in_order {
        return Some("the chunks are not numbered 0, 1, 2, … through all batches".to_owned());
    }
    let stride = usize::try_from(all.dimension)
        .unwrap_or(usize::MAX)
        .saturating_mul(4);
    if all.vectors.len() != all.chunks.len().saturating_mul(stride) {
        return Some(format!(
            "{} chunks have {} bytes of vectors of dimension {}",
            all.chunks.len(),
            all.vectors.len(),
            all.dimension
        ));
    }
    let numbered = manifest
        .pages
        .iter()
        .zip(1_u32..)
        .all(|(page, number)| page.number == number);
    if !numbered {
        return Some("the manifest's pages are not numbered 1, 2, 3, …".to_owned());
    }
    let pages = u32::try_from(manifest.pages.len()).unwrap_or(u32::MAX);
    all.chunks.iter().find_map(|chunk| {
        let known = !chunk.spans.is_empty()
            && chunk
                .spans
                .iter()
                .all(|span| (1..=pages).contains(&span.page));
        (!known).then(|| format!("chunk {} stands on no page of the manifest", chunk.index))
    })
}

fn insert_version(
    tx: &Transaction<'_>,
    catalog: &Catalog,
    source: &Source,
    all: &Assembled,
    manifest: &PageManifest,
) -> Result<i64, CatalogError> {
    let pipeline = catalog.pipeline();
    let first_key: i64 = tx
        .prepare_cached(
            "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'chunks'",
        )?
        .query_row([], |row| row.get(0))?;
    tx.prepare_cached(
        "INSERT INTO versions(file_hash, parser, chunker, model, content, format, title, notes,
                              pages, missing, dimension, first_key, chunks, tokens, language,
                              sequence)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, 0)",
    )?
    .execute(params![
        source.file_hash.as_str(),
        pipeline.parser,
        pipeline.chunker,
        pipeline.model.as_str(),
        source.content.as_str(),
        source.format.name(),
        manifest.title,
        serde_json::to_string(&manifest.notes)?,
        manifest.pages.len(),
        serde_json::to_string(&manifest.missing())?,
        all.dimension,
        first_key,
        all.chunks.len(),
        all.tokens,
        all.language
    ])?;
    let id = tx.last_insert_rowid();
    for page in &manifest.pages {
        tx.prepare_cached("INSERT INTO pages(version, number, record) VALUES (?1, ?2, ?3)")?
            .execute(params![id, page.number, serde_json::to_string(page)?])?;
    }
    let stride = usize::try_from(all.dimension).unwrap_or(1).max(1) * 4;
    let mut keys = first_key..;
    for (chunk, vector) in all.chunks.iter().zip(all.vectors.chunks_exact(stride)) {
        let key = keys.next().unwrap_or(i64::MAX);
        tx.prepare_cached(
            "INSERT INTO chunks(key, version, idx, text, prefix, overlap, heading_path, spans,
                                tokens)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            key,
            id,
            chunk.index,
            chunk.text,
            chunk.prefix,
            chunk.overlap,
            serde_json::to_string(&chunk.heading_path)?,
            serde_json::to_string(&chunk.spans)?,
            chunk.tokens
        ])?;
        tx.prepare_cached("INSERT INTO vectors(chunk, vector) VALUES (?1, ?2)")?
            .execute(params![key, vector])?;
    }
    Ok(id)
}
