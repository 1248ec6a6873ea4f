//! The catalog has taken a document in: work for the parser.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::admit::SealedPassword;
use super::work::Work;
use crate::contract::ids::Sha256Hex;

/// A document waits to be parsed; its bytes lie in the blob store as `originals/{content}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentAdmitted {
    /// Whose work it is.
    pub work: Work,
    /// Names the original.
    pub content: Sha256Hex,
    /// The file's own name, for messages and for the extension; never its path.
    pub name: String,
    /// What opens the document, if it is locked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<SealedPassword>,
}
