//! Embedding a question.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::vector::Vector;
use crate::contract::ids::ModelId;

/// A question to embed; the embedder adds the model's query prompt itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmbedQuery {
    /// The question, at most 8 KiB; longer than the window is cut.
    pub text: String,
}

/// A question's vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueryVector {
    /// The model it comes from.
    pub model: ModelId,
    /// Unit length.
    pub vector: Vector,
    /// What the model could see of the question.
    #[serde(default)]
    pub sight: ModelSight,
}

/// How well a model's vocabulary covers a question: whole words that are known make one token
/// each, foreign ones fall to pieces. All 0 where it is not known, as of a model on a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelSight {
    /// Words of the question.
    pub words: u32,
    /// Its tokens, special tokens and prompt not counted.
    pub tokens: u32,
    /// Of these, tokens that stand for something unknown.
    pub unknown: u32,
}

/// What the embedder runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EncoderDescription {
    /// The model.
    pub model: ModelId,
    /// Length of its vectors.
    pub dimension: u32,
    /// Its window in tokens, special tokens included.
    pub window: u32,
    /// SHA-256 (hex) of its tokenizer file.
    pub tokenizer_hash: String,
}
