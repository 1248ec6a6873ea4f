//! What can be set. Section `query`.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use shared::contract::FusionMethod;

/// [`Settings::semantic_weight`] that follows what each engine can see.
const BY_SIGHT: f32 = -1.0;

/// Settings of the query service.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Passages in a reply when the question does not say.
    pub passages: u32,
    /// Weight of the vector results when the question does not say: 0 (keywords only) to 1 (meaning
    /// only), or −1 for one that follows what each engine can see of the question.
    pub semantic_weight: f32,
    /// How the engines' results are fused, when the question does not say: `average` or `rrf`.
    pub fusion: FusionMethod,
    /// From 0 (relevance alone) to 1 (a passage from each document before a second from any), when
    /// the question does not say.
    pub diversity: f32,
    /// How long the keyword engine may take, in milliseconds.
    pub keyword_deadline_ms: u64,
    /// How long embedding the question may take, in milliseconds; during ingestion it waits for
    /// the batch in hand.
    pub embed_deadline_ms: u64,
    /// How long the vector engine may take, in milliseconds.
    pub vector_deadline_ms: u64,
    /// Whether a cross-encoder orders the best passages again, when the question does not say.
    pub rerank: bool,
    /// How long reranking may take, in milliseconds; what is not reached keeps its place.
    pub rerank_budget_ms: u64,
    /// Tokens that a passage of an answer has with the text around it; 0 for the text that was
    /// found alone.
    pub expand_tokens: u32,
    /// How long the language model may take to make a follow-up a question of its own, in
    /// milliseconds; 0 to leave that to a rule.
    pub rewrite_deadline_ms: u64,
    /// Questions worked on at once; more are refused as busy.
    pub questions_in_flight: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            passages: 5,
            semantic_weight: BY_SIGHT,
            fusion: FusionMethod::Average,
            diversity: 0.0,
            keyword_deadline_ms: 3_000,
            embed_deadline_ms: 5_000,
            vector_deadline_ms: 3_000,
            rerank: false,
            rerank_budget_ms: 1_000,
            expand_tokens: 600,
            rewrite_deadline_ms: 3_000,
            questions_in_flight: 32,
        }
    }
}

impl Settings {
    /// The vector results' share where one is set, 0 to 1 if the settings hold.
    pub fn semantic_share(&self) -> Option<f32> {
        (self.semantic_weight.to_bits() != BY_SIGHT.to_bits()).then_some(self.semantic_weight)
    }

    pub(crate) fn keyword_deadline(&self) -> Duration {
        Duration::from_millis(self.keyword_deadline_ms)
    }

    pub(crate) fn embed_deadline(&self) -> Duration {
        Duration::from_millis(self.embed_deadline_ms)
    }

    pub(crate) fn vector_deadline(&self) -> Duration {
        Duration::from_millis(self.vector_deadline_ms)
    }

    pub(crate) fn rewrite_deadline(&self) -> Duration {
        Duration::from_millis(self.rewrite_deadline_ms)
    }

    /// The reranker keeps to its budget; this is for one that is not there.
    pub(crate) fn rerank_deadline(&self) -> Duration {
        Duration::from_millis(self.rerank_budget_ms + 1_000)
    }
}
