//! The ledger of a document's pages, as the parser writes it beside them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::locator::Locator;
use crate::format::Format;

/// How a page was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadMethod {
    /// The format's own text.
    Native,
    /// A PDF's text layer, with structure.
    TextLayer,
    /// The second reader's plain text, because the first missed too much.
    Fallback,
    /// Optical character recognition.
    Ocr,
    /// Not read; the record says why.
    Missing,
}

/// One page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageRecord {
    /// From 1, in reading order; `page_{number:04}.md` is its blob.
    pub number: u32,
    /// Where it stands.
    pub locator: Locator,
    /// How it was read.
    pub method: ReadMethod,
    /// Characters of its Markdown.
    pub characters: u64,
    /// What may be wrong with it, in plain words; empty when nothing is.
    #[serde(default)]
    pub doubts: Vec<String>,
    /// Why it is missing; only with [`ReadMethod::Missing`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// All pages of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageManifest {
    /// How the bytes were read.
    pub format: Format,
    /// Version of the parser that wrote it.
    pub parser: String,
    /// The document's own title, when it has one.
    #[serde(default)]
    pub title: Option<String>,
    /// The pages, in order, without gaps.
    pub pages: Vec<PageRecord>,
    /// What concerns the whole document, such as a reader that was not there.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl PageManifest {
    /// The manifest's name in the version's blob folder.
    pub const FILE: &'static str = "pages.json";

    /// The blob folder of a version.
    pub fn folder(file_hash: &crate::contract::FileHash, parser: &str) -> String {
        format!("markdown/{file_hash}-{parser}")
    }

    /// The blob name of page `number` within the folder.
    pub fn page_file(number: u32) -> String {
        format!("page_{number:04}.md")
    }

    /// Numbers of the pages that could not be read.
    pub fn missing(&self) -> Vec<u32> {
        self.pages
            .iter()
            .filter(|page| page.method == ReadMethod::Missing)
            .map(|page| page.number)
            .collect()
    }
}
