//! Passages and answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::failure::ErrorBody;
use super::search::Hit;

/// A fused hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Passage {
    /// The chunk, where it stands, and its text; the score is the fused one.
    pub hit: Hit,
    /// `[name, p.4 — Pricing > Refunds]`.
    pub label: String,
    /// Rank in the keyword list, from 1.
    #[serde(default)]
    pub keyword_rank: Option<u32>,
    /// Rank in the vector list, from 1.
    #[serde(default)]
    pub vector_rank: Option<u32>,
}

/// Milliseconds per step of a question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timings {
    /// Embedding the question.
    pub embed_ms: f64,
    /// The keyword engine.
    pub keyword_ms: f64,
    /// The vector engine.
    pub vector_ms: f64,
    /// Fusing.
    pub fuse_ms: f64,
    /// All of it.
    pub total_ms: f64,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchReply {
    /// Best first, at most k.
    pub passages: Vec<Passage>,
    /// Where the time went.
    pub timings: Timings,
    /// What people should know, such as an engine that did not answer.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A citation within an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Citation {
    /// From 1, in the order of the passages.
    pub number: u32,
    /// `[name, p.4 — Pricing > Refunds]`.
    pub label: String,
}

/// One event of a streamed answer. `Sources` comes first, then `Token`s, then `Done` or
/// `Error`, once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum AnswerEvent {
    /// The passages the answer rests on.
    Sources {
        /// Best first.
        passages: Vec<Passage>,
    },
    /// A piece of the answer, Markdown.
    Token {
        /// To be put after the pieces before.
        text: String,
    },
    /// The end of a whole answer.
    Done {
        /// Which generator spoke, such as `extractive`.
        generator: String,
        /// Where the time went.
        timings: Timings,
        /// Whether anything was found to answer with.
        answered: bool,
        /// The passages quoted.
        citations: Vec<Citation>,
        /// What people should know.
        #[serde(default)]
        notes: Vec<String>,
    },
    /// The end of an answer that failed.
    Error {
        /// Why.
        error: ErrorBody,
    },
}
