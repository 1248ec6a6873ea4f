//! What every ingestion message carries: whose work it is and under which pipeline.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::ids::{DocumentId, FileHash, Generation, ModelId};
use crate::format::Format;

/// The pipeline fingerprint: which parser, chunker and model a version is made with. Work of
/// another fingerprint than the indexer's own is dropped as superseded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Pipeline {
    /// Version of the parser's output, such as `p2`.
    pub parser: String,
    /// Version of the chunker's output, such as `c2`.
    pub chunker: String,
    /// The embedding model.
    pub model: ModelId,
}

impl Pipeline {
    /// Version of what this build's parser writes. Raise it when the same bytes would give other
    /// pages; what an earlier one made stays as it is, marked outdated, until it is read again.
    pub const PARSER: &'static str = "p2";
    /// Version of what this build's chunker makes. Raise it when the same pages would give other
    /// chunks.
    pub const CHUNKER: &'static str = "c2";

    /// This build's pipeline with `model`.
    pub fn current(model: ModelId) -> Self {
        Self {
            parser: Self::PARSER.to_owned(),
            chunker: Self::CHUNKER.to_owned(),
            model,
        }
    }
}

/// Whose work a message is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// The document it is done for.
    pub document_id: DocumentId,
    /// The document's generation when the work was handed out.
    pub generation: Generation,
    /// The version being made.
    pub file_hash: FileHash,
    /// How the bytes are read.
    pub format: Format,
    /// The pipeline the version is made with.
    pub pipeline: Pipeline,
    /// Counts the times the feeder has handed this generation out, from 1.
    pub attempt: u32,
}

/// Batch `index` (from 0) of `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Batch {
    /// From 0.
    pub index: u32,
    /// At least 1, the same in all batches of a version.
    pub count: u32,
}
