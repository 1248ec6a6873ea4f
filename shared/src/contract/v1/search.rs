//! Searching one engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chunk::Span;
use super::coverage::Coverage;
use super::locator::Locator;
use super::vector::Vector;
use crate::contract::ids::{ChunkId, CollectionName, Date, DocumentId, ModelId};
use crate::format::Format;
use crate::language::Language;

/// Which chunks may be found. Empty lists mean no restriction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Filter {
    /// Only in these collections.
    #[serde(default)]
    pub collections: Vec<CollectionName>,
    /// Only in these documents.
    #[serde(default)]
    pub documents: Vec<DocumentId>,
    /// Only documents whose path begins so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_prefix: Option<String>,
    /// Only documents of these formats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formats: Vec<Format>,
    /// Only documents dated this day or later; the date is the file's own where it is known, else
    /// the day it was added. Both in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Date>,
    /// Only documents dated this day or earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Date>,
    /// Only documents in these languages; one whose language could not be told is in none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<Language>,
}

impl Filter {
    /// Whether everything may be found.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A search by words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeywordSearch {
    /// The question as typed.
    pub text: String,
    /// Hits wanted, 1 to 1,000.
    pub k: u32,
    /// Which chunks.
    #[serde(default)]
    pub filter: Filter,
    /// Phrases that count more where they stand word for word; parts of `text`.
    #[serde(default)]
    pub phrases: Vec<String>,
    /// The question's language, where it is known.
    #[serde(default)]
    pub language: Option<Language>,
}

/// A nearest-neighbour search by cosine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VectorSearch {
    /// The model the vector comes from; another than the index's is refused.
    pub model: ModelId,
    /// Unit length.
    pub vector: Vector,
    /// Hits wanted, 1 to 1,000.
    pub k: u32,
    /// Which chunks.
    #[serde(default)]
    pub filter: Filter,
}

/// A chunk found, joined to the catalog: no hit of a deleted document leaves the indexer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// The chunk.
    pub chunk_id: ChunkId,
    /// A visible document that holds it.
    pub document_id: DocumentId,
    /// The document's collection.
    pub collection: CollectionName,
    /// The document's path.
    pub path: String,
    /// The document's name.
    pub name: String,
    /// The headings above it.
    pub heading_path: Vec<String>,
    /// Header and rule of the table that its text goes on from, not part of the text; empty for
    /// all other text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub table_header: String,
    /// Its text, verbatim.
    pub text: String,
    /// Where it stands.
    pub spans: Vec<Span>,
    /// The place of the first page it has words on.
    pub locator: Locator,
    /// BM25 score, or cosine in −1…1.
    pub score: f32,
    /// How much of the document could be read; `None` when all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
}

/// Hits, best first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hits {
    /// At most k.
    pub hits: Vec<Hit>,
    /// Milliseconds in the engine, the catalog's join included.
    pub took_ms: f64,
    /// What the engine could see of the question.
    #[serde(default)]
    pub sight: Sight,
    /// What people should know, such as that no document matches the filter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What a keyword engine could see of a question: by it the engines are weighed. All 0 where an
/// engine does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sight {
    /// Terms of the question that were searched for.
    pub terms: u32,
    /// Of these, the terms that stand in some chunk.
    pub known: u32,
}
