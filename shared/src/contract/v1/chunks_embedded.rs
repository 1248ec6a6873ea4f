//! A batch of chunks with their vectors: work for the indexer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chunk::Chunk;
use super::vector::Vector;
use super::work::{Batch, Work};

/// The chunks of one [`super::ChunksMade`] with a vector each, in the same order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChunksEmbedded {
    /// Whose work it is.
    pub work: Work,
    /// Which part of the document.
    pub batch: Batch,
    /// Chunks of the whole document.
    pub total_chunks: u32,
    /// Length of each vector.
    pub dimension: u32,
    /// The chunks, in order.
    pub chunks: Vec<Chunk>,
    /// One unit-length vector per chunk.
    pub vectors: Vec<Vector>,
}
