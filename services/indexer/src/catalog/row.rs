//! Stored values and their types, both ways.

use std::str::FromStr;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::de::DeserializeOwned;
use shared::contract::{
    CollectionName, DocumentId, DocumentState, FileHash, Generation, Sha256Hex,
};
use shared::format::Format;

/// A column that is one of our text types.
pub(super) fn text<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    let value: String = row.get(column)?;
    value.parse().map_err(|error: T::Err| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

/// A column that holds JSON.
pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let value: String = row.get(column)?;
    decode(&value, column)
}

/// A column that holds JSON or nothing.
pub(super) fn json_option<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<T>> {
    let value: Option<String> = row.get(column)?;
    value.map(|value| decode(&value, column)).transpose()
}

/// `value`, from `column`, as JSON.
pub(super) fn decode<T: DeserializeOwned>(value: &str, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(value).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

/// The text a state is stored as; the same as on the wire.
pub(super) fn state_text(state: DocumentState) -> &'static str {
    match state {
        DocumentState::Queued => "queued",
        DocumentState::Parsing => "parsing",
        DocumentState::Chunking => "chunking",
        DocumentState::Embedding => "embedding",
        DocumentState::Indexing => "indexing",
        DocumentState::Ready => "ready",
        DocumentState::Partial => "partial",
        DocumentState::Failed => "failed",
    }
}

/// A column that is a state.
pub(super) fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<DocumentState> {
    let value: String = row.get(column)?;
    decode(&format!("\"{value}\""), column)
}

/// A source as stored, without what only listings show.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub ordinal: i64,
    pub id: DocumentId,
    pub path: String,
    pub name: String,
    pub content: Sha256Hex,
    pub format: Format,
    pub file_hash: FileHash,
    pub generation: Generation,
    pub attempt: u32,
    pub fresh: bool,
    pub reparse: bool,
    pub state: DocumentState,
    pub visible_version: Option<i64>,
}

/// Columns of [`Source`], in order.
pub(super) const SOURCE: &str = "ordinal, id, path, name, content, format, file_hash, generation, \
                                 attempt, fresh, reparse, state, visible_version";

impl Source {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            ordinal: row.get(0)?,
            id: text(row, 1)?,
            path: row.get(2)?,
            name: row.get(3)?,
            content: text(row, 4)?,
            format: text(row, 5)?,
            file_hash: text(row, 6)?,
            generation: Generation(row.get(7)?),
            attempt: row.get(8)?,
            fresh: row.get(9)?,
            reparse: row.get(10)?,
            state: state(row, 11)?,
            visible_version: row.get(12)?,
        })
    }

    pub(super) fn by_id(
        connection: &Connection,
        id: &DocumentId,
    ) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(&format!("SELECT {SOURCE} FROM sources WHERE id = ?1"))?
            .query_row([id.as_str()], Self::read)
            .optional()
    }

    pub(super) fn by_path(
        connection: &Connection,
        collection: &CollectionName,
        path: &str,
    ) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(&format!(
                "SELECT {SOURCE} FROM sources WHERE collection = ?1 AND path = ?2"
            ))?
            .query_row(params![collection.as_str(), path], Self::read)
            .optional()
    }

    /// Whether work on it was handed out and no batch has been committed yet.
    pub(super) fn in_flight(&self) -> bool {
        self.attempt > 0 && !self.state.is_final() && self.state != DocumentState::Indexing
    }
}
