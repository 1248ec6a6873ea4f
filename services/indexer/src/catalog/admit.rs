//! Taking documents in, and queueing them again.

use rusqlite::{Transaction, params};
use shared::contract::{
    Admit, Admitted, DocumentId, DocumentState, FileHash, Generation, Outcome, Pipeline, Retry,
};
use shared::telemetry;

use super::row::{SOURCE, Source, state_text};
use super::visible::{attach, discard_wanted, find_version, retire};
use super::{Catalog, Opened};
use crate::error::CatalogError;

impl Catalog {
    /// Takes a document in. Its row is durable when this returns.
    ///
    /// Content that is already visible through another document is shared at once, without any
    /// work; `force` does all work again.
    ///
    /// # Errors
    /// When the catalog cannot be written.
    pub fn admit(&self, request: &Admit, now: i64) -> Result<Admitted, CatalogError> {
        let pipeline = self.pipeline();
        let hash = FileHash::of(&request.content, request.format);
        self.write_visible(|tx| {
            let (id, outcome) = match Source::by_path(tx, &request.collection, &request.path)? {
                None => (insert(tx, request, &hash, now)?, Outcome::New),
                Some(source)
                    if !request.force
                        && source.file_hash == hash
                        && source.state != DocumentState::Failed =>
                {
                    return Ok(Admitted {
                        document_id: source.id,
                        generation: source.generation,
                        outcome: Outcome::Unchanged,
                    });
                }
                Some(source) => {
                    discard_wanted(tx, &source, pipeline)?;
                    tx.prepare_cached(
                        "UPDATE sources SET content = ?1, bytes = ?2, format = ?3, file_hash = ?4
                         WHERE ordinal = ?5",
                    )?
                    .execute(params![
                        request.content.as_str(),
                        request.bytes,
                        request.format.name(),
                        hash.as_str(),
                        source.ordinal
                    ])?;
                    // A failed document is read anew: its pages may be why it failed.
                    requeue(tx, &source, request.force, now)?;
                    (source.id, Outcome::Changed)
                }
            };
            let source = Source::by_id(tx, &id)?.ok_or_else(|| CatalogError::NotFound(id))?;
            share_if_visible(tx, &source, pipeline)?;
            Ok(Admitted {
                document_id: source.id,
                generation: source.generation,
                outcome,
            })
        })
    }

    /// Queues documents again, with all work done anew.
    ///
    /// # Errors
    /// [`CatalogError::NotFound`], or when the catalog cannot be written.
    pub fn retry(&self, request: &Retry, now: i64) -> Result<Vec<DocumentId>, CatalogError> {
        self.write(|tx| {
            let sources = match request {
                Retry::Document(id) => {
                    vec![Source::by_id(tx, id)?.ok_or_else(|| CatalogError::NotFound(id.clone()))?]
                }
                Retry::AllFailed => sources_where(tx, "state = 'failed'")?,
            };
            for source in &sources {
                tx.prepare_cached("DELETE FROM staged WHERE document = ?1")?
                    .execute([source.id.as_str()])?;
                requeue(tx, source, true, now)?;
            }
            Ok(sources.into_iter().map(|source| source.id).collect())
        })
    }

    /// Takes up the program's pipeline: queues again whatever another one made.
    pub(super) fn adopt_pipeline(&self) -> Result<Opened, CatalogError> {
        let pipeline = self.pipeline();
        let fingerprint = serde_json::to_string(pipeline)?;
        let now = crate::clock::now_ms();
        self.write_visible(|tx| {
            let before: Option<String> = tx
                .prepare_cached("SELECT value FROM meta WHERE key = 'pipeline'")?
                .query_map([], |row| row.get(0))?
                .next()
                .transpose()?;
            if before.as_ref() == Some(&fingerprint) {
                return Ok(Opened::default());
            }
            tx.execute(
                "INSERT OR REPLACE INTO meta(key, value) VALUES ('pipeline', ?1)",
                [&fingerprint],
            )?;
            let mut opened = Opened::default();
            // Vectors of two models cannot be compared.
            let strangers: Vec<i64> = tx
                .prepare("SELECT id FROM versions WHERE model <> ?1")?
                .query_map([pipeline.model.as_str()], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            for version in strangers {
                tx.execute(
                    "UPDATE sources SET visible_version = NULL WHERE visible_version = ?1",
                    [version],
                )?;
                retire(tx, version)?;
                opened.retired += 1;
            }
            if before.is_some() {
                for source in sources_where(tx, "state <> 'failed'")? {
                    tx.execute(
                        "DELETE FROM staged WHERE document = ?1",
                        [source.id.as_str()],
                    )?;
                    requeue(tx, &source, false, now)?;
                    opened.requeued += 1;
                }
            }
            Ok(opened)
        })
    }
}

fn insert(
    tx: &Transaction<'_>,
    request: &Admit,
    hash: &FileHash,
    now: i64,
) -> rusqlite::Result<DocumentId> {
    let id = DocumentId::generate();
    tx.prepare_cached(
        "INSERT INTO sources(id, collection, path, name, content, bytes, format, file_hash,
                             generation, fresh, reparse, state, queued_ms, added_ms, trace)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?11, ?12, ?12, ?13)",
    )?
    .execute(params![
        id.as_str(),
        request.collection.as_str(),
        request.path,
        name_of(&request.path),
        request.content.as_str(),
        request.bytes,
        request.format.name(),
        hash.as_str(),
        Generation(1).0,
        request.force,
        state_text(DocumentState::Queued),
        now,
        telemetry::here()
    ])?;
    Ok(id)
}

/// Raises the generation and queues the source; whatever is under way for it is superseded.
fn requeue(tx: &Transaction<'_>, source: &Source, fresh: bool, now: i64) -> rusqlite::Result<()> {
    let reparse = fresh || source.state == DocumentState::Failed;
    tx.prepare_cached(
        "UPDATE sources SET generation = generation + 1, attempt = 0, fresh = ?1, reparse = ?2,
                            state = ?3, pages_seen = 0, error = NULL, sequence = NULL,
                            queued_ms = ?4, trace = ?5
         WHERE ordinal = ?6",
    )?
    .execute(params![
        fresh,
        reparse,
        state_text(DocumentState::Queued),
        now,
        telemetry::here(),
        source.ordinal
    ])?;
    Ok(())
}

/// Content that is visible already needs no work.
fn share_if_visible(
    tx: &Transaction<'_>,
    source: &Source,
    pipeline: &Pipeline,
) -> Result<(), CatalogError> {
    if source.fresh {
        return Ok(());
    }
    match find_version(tx, &source.file_hash, pipeline)? {
        Some(version) => attach(tx, source, version),
        None => Ok(()),
    }
}

fn sources_where(tx: &Transaction<'_>, condition: &str) -> rusqlite::Result<Vec<Source>> {
    tx.prepare(&format!(
        "SELECT {SOURCE} FROM sources WHERE {condition} ORDER BY ordinal"
    ))?
    .query_map([], Source::read)?
    .collect()
}

/// The last part of a path.
fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\'])
        .find(|part| !part.is_empty())
        .unwrap_or(path)
}
