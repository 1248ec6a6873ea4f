//! Taking a document in.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::ids::{CollectionName, DocumentId, Generation, Sha256Hex};
use crate::format::Format;

/// A document's password as it may be stored and sent: sealed with the key of the data folder
/// ([`crate::secret`]), of no use without it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SealedPassword(pub String);

/// Says nothing: sealed or not, it has no place in a log.
impl fmt::Debug for SealedPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealedPassword(…)")
    }
}

/// Bytes that already lie in the blob store become a document, or a new version of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Admit {
    /// Where the document lives in the user's world: an absolute file path, or
    /// `upload://collection/relative-name` from a browser. Its identity within the collection.
    pub path: String,
    /// The collection.
    #[serde(default)]
    pub collection: CollectionName,
    /// Names the original in the blob store.
    pub content: Sha256Hex,
    /// Bytes of the original.
    pub bytes: u64,
    /// How it will be read.
    pub format: Format,
    /// Do all work again even if nothing changed.
    #[serde(default)]
    pub force: bool,
    /// What opens the document, if it is locked; takes the place of an earlier one. With it, a
    /// failed or partly readable document of the same bytes is read again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<SealedPassword>,
    /// When the file was last written, in milliseconds since 1970, where that is known: its date
    /// for filters. Without it the date stays while the bytes do, and is else the admission's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_ms: Option<i64>,
}

/// What an admission led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A path not seen before.
    New,
    /// A known path with other bytes, or forced.
    Changed,
    /// A known path with the same bytes that is searchable or on its way.
    Unchanged,
}

/// The answer to [`Admit`], given after the queued row is durable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Admitted {
    /// The document.
    pub document_id: DocumentId,
    /// Its generation now.
    pub generation: Generation,
    /// What happened.
    pub outcome: Outcome,
}
