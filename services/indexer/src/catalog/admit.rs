//! Taking documents in, and queueing them again.

use rusqlite::{Transaction, params, params_from_iter};
use shared::contract::{
    Admit, Admitted, DocumentId, DocumentState, FileHash, Generation, Outcome, Pipeline, Retry,
    SealedPassword,
};
use shared::telemetry;

use super::row::{SOURCE, Source, state_text};
use super::visible::{OUTDATED, attach, count_outdated, discard_wanted, find_version, retire};
use super::{Catalog, Opened};
use crate::error::CatalogError;

impl Catalog {
    /// Takes a document in. Its row is durable when this returns.
    ///
    /// Content that is already visible through another document is shared at once, without any
    /// work; `force` does all work again. A password has a document read again that could not be
    /// read without, as a whole or in part.
    ///
    /// # Errors
    /// When the catalog cannot be written.
    pub fn admit(&self, request: &Admit, now: i64) -> Result<Admitted, CatalogError> {
        let pipeline = self.pipeline();
        let hash = FileHash::of(&request.content, request.format);
        self.write_visible(|tx| {
            let (id, outcome) = match Source::by_path(tx, &request.collection, &request.path)? {
                None => (insert(tx, request, &hash, now)?, Outcome::New),
                Some(source) => match reading(&source, request, &hash) {
                    Reading::No => {
                        keep_password(tx, &source, request)?;
                        keep_date(tx, &source, request)?;
                        return Ok(Admitted {
                            document_id: source.id,
                            generation: source.generation,
                            outcome: Outcome::Unchanged,
                        });
                    }
                    Reading::Again { fresh } => {
                        discard_wanted(tx, &source, pipeline)?;
                        rewrite(tx, &source, request, (&hash, now))?;
                        // A failed document is read anew: its pages may be why it failed.
                        requeue(tx, &source, fresh, now)?;
                        (source.id, Outcome::Changed)
                    }
                },
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

    /// Queues documents again, with all work done anew; outdated ones with what has changed since.
    /// What they show stays visible until the new making is.
    ///
    /// # Errors
    /// [`CatalogError::NotFound`], or when the catalog cannot be written.
    pub fn retry(&self, request: &Retry, now: i64) -> Result<Vec<DocumentId>, CatalogError> {
        let pipeline = self.pipeline();
        self.write_visible(|tx| {
            let sources = match request {
                Retry::Document(id) => {
                    vec![Source::by_id(tx, id)?.ok_or_else(|| CatalogError::NotFound(id.clone()))?]
                }
                Retry::AllFailed => sources_where(tx, "state = 'failed'", [])?,
                Retry::Outdated => sources_where(
                    tx,
                    &format!(
                        "state IN ('ready', 'partial', 'failed') AND visible_version IN
                            (SELECT id FROM versions AS v WHERE {OUTDATED})"
                    ),
                    [&pipeline.parser, &pipeline.chunker],
                )?,
            };
            // The same outdated content at two paths is made once.
            let fresh = *request != Retry::Outdated;
            for source in &sources {
                tx.prepare_cached("DELETE FROM staged WHERE document = ?1")?
                    .execute([source.id.as_str()])?;
                requeue(tx, source, fresh, now)?;
                if let Some(queued) = Source::by_id(tx, &source.id)? {
                    share_if_visible(tx, &queued, pipeline)?;
                }
            }
            Ok(sources.into_iter().map(|source| source.id).collect())
        })
    }

    /// Takes up the program's pipeline. Another model: its vectors cannot be compared, so whatever
    /// the other one made is hidden and queued again. Another parser or chunker: what is visible
    /// stays and is outdated, what was under way begins again.
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
            let Some(before) = before else {
                return Ok(Opened::default());
            };
            let before: Pipeline = serde_json::from_str(&before)?;
            let mut opened = Opened {
                retired: retire_strangers(tx, pipeline)?,
                ..Opened::default()
            };
            let made_again = if before.model == pipeline.model {
                "state NOT IN ('indexing', 'ready', 'partial', 'failed')"
            } else {
                "state <> 'failed'"
            };
            for source in sources_where(tx, made_again, [])? {
                tx.execute(
                    "DELETE FROM staged WHERE document = ?1",
                    [source.id.as_str()],
                )?;
                requeue(tx, &source, false, now)?;
                opened.requeued += 1;
            }
            opened.outdated = count_outdated(tx, pipeline)?;
            Ok(opened)
        })
    }
}

/// Hides what another model made. Returns the versions hidden.
fn retire_strangers(tx: &Transaction<'_>, pipeline: &Pipeline) -> Result<u64, CatalogError> {
    let strangers: Vec<i64> = tx
        .prepare("SELECT id FROM versions WHERE model <> ?1")?
        .query_map([pipeline.model.as_str()], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for version in &strangers {
        tx.execute(
            "UPDATE sources SET visible_version = NULL WHERE visible_version = ?1",
            [version],
        )?;
        retire(tx, *version)?;
    }
    Ok(strangers.len() as u64)
}

/// Whether an admission has its document read.
enum Reading {
    No,
    Again {
        /// All work is done again.
        fresh: bool,
    },
}

fn reading(source: &Source, request: &Admit, hash: &FileHash) -> Reading {
    let same = source.file_hash == *hash;
    let opens = request.password.is_some();
    // Parts of it are locked, or the parser is at it without the password.
    let is_locked = matches!(
        source.state,
        DocumentState::Partial | DocumentState::Parsing
    );
    if same && !request.force && source.state != DocumentState::Failed && !(opens && is_locked) {
        return Reading::No;
    }
    Reading::Again {
        fresh: request.force || (same && opens && is_locked),
    }
}

/// Keeps the password for a document that waits for its turn. One that has been read keeps what
/// has opened it.
fn keep_password(tx: &Transaction<'_>, source: &Source, request: &Admit) -> rusqlite::Result<()> {
    if let Some(SealedPassword(password)) = &request.password
        && source.state == DocumentState::Queued
    {
        tx.prepare_cached("UPDATE sources SET password = ?1 WHERE ordinal = ?2")?
            .execute(params![password, source.ordinal])?;
    }
    Ok(())
}

/// Keeps the date of a file that was touched and has the same bytes.
fn keep_date(tx: &Transaction<'_>, source: &Source, request: &Admit) -> rusqlite::Result<()> {
    if let Some(modified) = request.modified_ms {
        tx.prepare_cached("UPDATE sources SET modified_ms = ?1 WHERE ordinal = ?2")?
            .execute([modified, source.ordinal])?;
    }
    Ok(())
}

/// Writes what was admitted over what the source was. A password and a date that none replaces stay
/// as long as the bytes they are of.
fn rewrite(
    tx: &Transaction<'_>,
    source: &Source,
    request: &Admit,
    (hash, now): (&FileHash, i64),
) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "UPDATE sources SET content = ?1, bytes = ?2, format = ?3, file_hash = ?4,
                password = coalesce(?5, CASE content WHEN ?1 THEN password END),
                modified_ms = coalesce(?6, CASE content WHEN ?1 THEN modified_ms END, ?7)
         WHERE ordinal = ?8",
    )?
    .execute(params![
        request.content.as_str(),
        request.bytes,
        request.format.name(),
        hash.as_str(),
        request.password.as_ref().map(|sealed| &sealed.0),
        request.modified_ms,
        now,
        source.ordinal
    ])?;
    Ok(())
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
                             generation, fresh, reparse, state, queued_ms, added_ms, trace,
                             password, modified_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?11, ?12, ?12, ?13, ?14,
                 coalesce(?15, ?12))",
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
        telemetry::here(),
        request.password.as_ref().map(|sealed| &sealed.0),
        request.modified_ms
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

fn sources_where<const N: usize>(
    tx: &Transaction<'_>,
    condition: &str,
    values: [&String; N],
) -> rusqlite::Result<Vec<Source>> {
    tx.prepare(&format!(
        "SELECT {SOURCE} FROM sources WHERE {condition} ORDER BY ordinal"
    ))?
    .query_map(params_from_iter(values), Source::read)?
    .collect()
}

/// The last part of a path.
fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\'])
        .find(|part| !part.is_empty())
        .unwrap_or(path)
}
