//! What the feeder asks of the queue of record.

use std::collections::HashMap;

use rusqlite::{OptionalExtension as _, Row, Transaction, params};
use shared::contract::{
    DocumentAdmitted, DocumentId, DocumentState, FileHash, Generation, SealedPassword, Work,
};

use super::Catalog;
use super::row::{SOURCE, Source, state, state_text, text};
use crate::error::CatalogError;

/// A document that was handed out and is not committed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InFlight {
    /// The document.
    pub id: DocumentId,
    /// Its generation.
    pub generation: Generation,
    /// Times it was handed out in this generation.
    pub attempt: u32,
    /// Its content as read in its format.
    pub file_hash: FileHash,
}

/// A document that may be handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handout {
    /// The document.
    pub id: DocumentId,
    /// Its generation; a hand-out of an earlier one is void.
    pub generation: Generation,
    /// Its content as read in its format.
    pub file_hash: FileHash,
    /// Whether the parser's pages have to be forgotten first.
    pub reparse: bool,
}

/// How far a document was heard to have come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The document.
    pub id: DocumentId,
    /// The generation worked on.
    pub generation: Generation,
    /// The state it is in now; of the pipeline's own states.
    pub state: DocumentState,
    /// Pages found, 0 when not known.
    pub pages: u32,
}

/// A document that has become findable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// The document.
    pub id: DocumentId,
    /// Ready or partial.
    pub state: DocumentState,
    /// Milliseconds since it was queued.
    pub took_ms: i64,
    /// The trace that queued it.
    pub trace: Option<String>,
}

impl Finished {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: text(row, 0)?,
            state: state(row, 1)?,
            took_ms: row.get(2)?,
            trace: row.get(3)?,
        })
    }
}

/// What opens the source's content: its own password, else that of another document of the same
/// bytes, of which this one may have got its turn first.
fn password(tx: &Transaction<'_>, source: &Source) -> rusqlite::Result<Option<SealedPassword>> {
    tx.prepare_cached(
        "SELECT password FROM sources WHERE content = ?1 AND password IS NOT NULL
         ORDER BY ordinal = ?2 DESC, ordinal DESC LIMIT 1",
    )?
    .query_row(params![source.content.as_str(), source.ordinal], |row| {
        row.get(0).map(SealedPassword)
    })
    .optional()
}

const WORKING: &str = "state IN ('parsing', 'chunking', 'embedding')";

