//! The pages of a document as one text, and the way back from it to the pages.

use std::ops::Range;

use shared::contract::Span;

use crate::ChunkError;

/// A page as the chunker reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageText {
    /// Its number in the manifest, from 1.
    pub number: u32,
    /// Its Markdown.
    pub markdown: String,
}

/// All pages, joined without a separator. Offsets are bytes of the joined text.
pub(crate) struct Document {
    text: String,
    pages: Vec<Page>,
}

/// Where a page lies in the joined text.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    number: u32,
    pub(crate) range: Range<usize>,
}

impl Document {
    pub(crate) fn join(pages: &[PageText]) -> Result<Self, ChunkError> {
        let mut text = String::with_capacity(pages.iter().map(|page| page.markdown.len()).sum());
        let mut places = Vec::with_capacity(pages.len());
        for page in pages {
            let bytes = page.markdown.len();
            if u32::try_from(bytes).is_err() {
                return Err(ChunkError::PageTooLarge {
                    page: page.number,
                    bytes,
                });
            }
            let start = text.len();
            text.push_str(&page.markdown);
            places.push(Page {
                number: page.number,
                range: start..text.len(),
            });
        }
        Ok(Self {
            text,
            pages: places,
        })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// The text in `range`; empty for a range that is not on character borders, which no caller
    /// makes.
    pub(crate) fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// Index of the page that holds the byte at `offset`; empty pages hold none.
    pub(crate) fn page_at(&self, offset: usize) -> usize {
        self.pages.partition_point(|page| page.range.end <= offset)
    }

    /// `range` page by page.
    pub(crate) fn spans(&self, range: &Range<usize>) -> Vec<Span> {
        self.pages
            .iter()
            .skip(self.page_at(range.start))
            .take_while(|page| page.range.start < range.end)
            .filter_map(|page| {
                let start = range.start.max(page.range.start) - page.range.start;
                let end = range
                    .end
                    .min(page.range.end)
                    .saturating_sub(page.range.start);
                let (start, end) = (u32::try_from(start).ok()?, u32::try_from(end).ok()?);
                (start < end).then_some(Span {
                    page: page.number,
                    start,
                    end,
                })
            })
            .collect()
    }
}
