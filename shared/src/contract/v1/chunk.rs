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

impl Span {
    /// The pages of `spans`, each with its part of `text`, that have words, in order; all pages
    /// when none has. White space and rules at the edge of a page are no reason to cite it.
    pub fn pages_with_words(spans: &[Self], text: &str) -> Vec<u32> {
        let mut at = 0;
        let mut worded = Vec::with_capacity(spans.len());
        for span in spans {
            let end = at + span.end.saturating_sub(span.start) as usize;
            let part = text.get(at..end).unwrap_or_default();
            if part.contains(char::is_alphanumeric) {
                worded.push(span.page);
            }
            at = end;
        }
        if worded.is_empty() {
            worded.extend(spans.iter().map(|span| span.page));
        }
        worded
    }
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
    /// Repeated for context: the end of the chunk before, or the header of the table that goes
    /// on; may be empty.
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

    /// `overlap` when it is the header of a table: rows of cells, the last of them the rule below
    /// the header; else nothing.
    pub fn table_header(overlap: &str) -> &str {
        let mut lines = overlap.lines().map(str::trim).rev();
        let rule = lines.next().is_some_and(is_table_rule);
        let header: Vec<&str> = lines.collect();
        let is_header =
            rule && !header.is_empty() && header.iter().all(|line| line.starts_with('|'));
        if is_header { overlap } else { "" }
    }

    /// The page the chunk begins on, from 1; `None` for a chunk without spans, which no chunker
    /// makes.
    pub fn first_page(&self) -> Option<u32> {
        self.spans.first().map(|span| span.page)
    }
}

/// Whether `line` is what Markdown puts below the header of a table: `|---|:---:|`.
pub fn is_table_rule(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|')
        && line.contains('-')
        && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}
