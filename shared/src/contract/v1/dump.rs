//! Everything visible, row by row: what the kill and scale tests compare.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chunk::Span;
use super::vector::Vector;
use crate::contract::ids::{ChunkId, CollectionName};

/// Asks for rows after a cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DumpRequest {
    /// From the page before.
    #[serde(default)]
    pub after: Option<String>,
}

/// A visible chunk of a visible document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DumpRow {
    /// The collection.
    pub collection: CollectionName,
    /// The document's path.
    pub path: String,
    /// The chunk.
    pub chunk_id: ChunkId,
    /// Where it stands.
    pub spans: Vec<Span>,
    /// Its heading path.
    pub heading_path: Vec<String>,
    /// Its text.
    pub text: String,
    /// Its vector.
    pub vector: Vector,
}

/// A page of rows in the order of collection, path and chunk number, under 1 MiB.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DumpPage {
    /// The rows.
    pub rows: Vec<DumpRow>,
    /// For [`DumpRequest::after`]; `None` on the last page.
    pub next: Option<String>,
}
