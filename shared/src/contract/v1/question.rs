//! A question, for search or for an answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::search::Filter;

/// A question to the documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
}
