//! A question, for search or for an answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::generator::GeneratorId;
use super::search::Filter;

/// A question to the documents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The question, at most 8 KiB.
    pub text: String,
    /// Passages wanted, 1 to 100; 5 when 0.
    #[serde(default)]
    pub k: u32,
    /// Weight of the vector results, 0 (keyword only) to 1 (semantic only); the setting's when
    /// absent.
    #[serde(default)]
    pub semantic_weight: Option<f32>,
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
