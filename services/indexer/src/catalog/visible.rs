//! Which version a source shows, and the change that tells the indexes.

use rusqlite::{OptionalExtension as _, Transaction, params};
use shared::contract::{DocumentState, FileHash, Pipeline};

use super::row::{Source, state_text};
use crate::error::CatalogError;

/// A version as found by its fingerprint.
#[derive(Debug, Clone, Copy)]
pub(super) struct Version {
    pub id: i64,
    pub sequence: u64,
}

/// What is told to the indexes about a version.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    /// Its chunks can be found.
    Added,
    /// Its chunks are gone.
    Removed,
    /// The names of the documents that show it are others than before.
    Named,
}

impl Change {
    fn text(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Named => "named",
        }
    }
}

/// Whether version `v` was made by another parser (?1) or chunker (?2) than the program's.
pub(super) const OUTDATED: &str = "(v.parser <> ?1 OR v.chunker <> ?2)";

/// Documents that show what another parser or chunker made.
pub(super) fn count_outdated(tx: &Transaction<'_>, pipeline: &Pipeline) -> rusqlite::Result<u64> {
    tx.prepare_cached(&format!(
        "SELECT count(*) FROM sources AS s JOIN versions AS v ON v.id = s.visible_version
         WHERE {OUTDATED}"
    ))?
    .query_row([&pipeline.parser, &pipeline.chunker], |row| row.get(0))
}

/// The version of `file_hash` that `pipeline` made, if there is one.
pub(super) fn find_version(
    tx: &Transaction<'_>,
    file_hash: &FileHash,
    pipeline: &Pipeline,
) -> rusqlite::Result<Option<Version>> {
    tx.prepare_cached(
        "SELECT id, sequence FROM versions
         WHERE file_hash = ?1 AND parser = ?2 AND chunker = ?3 AND model = ?4",
    )?
    .query_row(
        params![
            file_hash.as_str(),
            pipeline.parser,
            pipeline.chunker,
            pipeline.model.as_str()
        ],
        |row| {
            Ok(Version {
                id: row.get(0)?,
                sequence: row.get(1)?,
            })
        },
    )
    .optional()
}

/// Appends a change of `version` (which must still be there) and returns its number.
pub(super) fn append_change(
    tx: &Transaction<'_>,
    change: Change,
    version: i64,
) -> rusqlite::Result<u64> {
    tx.prepare_cached(
        "INSERT INTO changes(kind, version, first_key, chunks)
         SELECT ?1, id, first_key, chunks FROM versions WHERE id = ?2",
    )?
    .execute(params![change.text(), version])?;
    Ok(u64::try_from(tx.last_insert_rowid()).unwrap_or(0))
}

/// The names under which `version` is shown, each once.
pub(super) fn names(tx: &Transaction<'_>, version: i64) -> rusqlite::Result<Vec<String>> {
    tx.prepare_cached("SELECT DISTINCT name FROM sources WHERE visible_version = ?1 ORDER BY name")?
        .query_map([version], |row| row.get(0))?
        .collect()
}

/// Lets `source` show the finished `version`; final once the indexes have passed its change.
/// What it showed before is retired when nothing else shows it.
pub(super) fn attach(
    tx: &Transaction<'_>,
    source: &Source,
    version: Version,
) -> Result<(), CatalogError> {
    let known = names(tx, version.id)?.contains(&source.name);
    tx.prepare_cached("UPDATE sources SET visible_version = ?1 WHERE ordinal = ?2")?
        .execute(params![version.id, source.ordinal])?;
    let sequence = if known {
        version.sequence
    } else {
        append_change(tx, Change::Named, version.id)?
    };
    settle(tx, source.ordinal, sequence)?;
    if let Some(before) = source
        .visible_version
        .filter(|before| *before != version.id)
    {
        release(tx, before, &source.name)?;
    }
    Ok(())
}

/// Marks a source as committed: what remains is that the indexes pass `sequence`.
pub(super) fn settle(tx: &Transaction<'_>, ordinal: i64, sequence: u64) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "UPDATE sources SET state = ?1, sequence = ?2, error = NULL, fresh = 0, reparse = 0
         WHERE ordinal = ?3",
    )?
    .execute(params![
        state_text(DocumentState::Indexing),
        sequence,
        ordinal
    ])?;
    tx.prepare_cached(
        "DELETE FROM staged WHERE document = (SELECT id FROM sources WHERE ordinal = ?1)",
    )?
    .execute([ordinal])?;
    Ok(())
}

/// After a source called `name` has let go of `version`: retires it when nothing shows it any
/// more. Returns the chunks that are gone.
pub(super) fn release(tx: &Transaction<'_>, version: i64, name: &str) -> Result<u64, CatalogError> {
    let left = names(tx, version)?;
    if left.is_empty() {
        return retire(tx, version);
    }
    if !left.iter().any(|other| other == name) {
        append_change(tx, Change::Named, version)?;
    }
    Ok(0)
}

/// Removes a version that nothing shows, tells the indexes, and hands its blobs to the janitor.
pub(super) fn retire(tx: &Transaction<'_>, version: i64) -> Result<u64, CatalogError> {
    append_change(tx, Change::Removed, version)?;
    tx.prepare_cached(
        "INSERT OR IGNORE INTO garbage(content, file_hash, parser)
         SELECT content, file_hash, parser FROM versions WHERE id = ?1",
    )?
    .execute([version])?;
    let chunks = tx
        .prepare_cached("SELECT chunks FROM versions WHERE id = ?1")?
        .query_row([version], |row| row.get(0))?;
    tx.prepare_cached("DELETE FROM versions WHERE id = ?1")?
        .execute([version])?;
    Ok(chunks)
}

/// Hands the blobs of what `source` wanted to the janitor, who keeps what is still used.
pub(super) fn discard_wanted(
    tx: &Transaction<'_>,
    source: &Source,
    pipeline: &Pipeline,
) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT OR IGNORE INTO garbage(content, file_hash, parser) VALUES (?1, ?2, ?3)",
    )?
    .execute(params![
        source.content.as_str(),
        source.file_hash.as_str(),
        pipeline.parser
    ])?;
    tx.prepare_cached("DELETE FROM staged WHERE document = ?1")?
        .execute([source.id.as_str()])?;
    Ok(())
}
