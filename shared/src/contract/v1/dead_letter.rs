//! Work that will not be tried again by itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::failure::ErrorBody;
use crate::contract::ids::{DocumentId, Generation};
use crate::contract::subject::Stage;

/// A rejected message, with the reason. Written before the work is given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeadLetter {
    /// The stage that gave up.
    pub stage: Stage,
    /// The document, from the subject.
    pub document_id: DocumentId,
    /// Its generation; `None` when the message did not decode.
    pub generation: Option<Generation>,
    /// Deliveries until then.
    pub deliveries: u64,
    /// Why.
    pub error: ErrorBody,
}