impl Catalog {
    /// All documents that are out, in the order of their admission.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn in_flight(&self) -> Result<Vec<InFlight>, CatalogError> {
        self.read(|tx| {
            let rows = tx
                .prepare_cached(&format!(
                    "SELECT {SOURCE} FROM sources WHERE {WORKING} ORDER BY queued_ms, ordinal"
                ))?
                .query_map([], Source::read)?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(rows
                .into_iter()
                .map(|source| InFlight {
                    id: source.id,
                    generation: source.generation,
                    attempt: source.attempt,
                    file_hash: source.file_hash,
                })
                .collect())
        })
    }

    /// The next `limit` documents to hand out, in the order of their admission. Content that is
    /// being worked on for another document is left out: one working serves both.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn next_queued(&self, limit: usize) -> Result<Vec<Handout>, CatalogError> {
        self.read(|tx| {
            let rows = tx
                .prepare_cached(&format!(
                    "SELECT {SOURCE} FROM sources AS s
                     WHERE state = 'queued'
                       AND NOT EXISTS (SELECT 1 FROM sources AS other
                                       WHERE other.file_hash = s.file_hash AND other.{WORKING})
                       AND NOT EXISTS (SELECT 1 FROM sources AS earlier
                                       WHERE earlier.file_hash = s.file_hash
                                         AND earlier.state = 'queued'
                                         AND (earlier.queued_ms, earlier.ordinal)
                                             < (s.queued_ms, s.ordinal))
                     ORDER BY queued_ms, ordinal LIMIT ?1"
                ))?
                .query_map([limit], Source::read)?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(rows
                .into_iter()
                .map(|source| Handout {
                    id: source.id,
                    generation: source.generation,
                    file_hash: source.file_hash,
                    reparse: source.reparse,
                })
                .collect())
        })
    }

    /// Counts one more attempt for each of `documents` that is still wanted in that generation,
    /// and returns the messages to publish.
    ///
    /// # Errors
    /// When the catalog cannot be written.
    pub fn hand_out(
        &self,
        documents: &[(DocumentId, Generation)],
    ) -> Result<Vec<DocumentAdmitted>, CatalogError> {
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        self.write(|tx| {
            let mut messages = Vec::with_capacity(documents.len());
            for (id, generation) in documents {
                let Some(source) = Source::by_id(tx, id)? else {
                    continue;
                };
                let wanted = source.state == DocumentState::Queued || source.in_flight();
                if source.generation != *generation || !wanted {
                    continue;
                }
                tx.prepare_cached(
                    "UPDATE sources SET attempt = attempt + 1, reparse = 0,
                            state = CASE state WHEN 'queued' THEN 'parsing' ELSE state END
                     WHERE ordinal = ?1",
                )?
                .execute([source.ordinal])?;
                let password = password(tx, &source)?;
                messages.push(DocumentAdmitted {
                    password,
                    work: Work {
                        document_id: source.id,
                        generation: source.generation,
                        file_hash: source.file_hash,
                        format: source.format,
                        pipeline: self.pipeline().clone(),
                        attempt: source.attempt + 1,
                    },
                    content: source.content,
                    name: source.name,
                });
            }
            Ok(messages)
        })
    }

    /// The traces that queued the documents of `messages`.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn traces(
        &self,
        messages: &[DocumentAdmitted],
    ) -> Result<HashMap<DocumentId, String>, CatalogError> {
        self.read(|tx| {
            let mut traces = HashMap::new();
            let mut statement = tx.prepare_cached("SELECT trace FROM sources WHERE id = ?1")?;
            for message in messages {
                let id = &message.work.document_id;
                let trace = statement
                    .query_row([id.as_str()], |row| row.get::<_, Option<String>>(0))
                    .optional()?;
                if let Some(trace) = trace.flatten() {
                    traces.insert(id.clone(), trace);
                }
            }
            Ok(traces)
        })
    }

    /// Notes how far documents have come; never backwards, and only for the present generation.
    ///
    /// # Errors
    /// When the catalog cannot be written.
    pub fn note_progress(&self, heard: &[Progress]) -> Result<(), CatalogError> {
        if heard.is_empty() {
            return Ok(());
        }
        self.write(|tx| {
            let mut statement = tx.prepare_cached(&format!(
                "UPDATE sources SET state = ?1, pages_seen = max(pages_seen, ?2)
                 WHERE id = ?3 AND generation = ?4 AND {WORKING}
                   AND (CASE state WHEN 'parsing' THEN 1 WHEN 'chunking' THEN 2 ELSE 3 END) <= ?5"
            ))?;
            for progress in heard {
                let rank = match progress.state {
                    DocumentState::Parsing => 1,
                    DocumentState::Chunking => 2,
                    DocumentState::Embedding => 3,
                    _ => continue,
                };
                statement.execute(params![
                    state_text(progress.state),
                    progress.pages,
                    progress.id.as_str(),
                    progress.generation.0,
                    rank
                ])?;
            }
            Ok(())
        })
    }

    /// Makes final what both indexes can find: every committed document whose change is not
    /// after `sequence`. Returns them.
    ///
    /// # Errors
    /// When the catalog cannot be written.
    pub fn finish(&self, sequence: u64, now: i64) -> Result<Vec<Finished>, CatalogError> {
        let waiting: bool = self.read(|tx| {
            Ok(tx
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM sources WHERE state = 'indexing'
                                    AND sequence <= ?1)",
                )?
                .query_row([sequence], |row| row.get(0))?)
        })?;
        if !waiting {
            return Ok(Vec::new());
        }
        self.write(|tx| {
            let finished = tx
                .prepare_cached(
                    "UPDATE sources SET
                        state = CASE (SELECT missing FROM versions WHERE id = visible_version)
                                WHEN '[]' THEN 'ready' ELSE 'partial' END,
                        indexed_ms = ?1, sequence = NULL
                     WHERE state = 'indexing' AND sequence <= ?2
                     RETURNING id, state, max(0, ?1 - queued_ms), trace",
                )?
                .query_map(params![now, sequence], Finished::read)?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(finished)
        })
    }
}
