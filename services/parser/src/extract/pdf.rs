//! PDF with two readers: pdf-inspector for structure, PDFium to check it and to fill what it left
//! out. Each may fail or be absent; the other then stands alone and the notes say so.

mod facts;
mod first;
mod labels;
mod merge;
mod second;
mod squeeze;

use shared::contract::{Locator, PageRecord, ReadMethod};

use self::facts::Facts;
use self::first::{FirstError, FirstPage};
use self::second::{SecondError, SecondPage};
use super::{
    ExtractError, ExtractedPage, Extraction, Extractor, Input, SecondReader, count_characters,
};

pub use merge::Merging;

/// Reads PDFs.
pub struct PdfExtractor {
    second: SecondReader,
    merging: Merging,
}

impl PdfExtractor {
    /// An extractor that checks against `second` and merges by `merging`.
    pub fn new(second: SecondReader, merging: Merging) -> Self {
        Self { second, merging }
    }

    fn read_second(&self, bytes: &[u8]) -> Result<Vec<SecondPage>, SecondError> {
        match &self.second {
            SecondReader::Library(path) => second::read(path, bytes),
            SecondReader::Absent(why) => Err(SecondError::Absent(why.clone())),
        }
    }
}

impl Extractor for PdfExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let facts = Facts::read(input.bytes);
        let second = self.read_second(input.bytes);
        let first = first::read(input.bytes);
        let mut notes = Vec::new();
        let (first, second) = match (first, second) {
            (_, Err(SecondError::Locked)) | (Err(FirstError::Locked), Err(_)) => {
                return Err(ExtractError::PasswordNeeded);
            }
            (Err(error), Err(_)) => {
                return Err(ExtractError::Damaged {
                    what: error.to_string(),
                });
            }
            (Err(error), Ok(second)) => {
                notes.push(format!("read with PDFium alone: {error}"));
                (Vec::new(), second)
            }
            (Ok(first), Err(error)) => {
                notes.push(format!("read without PDFium: {error}"));
                (first, Vec::new())
            }
            (Ok(first), Ok(second)) => (first, second),
        };
        let count = first.len().max(second.len());
        let pages = (0..count)
            .map(|index| {
                let merged = match (first.get(index), second.get(index)) {
                    (first, Some(second)) => self.merging.both(first, second),
                    (Some(first), None) => alone(first, index, &facts),
                    (None, None) => Merged::missing("neither reader has this page"),
                };
                record(index, merged, &facts)
            })
            .collect();
        Ok(Extraction {
            title: facts.title,
            pages,
            notes,
        })
    }
}

/// A page's text with how it came about.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Merged {
    markdown: String,
    method: ReadMethod,
    doubts: Vec<String>,
    error: Option<String>,
}

impl Merged {
    fn read(markdown: String, method: ReadMethod) -> Self {
        Self {
            markdown,
            method,
            doubts: Vec::new(),
            error: None,
        }
    }

    fn missing(why: &str) -> Self {
        Self {
            markdown: String::new(),
            method: ReadMethod::Missing,
            doubts: Vec::new(),
            error: Some(why.to_owned()),
        }
    }

    fn blank() -> Self {
        Self::read(String::new(), ReadMethod::TextLayer).doubt("the page is blank".to_owned())
    }

    fn doubt(mut self, doubt: String) -> Self {
        self.doubts.push(doubt);
        self
    }
}

/// A page that only pdf-inspector can give; lopdf's plain text stands in where it gives none.
fn alone(first: &FirstPage, index: usize, facts: &Facts) -> Merged {
    if !first.markdown.is_empty() {
        return Merged::read(first.markdown.clone(), ReadMethod::TextLayer);
    }
    if let Some(text) = facts.plain_text(index) {
        let merged = Merged::read(text, ReadMethod::Fallback);
        return match first.reason {
            Some(reason) => merged.doubt(reason.doubt().to_owned()),
            None => merged,
        };
    }
    match first.reason {
        Some(reason) => Merged::missing(reason.error()),
        None if facts.is_blank(index) => Merged::blank(),
        None => Merged::missing("needs OCR: no text layer"),
    }
}

fn record(index: usize, merged: Merged, facts: &Facts) -> ExtractedPage {
    let number = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
    let label = facts.labels.get(&number).cloned();
    ExtractedPage {
        record: PageRecord {
            number,
            locator: Locator::PdfPage {
                physical: number,
                label,
            },
            method: merged.method,
            characters: count_characters(&merged.markdown),
            doubts: merged.doubts,
            error: merged.error,
        },
        markdown: merged.markdown,
    }
}
