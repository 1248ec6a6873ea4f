//! The vector index: nearest chunks by cosine, exact or through an HNSW graph.
//!
//! It is derived from the catalog: it can be thrown away at any time and filled again from there.
//! `hnsw_rs` only builds the graph; a flat reader searches it (see `vector/graph.rs`), and the
//! snapshot format is our own (see `vector/snapshot.rs`).

mod build;
mod exact;
mod flat_index;
mod graph;
mod kernel;
mod mapped;
mod slots;
mod snapshot;
#[cfg(test)]
mod tests;

pub use self::flat_index::{FlatIndex, VectorSettings};
pub use crate::chunk_set::{AllowedChunks, ChunkKey};
pub use crate::opened::Opened;

/// A batch of changes, as the catalog's change sequence gives them.
#[derive(Debug, Clone, Default)]
pub struct VectorChanges {
    /// Added or replaced, by key. Vectors are scaled to unit length on the way in.
    pub upserts: Vec<(ChunkKey, Vec<f32>)>,
    /// Removed; absent keys are no error. A key that is also in `upserts` ends up removed, since
    /// keys are never reused.
    pub deletes: Vec<ChunkKey>,
    /// Change sequence reached by this batch.
    pub sequence: u64,
}

/// A vector index. Calls block: run them on a blocking pool.
pub trait VectorIndex: Send + Sync {
    /// Change sequence that searches see. After a crash it is that of the last
    /// [`snapshot`](Self::snapshot), and the caller applies the changes since then again.
    fn sequence(&self) -> u64;

    /// Components of every vector.
    fn dimension(&self) -> usize;

    /// Applies a batch, all of it or nothing; visible to searches when it returns, durable after
    /// the next [`snapshot`](Self::snapshot). Applying a batch again changes nothing; the sequence
    /// never goes back.
    ///
    /// # Errors
    /// When a vector has the wrong dimension or a component that is not finite, or a key is not
    /// over 0.
    fn apply(&self, changes: &VectorChanges) -> Result<(), VectorError>;

    /// The `k` nearest chunks with their cosines, best first, ties by key; with `allowed`, only
    /// those.
    ///
    /// # Errors
    /// When the query has the wrong dimension or a component that is not finite.
    fn search(
        &self,
        query: &[f32],
        k: usize,
        allowed: Option<&AllowedChunks>,
    ) -> Result<Vec<(ChunkKey, f32)>, VectorError>;

    /// All keys, ascending.
    fn keys(&self) -> Vec<ChunkKey>;

    /// Makes the state durable: a fresh folder, flushed, then renamed; older ones are removed.
    /// Does nothing when nothing has changed. Removed vectors are dropped on the way when no graph
    /// runs through them, or when they are over 30 %.
    ///
    /// # Errors
    /// When the snapshot cannot be written; the state in memory and the older snapshot stay.
    fn snapshot(&self) -> Result<(), VectorError>;

    /// A snapshot that drops every removed vector, in memory and on disk. A graph through them is
    /// rebuilt in the background; until then searches are exact.
    ///
    /// # Errors
    /// As [`snapshot`](Self::snapshot).
    fn compact(&self) -> Result<(), VectorError>;

    /// Empties the index, also on disk, and sets its sequence to 0, for a rebuild.
    ///
    /// # Errors
    /// As [`snapshot`](Self::snapshot).
    fn clear(&self) -> Result<(), VectorError>;

    /// How it searches now: `exact` or `graph over n, tail m`.
    fn describe(&self) -> String;
}

/// What can go wrong in the vector index.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// A vector of another model.
    #[error(
        "vector dimension is {given} but the index holds {expected}; embed again or set \
         `embedder.model` back"
    )]
    Dimension {
        /// Components given.
        given: usize,
        /// Components of the index.
        expected: usize,
    },
    /// A vector that no distance can be told from.
    #[error("{what} has a component that is not a finite number; embed it again")]
    NotFinite {
        /// `the query` or `the vector of chunk 7`.
        what: String,
    },
    /// A key is not a catalog row id.
    #[error("chunk key is {key} but must be over 0")]
    Key {
        /// The key given.
        key: ChunkKey,
    },
    /// More vectors than a slot number can count.
    #[error("the vector index is full at {limit} vectors; split the collection")]
    Full {
        /// Most vectors one index can hold.
        limit: usize,
    },
    /// A file or folder of a snapshot.
    #[error("cannot {action} `{}`", path.display())]
    File {
        /// What was being done.
        action: &'static str,
        /// To which file.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A manifest could not be written as JSON.
    #[error("cannot write a snapshot manifest")]
    Manifest(#[from] serde_json::Error),
    /// The graph could not be built.
    #[error("cannot build the graph: {reason}; searches stay exact")]
    Build {
        /// Why not.
        reason: String,
    },
}
