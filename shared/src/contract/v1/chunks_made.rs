//! A batch of chunks: work for the embedder.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chunk::Chunk;
use super::work::{Batch, Work};

/// Batch `i of n` of a document's chunks. At most 64 chunks and 256 KiB of text, so that the
/// message with its vectors stays well under the bus limit of 1 MiB.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChunksMade {
    /// Whose work it is.
    pub work: Work,
    /// Which part of the document.
    pub batch: Batch,
    /// Chunks of the whole document.
    pub total_chunks: u32,
    /// SHA-256 (hex) of the tokenizer file the tokens were counted with.
    pub tokenizer_hash: String,
    /// The window the chunks were cut for, in tokens, special tokens included.
    pub window: u32,
    /// The chunks, in order.
    pub chunks: Vec<Chunk>,
}

impl ChunksMade {
    /// Most chunks in one batch.
    pub const MAX_CHUNKS: usize = 64;
    /// Most bytes of chunk text in one batch; a single larger chunk travels alone.
    pub const MAX_TEXT_BYTES: usize = 256 * 1024;
}
