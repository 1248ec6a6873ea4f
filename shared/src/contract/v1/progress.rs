//! How far a document has come; sent without storing, for whoever listens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::ids::{DocumentId, Generation};
use crate::contract::subject::Stage;

/// A stage has done its part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StageProgress {
    /// The document.
    pub document_id: DocumentId,
    /// Its generation.
    pub generation: Generation,
    /// The stage that has finished.
    pub stage: Stage,
    /// Pages found so far, 0 when not known.
    #[serde(default)]
    pub pages: u32,
    /// Chunks made so far, 0 when not known.
    #[serde(default)]
    pub chunks: u32,
}
