//! Passages and answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chunk::Span;
use super::coverage::Coverage;
use super::failure::ErrorBody;
use super::generator::GeneratorId;
use super::locator::Locator;
use super::retrieval::{Explanation, Understood, Weighing};
use super::search::Hit;
use crate::contract::ids::{ChunkId, CollectionName, DocumentId};

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
    /// The cross-encoder's logit; absent when it was not reranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerank_score: Option<f32>,
    /// The chunks whose text is in it, in reading order; empty when it is the hit's alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<ChunkId>,
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
    /// Making a follow-up a question of its own.
    #[serde(default)]
    pub understand_ms: f64,
    /// Reranking.
    #[serde(default)]
    pub rerank_ms: f64,
    /// Fetching neighbours and packing.
    #[serde(default)]
    pub pack_ms: f64,
    /// From the question's arrival to the answer's first token; 0 in a search.
    #[serde(default)]
    pub first_token_ms: f64,
    /// From the first token to the last; 0 in a search.
    #[serde(default)]
    pub generate_ms: f64,
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
    /// What the question was taken to mean.
    #[serde(default)]
    pub understood: Understood,
    /// How the engines were weighed.
    #[serde(default)]
    pub weighing: Option<Weighing>,
    /// Why each candidate is in the reply or not, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// A passage an answer may rest on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// From 1, best first.
    pub number: u32,
    /// `[name, p.4 — Pricing > Refunds]`.
    pub label: String,
    /// As it is cited within the answer: `[name, p.4]`.
    pub citation: String,
    /// The fused score.
    pub score: f32,
    /// The beginning of its text, at most 500 characters.
    pub preview: String,
    /// The chunk.
    pub chunk_id: ChunkId,
    /// A visible document that holds it.
    pub document_id: DocumentId,
    /// The document's collection.
    pub collection: CollectionName,
    /// The document's path.
    pub path: String,
    /// The document's name.
    pub name: String,
    /// The headings above it.
    pub heading_path: Vec<String>,
    /// Where it stands: pages, and bytes of their Markdown.
    pub spans: Vec<Span>,
    /// The place of the first page it has words on.
    pub locator: Locator,
    /// Rank in the keyword list, from 1.
    #[serde(default)]
    pub keyword_rank: Option<u32>,
    /// Rank in the vector list, from 1.
    #[serde(default)]
    pub vector_rank: Option<u32>,
    /// How much of the document could be read; `None` when all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
}

/// A citation within an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Citation {
    /// The source's number.
    pub number: u32,
    /// As it stands in the answer: `[name, p.4]`.
    pub label: String,
}

/// What a generator has read and written, as far as it tells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TokenUsage {
    /// Tokens of the prompt.
    #[serde(default)]
    pub prompt_tokens: Option<u32>,
    /// Tokens of the answer.
    #[serde(default)]
    pub answer_tokens: Option<u32>,
    /// Answer tokens per second, from the first token to the last.
    #[serde(default)]
    pub tokens_per_second: Option<f64>,
}

/// What did not fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Sources the generator was not given, from the last one up.
    pub sources: u32,
    /// Earlier turns it was not given, from the first one on.
    pub turns: u32,
    /// Whether the answer ended at its limit of tokens.
    pub answer_cut: bool,
}

/// One event of a streamed answer. `Sources` comes first, then `Token`s, then `Done` or
/// `Error`, once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum AnswerEvent {
    /// The passages the answer rests on.
    Sources {
        /// Best first.
        sources: Vec<Source>,
        /// What the question was taken to mean.
        #[serde(default)]
        understood: Understood,
        /// Why each candidate is a source or not, if asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        explanation: Option<Explanation>,
    },
    /// A piece of the answer, Markdown.
    Token {
        /// To be put after the pieces before.
        text: String,
    },
    /// The end of a whole answer.
    Done {
        /// Who spoke.
        generator: GeneratorId,
        /// Where the time went.
        timings: Timings,
        /// What the generator has read and written.
        #[serde(default)]
        usage: TokenUsage,
        /// What did not fit.
        #[serde(default)]
        left_out: LeftOut,
        /// Whether anything was found to answer with.
        answered: bool,
        /// The sources cited, in the order of their first citation.
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
