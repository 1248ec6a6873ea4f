//! The chunks around a chunk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::search::{Filter, Hit};
use crate::contract::ids::ChunkId;

/// Asks for the chunks before and after visible chunks, in reading order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Neighbours {
    /// At most 100.
    pub chunks: Vec<ChunkId>,
    /// So many before each, at most 8.
    pub before: u32,
    /// So many after each, at most 8.
    pub after: u32,
    /// Which chunks may be told.
    #[serde(default)]
    pub filter: Filter,
}

/// The answer to [`Neighbours`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NeighbourList {
    /// For each chunk asked for, in that order: it and what stands around it, in reading order;
    /// empty for a chunk that is not visible. Scores are 0. Once a message is full, the rest of the
    /// chunks come without what stands around them.
    pub runs: Vec<Vec<Hit>>,
}
