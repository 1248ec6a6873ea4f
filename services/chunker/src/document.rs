//! The pages of a document as one text, and the way back from it to the pages.

use std::ops::Range;

use shared::contract::{Locator, Span};

use crate::ChunkError;

/// A page as the chunker reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageText {
    /// Its number in the manifest, from 1.
    pub number: u32,
    /// Where it stands.
    pub locator: Locator,
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
    /// Pages of one place follow each other; text of two places is never put together.
    pub(crate) place: usize,
    pub(crate) border: Border,
}

/// What lies between a page and the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Border {
    /// The text goes on, as over the pages of a PDF.
    None,
    /// Another place under the same headings, as the next file of a book.
    Place,
    /// Another place, with headings of its own: the next slide, sheet, message, file.
    Fresh,
}

impl Border {
    fn between(before: &Locator, after: &Locator) -> Self {
        use Locator::{Block, Entry, Part, PdfPage, Section};
        match (before, after) {
            (PdfPage { .. }, PdfPage { .. })
            | (Section { .. } | Block { .. }, Section { .. } | Block { .. }) => Self::None,
            (
                Entry { path, inner },
                Entry {
                    path: other,
                    inner: within,
                },
            ) if path == other => Self::between(inner, within),
            _ if before == after => Self::None,
            (Part { .. }, Part { .. }) => Self::Place,
            _ => Self::Fresh,
        }
    }
}

impl Document {
    pub(crate) fn join(pages: &[PageText]) -> Result<Self, ChunkError> {
        let mut text = String::with_capacity(pages.iter().map(|page| page.markdown.len()).sum());
        let mut places: Vec<Page> = Vec::with_capacity(pages.len());
        let mut before: Option<&Locator> = None;
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
            let border = before.map_or(Border::None, |before| {
                Border::between(before, &page.locator)
            });
            let place = places.last().map_or(0, |last| last.place);
            places.push(Page {
                number: page.number,
                range: start..text.len(),
                place: place + usize::from(border != Border::None),
                border,
            });
            before = Some(&page.locator);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_part_where_a_citation_would_blur() {
        #[track_caller]
        #[expect(clippy::needless_pass_by_value, reason = "the cases read better")]
        fn check(before: Locator, after: Locator, expect: Border) {
            assert_eq!(
                Border::between(&before, &after),
                expect,
                "{before:?} {after:?}"
            );
        }
        let pdf = |physical| Locator::PdfPage {
            physical,
            label: None,
        };
        let slide = |number| Locator::Slide { number };
        let sheet = |first, last| Locator::Sheet {
            name: "Prices".to_owned(),
            rows: (first, last),
        };
        let part = |name: &str| Locator::Part {
            name: name.to_owned(),
        };
        let entry = |path: &str, inner: Locator| Locator::Entry {
            path: path.to_owned(),
            inner: Box::new(inner),
        };
        let section = |heading: &str| Locator::Section {
            heading: heading.to_owned(),
        };
        check(pdf(1), pdf(2), Border::None);
        check(section("A"), section("B"), Border::None);
        check(section("A"), Locator::Block { number: 3 }, Border::None);
        check(slide(1), slide(2), Border::Fresh);
        check(sheet(1, 40), sheet(41, 80), Border::Fresh);
        check(part("one.xhtml"), part("two.xhtml"), Border::Place);
        check(part("notes"), part("notes"), Border::None);
        let message = |number| Locator::Message { number };
        check(message(1), message(2), Border::Fresh);
        check(message(1), entry("a.pdf", pdf(1)), Border::Fresh);
        check(entry("a.pdf", pdf(1)), entry("a.pdf", pdf(2)), Border::None);
        check(
            entry("a.pdf", pdf(1)),
            entry("b.pdf", pdf(2)),
            Border::Fresh,
        );
        check(
            entry("a.pptx", slide(1)),
            entry("a.pptx", slide(2)),
            Border::Fresh,
        );
        let book = |name| entry("a.epub", part(name));
        check(book("1"), book("2"), Border::Place);
        check(pdf(1), slide(1), Border::Fresh);
    }
}
