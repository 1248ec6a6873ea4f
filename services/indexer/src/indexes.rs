//! The two derived indexes as the rest of the indexer uses them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::chunk_set::{AllowedChunks, ChunkKey};
use crate::keyword::KeywordIndex;
use crate::vector::{VectorChanges, VectorError, VectorIndex};

/// Opens the vector index for vectors of a length.
pub type OpenVector = dyn Fn(usize) -> Result<Arc<dyn VectorIndex>, VectorError> + Send + Sync;

/// Both indexes.
pub struct Indexes {
    /// Finds chunks by words.
    pub keyword: Arc<dyn KeywordIndex>,
    /// Finds chunks by vectors.
    pub vector: VectorSlot,
}

/// The vector index, which is opened once the length of the vectors is known: with the first
/// version of an empty catalog.
pub struct VectorSlot {
    open: Box<OpenVector>,
    index: RwLock<Option<Arc<dyn VectorIndex>>>,
    /// The change that an index which is not there has passed.
    passed: AtomicU64,
}

impl VectorSlot {
    /// A slot; opened at once when `dimension` is known.
    ///
    /// # Errors
    /// When the index cannot be opened.
    pub fn new(open: Box<OpenVector>, dimension: Option<usize>) -> Result<Self, VectorError> {
        let index = dimension.map(&open).transpose()?;
        Ok(Self {
            open,
            index: RwLock::new(index),
            passed: AtomicU64::new(0),
        })
    }

    /// The index, once it is open.
    pub fn get(&self) -> Option<Arc<dyn VectorIndex>> {
        self.index.read().clone()
    }

    /// The change it has passed.
    pub fn sequence(&self) -> u64 {
        self.get().map_or_else(
            || self.passed.load(Ordering::Acquire),
            |index| index.sequence(),
        )
    }

    /// Length of its vectors, once known.
    pub fn dimension(&self) -> Option<usize> {
        self.get().map(|index| index.dimension())
    }

    /// Applies a batch, and opens the index for the first vector.
    ///
    /// # Errors
    /// When the index cannot be opened or refuses the batch.
    pub fn apply(&self, changes: &VectorChanges) -> Result<(), VectorError> {
        if let Some(index) = self.get() {
            return index.apply(changes);
        }
        let Some((_, vector)) = changes.upserts.first() else {
            self.passed.store(changes.sequence, Ordering::Release);
            return Ok(());
        };
        let opened = (self.open)(vector.len())?;
        // A snapshot from before a catalog that knew no vectors any more.
        opened.clear()?;
        opened.apply(changes)?;
        *self.index.write() = Some(opened);
        Ok(())
    }

    /// Empties it for a rebuild.
    ///
    /// # Errors
    /// When the index cannot be emptied.
    pub fn clear(&self) -> Result<(), VectorError> {
        self.passed.store(0, Ordering::Release);
        self.get().map_or(Ok(()), |index| index.clear())
    }

    /// The nearest chunks; none while there are no vectors.
    ///
    /// # Errors
    /// When the query does not fit the index.
    pub fn search(
        &self,
        query: &[f32],
        k: usize,
        allowed: Option<&AllowedChunks>,
    ) -> Result<Vec<(ChunkKey, f32)>, VectorError> {
        self.get()
            .map_or_else(|| Ok(Vec::new()), |index| index.search(query, k, allowed))
    }

    /// All keys, ascending.
    pub fn keys(&self) -> Vec<ChunkKey> {
        self.get().map(|index| index.keys()).unwrap_or_default()
    }

    /// How it searches now.
    pub fn describe(&self) -> String {
        self.get()
            .map_or_else(|| "exact".to_owned(), |index| index.describe())
    }
}
