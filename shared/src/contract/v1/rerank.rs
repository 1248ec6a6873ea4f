//! Ordering passages again by a cross-encoder.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::ids::ModelId;

/// Asks for the relevance of passages to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rerank {
    /// The question, at most 8 KiB.
    pub text: String,
    /// The passages, best first, at most 200.
    pub passages: Vec<String>,
    /// Milliseconds to spend; what is not reached then has no score.
    pub budget_ms: u64,
}

/// The answer to [`Rerank`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reranked {
    /// The cross-encoder.
    pub model: ModelId,
    /// One per passage, in the order asked: its logit, or `None` when the time was over.
    pub scores: Vec<Option<f32>>,
    /// Milliseconds it took.
    pub took_ms: f64,
}
