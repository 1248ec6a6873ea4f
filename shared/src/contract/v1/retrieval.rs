//! How passages are chosen, and why: fusion, understanding of the question, explanation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::ids::{ChunkId, DocumentId};
use crate::language::Language;

/// How the results of both engines become one list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FusionMethod {
    /// Weighted reciprocal rank fusion, k = 60: ranks alone count.
    Rrf,
    /// Weighted average of the scores, each list brought to 0…1.
    Average,
}

/// What a question was taken to mean.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Understood {
    /// What was searched for: the question itself, or a follow-up with its topic put back.
    pub text: String,
    /// Who wrote `text` when it is not the question as asked.
    #[serde(default)]
    pub rewritten: Option<Rewriter>,
    /// Its language, when it can be told.
    #[serde(default)]
    pub language: Option<Language>,
    /// Phrases in quotation marks, which passages must have word for word.
    #[serde(default)]
    pub phrases: Vec<String>,
    /// Identifiers, numbers of forms and error codes, as typed.
    #[serde(default)]
    pub identifiers: Vec<String>,
}

/// Who made a follow-up a question of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rewriter {
    /// The language model.
    Generator,
    /// A rule that carries the topic's words over.
    Rule,
}

/// How the engines were weighed for a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Weighing {
    /// How the lists were fused.
    pub method: FusionMethod,
    /// The vector list's share, 0 to 1.
    pub semantic_weight: f32,
    /// Why, in words for people.
    pub reason: String,
}

/// Rank and score in one list.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Standing {
    /// From 1; absent when the list does not go so far.
    #[serde(default)]
    pub rank: Option<u32>,
    /// The list's own score.
    pub score: f32,
}

/// What became of a candidate, with the reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Decision {
    /// It is a passage of the reply.
    Packed {
        /// The passage's place, from 1.
        position: u32,
    },
    /// Its text is part of a neighbour's passage.
    Merged {
        /// The passage's place, from 1.
        position: u32,
    },
    /// The same text stands in the reply already.
    Duplicate {
        /// The chunk that was kept.
        of: ChunkId,
    },
    /// It was found and left out.
    Dropped {
        /// Why, in words for people.
        reason: String,
    },
    /// No engine found it.
    NotFound {
        /// Why, in words for people.
        reason: String,
    },
}

/// A candidate's way through a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CandidateExplanation {
    /// The chunk.
    pub chunk_id: ChunkId,
    /// A visible document that holds it.
    pub document_id: DocumentId,
    /// `[name, p.4 — Pricing > Refunds]`.
    pub label: String,
    /// In the keyword list; the score is BM25's.
    #[serde(default)]
    pub keyword: Option<Standing>,
    /// In the vector list; the score is the cosine.
    #[serde(default)]
    pub vector: Option<Standing>,
    /// In the fused list.
    #[serde(default)]
    pub fused: Option<Standing>,
    /// In the reranked list; absent when it was not reranked.
    #[serde(default)]
    pub reranked: Option<Standing>,
    /// Whether it passed the relevance gate; absent where none is set.
    #[serde(default)]
    pub gate: Option<bool>,
    /// What became of it.
    #[serde(flatten)]
    pub decision: Decision,
}

/// Why a reply holds what it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// The engines' weights.
    pub weighing: Weighing,
    /// Every candidate, best first, and then what was asked about.
    pub candidates: Vec<CandidateExplanation>,
}
