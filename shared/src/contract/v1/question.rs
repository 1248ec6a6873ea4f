//! A question, for search or for an answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::generator::GeneratorId;
use super::retrieval::FusionMethod;
use super::search::Filter;
use crate::contract::ids::{ChunkId, DocumentId};

/// A question to the documents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The question, at most 8 KiB.
    pub text: String,
    /// Passages wanted, 1 to 100; 5 when 0.
    #[serde(default)]
    pub k: u32,
    /// Weight of the vector results, 0 (keyword only) to 1 (semantic only). When absent the
    /// setting's, and without one it follows what each engine can see of the question.
    #[serde(default)]
    pub semantic_weight: Option<f32>,
    /// How the engines' results are fused; the setting's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fusion: Option<FusionMethod>,
    /// Whether a cross-encoder orders the best passages again; the setting's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerank: Option<bool>,
    /// From 0 (relevance alone) to 1 (a passage from each document before a second from any); the
    /// setting's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diversity: Option<f32>,
    /// Whether the reply says why each candidate is in it or not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explain: bool,
    /// Documents the explanation is to cover, found or not, at most 10.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explain_documents: Vec<DocumentId>,
    /// Chunks the explanation is to cover, found or not, at most 10.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explain_chunks: Vec<ChunkId>,
    /// Where to look.
    #[serde(default)]
    pub filter: Filter,
    /// Who answers; the settings' when absent. Only for answers.
    #[serde(default)]
    pub generator: Option<GeneratorId>,
    /// What was asked and answered before, oldest first; the last six turns are read. Only for
    /// answers.
    #[serde(default)]
    pub history: Vec<Turn>,
}

/// A question and its whole answer. A failed answer is no turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// As asked.
    pub question: String,
    /// As answered, Markdown.
    pub answer: String,
}
