//! What the catalog tells of its documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::failure::ErrorBody;
use super::page::PageRecord;
use crate::contract::ids::{CollectionName, DocumentId, FileHash, Generation, Sha256Hex};
use crate::format::Format;
use crate::language::Language;

/// Where a document stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocumentState {
    /// Waits for its turn.
    Queued,
    /// Its pages are being read.
    Parsing,
    /// Its chunks are being made.
    Chunking,
    /// Its vectors are being made.
    Embedding,
    /// Committed; the indexes are catching up.
    Indexing,
    /// Searchable, every page read.
    Ready,
    /// Searchable, some pages missing.
    Partial,
    /// Not searchable; the error says why and what to do.
    Failed,
}

impl DocumentState {
    /// Whether no more work is coming by itself.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Ready | Self::Partial | Self::Failed)
    }
}

/// One document as shown to people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentView {
    /// The document.
    pub id: DocumentId,
    /// Its generation.
    pub generation: Generation,
    /// Its collection.
    pub collection: CollectionName,
    /// Its path.
    pub path: String,
    /// The last part of its path.
    pub name: String,
    /// How it is read.
    pub format: Format,
    /// Bytes of the original.
    pub bytes: u64,
    /// Hash of the original.
    pub content: Sha256Hex,
    /// The version last admitted.
    pub file_hash: FileHash,
    /// Where it stands.
    pub state: DocumentState,
    /// Whether some version of it can be found now (an older one may, while a newer is made).
    pub searchable: bool,
    /// Pages, 0 until parsed.
    pub pages: u32,
    /// Numbers of pages that could not be read: the first 1,000, in a listing the first 100.
    #[serde(default)]
    pub missing_pages: Vec<u32>,
    /// How many pages could not be read.
    #[serde(default)]
    pub missing_count: u32,
    /// Chunks; of the batches that have arrived while it is being made.
    pub chunks: u32,
    /// Tokens of its chunks.
    pub tokens: u64,
    /// Why it failed.
    #[serde(default)]
    pub error: Option<ErrorBody>,
    /// Milliseconds since 1970 when it was first admitted.
    pub added_ms: i64,
    /// Milliseconds since 1970 when its current version became visible.
    #[serde(default)]
    pub indexed_ms: Option<i64>,
    /// Milliseconds since 1970 when its file was last written; where that is not known, when it
    /// was admitted.
    #[serde(default)]
    pub modified_ms: i64,
    /// The language of the text that can be found, when it can be told.
    #[serde(default)]
    pub language: Option<Language>,
    /// Whether what it shows was made by an earlier parser or chunker than this program's. It
    /// stays so until it is read again on request ([`Retry`]), or its bytes change.
    #[serde(default)]
    pub outdated: bool,
    /// What concerns the whole document, such as a reader that was not there; only in the view of
    /// a single document.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The first 100 pages of the ledger; only in the view of a single document. All of it is in
    /// [`super::PageList`].
    #[serde(default)]
    pub page_ledger: Vec<PageRecord>,
}

/// Asks for documents in the order they were admitted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListDocuments {
    /// Only of this collection.
    #[serde(default)]
    pub collection: Option<CollectionName>,
    /// Only in this state.
    #[serde(default)]
    pub state: Option<DocumentState>,
    /// Only these documents (at most 1,000).
    #[serde(default)]
    pub ids: Vec<DocumentId>,
    /// Only those after this cursor, from the page before.
    #[serde(default)]
    pub after: Option<String>,
    /// At most so many, 1 to 500; 100 when 0.
    #[serde(default)]
    pub limit: u32,
}

/// A page of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentPage {
    /// The documents.
    pub documents: Vec<DocumentView>,
    /// For [`ListDocuments::after`]; `None` on the last page.
    pub next: Option<String>,
    /// All documents that match, on all pages.
    pub total: u64,
}

/// Asks to read documents again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// One document, whatever its state.
    Document(DocumentId),
    /// Every failed document.
    AllFailed,
    /// Every document that shows what an earlier parser or chunker made.
    Outdated,
}

/// The documents that were queued again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Retried {
    /// Their ids.
    pub documents: Vec<DocumentId>,
}

/// Documents per state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateCounts {
    /// Waiting.
    pub queued: u64,
    /// In any stage.
    pub working: u64,
    /// Ready.
    pub ready: u64,
    /// Partial.
    pub partial: u64,
    /// Failed.
    pub failed: u64,
}

/// The catalog as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CatalogStatus {
    /// Documents per state.
    pub documents: StateCounts,
    /// Visible pages.
    pub pages: u64,
    /// Visible chunks.
    pub chunks: u64,
    /// Tokens of the visible chunks.
    pub tokens: u64,
    /// Collections with their number of documents.
    pub collections: Vec<(CollectionName, u64)>,
    /// The catalog's change sequence.
    pub sequence: u64,
    /// The sequence the keyword index has applied.
    pub keyword_sequence: u64,
    /// The sequence the vector index has applied.
    pub vector_sequence: u64,
    /// The keyword engine in use.
    pub keyword_engine: String,
    /// The vector engine in use and how it searches now, such as `exact`.
    pub vector_engine: String,
    /// Dead letters that no retry has taken up.
    pub dead_letters: u64,
    /// Visible pages that could not be read.
    #[serde(default)]
    pub missing_pages: u64,
    /// Documents that show what an earlier parser or chunker made.
    #[serde(default)]
    pub outdated: u64,
}
