//! A chunk: the unit that is embedded, found and cited.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A byte range of one Markdown page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    /// The page's number in the manifest, from 1.
    pub page: u32,
    /// First byte, on a character border.
    pub start: u32,
    /// One past the last byte, on a character border; more than `start`.
    pub end: u32,
}

/// A piece of a document that fits the embedding model's window.
///
/// The spans of all chunks of a version, in order, cover every byte of every page exactly once.
/// Neither heading path nor overlap is in the spans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Chunk {
    /// Number in reading order, from 0.
    pub index: u32,
    /// The headings above the chunk's first line, outermost first.
    pub heading_path: Vec<String>,
    /// `Section: A > B`, put before the text when it is embedded; shortened to leave room for
    /// the text, empty without headings.
    pub prefix: String,
    /// The end of the chunk before, repeated for context; may be empty.
    pub overlap: String,
    /// The spans' text, verbatim, joined without a separator.
    pub text: String,
    /// Where the text stands: one span, or more when small pieces merged or a sentence crosses a
    /// page border.
    pub spans: Vec<Span>,
    /// Tokens of [`Chunk::embed_input`] under the model's tokenizer, special tokens included.
    pub tokens: u32,
}

impl Chunk {
    /// What the model reads: prefix, overlap and text, each on a line of its own when present.
    pub fn embed_input(&self) -> String {
        let mut input =
            String::with_capacity(self.prefix.len() + self.overlap.len() + self.text.len() + 2);
        for part in [self.prefix.trim(), self.overlap.trim(), self.text.trim()] {
            if !part.is_empty() {
                if !input.is_empty() {
                    input.push('\n');
                }
                input.push_str(part);
            }
        }
        input
    }

    /// The page the chunk begins on, from 1; `None` for a chunk without spans, which no chunker
    /// makes.
    pub fn first_page(&self) -> Option<u32> {
        self.spans.first().map(|span| span.page)
    }
}
