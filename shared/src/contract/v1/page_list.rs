//! The page ledger of a document, page by page, with the chunks that stand on each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::page::PageRecord;
use crate::contract::ids::{ChunkId, DocumentId};

/// Asks for the pages of the version a document shows now, in reading order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListPages {
    /// The document.
    pub document: DocumentId,
    /// Only pages after this number, from the answer before; 0 for the first.
    #[serde(default)]
    pub after: u32,
    /// At most so many, 1 to 500; 100 when 0. Large pages make it fewer.
    #[serde(default)]
    pub limit: u32,
    /// Only pages that could not be read.
    #[serde(default)]
    pub missing: bool,
}

/// A page with the chunks that stand on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageView {
    /// How it was read.
    #[serde(flatten)]
    pub record: PageRecord,
    /// The chunks that stand on it, in order, at most [`PageView::MOST_CHUNKS`]; none for a page
    /// that is empty or missing.
    #[serde(default)]
    pub chunks: Vec<ChunkId>,
}

impl PageView {
    /// Chunks told of one page at most.
    pub const MOST_CHUNKS: usize = 1_000;
}

/// A part of a page ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageList {
    /// The pages.
    pub pages: Vec<PageView>,
    /// For [`ListPages::after`]; `None` on the last part.
    #[serde(default)]
    pub next: Option<u32>,
    /// All pages that match, on all parts.
    pub total: u32,
    /// The blob folder their Markdown lies in, `markdown/{file_hash}-{parser}`; empty while the
    /// document shows no version.
    #[serde(default)]
    pub folder: String,
}
