//! The receipt of a deletion.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::ids::DocumentId;

/// When a store no longer shows, and no longer holds, what was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StorePurge {
    /// `catalog`, `keyword`, `vector`, `blobs`, `streams`.
    pub store: String,
    /// Milliseconds since 1970 when no query could find it any more.
    pub hidden_ms: i64,
    /// Milliseconds since 1970 when the bytes were gone; `None` while that is still to come.
    pub purged_ms: Option<i64>,
}

/// What a deletion did, store by store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeletionReceipt {
    /// The document that was deleted.
    pub document_id: DocumentId,
    /// Its path.
    pub path: String,
    /// Chunks removed; 0 when another document holds the same content.
    pub chunks: u64,
    /// Store by store.
    pub stores: Vec<StorePurge>,
}
