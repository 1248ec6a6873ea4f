//! The keyword index: BM25 over chunk text, heading path and document name.
//!
//! It is derived from the catalog: it can be thrown away at any time and filled again from there.
//! It stores no text, only postings and the chunk key.

mod analysis;
#[cfg(test)]
mod evaluation;
mod tantivy_index;
#[cfg(test)]
mod tests;

use shared::contract::Sight;
use shared::language::Language;

pub use self::tantivy_index::TantivyIndex;
pub use crate::chunk_set::{AllowedChunks, ChunkKey};
pub use crate::opened::Opened;

/// A batch of changes, as the catalog's change sequence gives them.
#[derive(Debug, Clone, Default)]
pub struct KeywordChanges {
    /// Added or replaced, by key.
    pub upserts: Vec<KeywordDocument>,
    /// Removed; absent keys are no error. A key that is also in `upserts` ends up removed, since
    /// keys are never reused.
    pub deletes: Vec<ChunkKey>,
    /// Change sequence reached once this batch is durable.
    pub sequence: u64,
}

/// What of a chunk can be found by its words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeywordDocument {
    /// The chunk's key.
    pub key: ChunkKey,
    /// The chunk's own text, without the heading prefix.
    pub text: String,
    /// Headings above the chunk, joined by spaces or ` > `; empty when there are none.
    pub heading_path: String,
    /// Display name of the document, for example `Pricing 2026.pdf`.
    pub name: String,
}

/// What is asked of a keyword index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeywordQuery {
    /// Any text: no query syntax.
    pub text: String,
    /// Phrases that count more where they stand word for word; parts of `text`.
    pub phrases: Vec<String>,
    /// The language of `text`, where it is known.
    pub language: Option<Language>,
}

impl From<&str> for KeywordQuery {
    fn from(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }
}

/// What a keyword index has found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KeywordHits {
    /// Best first, with the engine's own scores (over 0).
    pub hits: Vec<(ChunkKey, f32)>,
    /// What of the question the index could see.
    pub sight: Sight,
}

/// A keyword index. Calls block: run them on a blocking pool.
pub trait KeywordIndex: Send + Sync {
    /// Change sequence of the last durable commit; 0 when fresh.
    fn sequence(&self) -> u64;

    /// Applies a batch; durable and visible to searches when it returns, all of it or nothing.
    /// Applying a batch again changes nothing; the sequence never goes back.
    ///
    /// # Errors
    /// When a key is not over 0, or the index cannot be written.
    fn apply(&self, changes: &KeywordChanges) -> Result<(), KeywordError>;

    /// The `k` best chunks for a question. Only chunks with at least one word of its text are
    /// returned; with `allowed`, only those.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn search(
        &self,
        query: &KeywordQuery,
        k: usize,
        allowed: Option<&AllowedChunks>,
    ) -> Result<KeywordHits, KeywordError>;

    /// All keys, ascending.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn keys(&self) -> Result<Vec<ChunkKey>, KeywordError>;

    /// Rewrites what still holds words of removed chunks, so that they are gone from the disk.
    ///
    /// # Errors
    /// When the index cannot be written.
    fn purge(&self) -> Result<(), KeywordError>;

    /// Empties the index and sets its sequence to 0, for a rebuild.
    ///
    /// # Errors
    /// When the index cannot be written.
    fn clear(&self) -> Result<(), KeywordError>;
}

/// What can go wrong in the keyword index.
#[derive(Debug, thiserror::Error)]
pub enum KeywordError {
    /// The folder could not be made or emptied.
    #[error("cannot prepare the keyword index folder `{}`", path.display())]
    Folder {
        /// The folder.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Another process writes this index.
    #[error("the keyword index in `{}` is in use; stop the other `ibid up` first", path.display())]
    Locked {
        /// The folder.
        path: std::path::PathBuf,
    },
    /// A key is not a catalog row id.
    #[error("chunk key is {key} but must be over 0")]
    Key {
        /// The key given.
        key: ChunkKey,
    },
    /// The engine failed.
    #[error("cannot {action} the keyword index")]
    Engine {
        /// What was being done.
        action: &'static str,
        /// What tantivy said.
        source: tantivy::TantivyError,
    },
}
