//! The first reader: pdf-inspector, for Markdown with headings and tables. It analyses the whole
//! file whatever pages are asked, so it is called once per document.

use std::ops::Range;
use std::panic::catch_unwind;

use pdf_inspector::{
    OCR_REASON_INVISIBLE_TEXT_LAYER, OCR_REASON_NO_TEXT, OCR_REASON_SCANNED,
    OCR_REASON_SUSPECTED_GARBLED_TEXT, OCR_REASON_VECTOR_TEXT, PdfError,
};
use pulldown_cmark::{Event, Options, Parser, Tag};

use super::{blocks, letters};
use crate::extract::clean;

/// A page as the first reader sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FirstPage {
    /// Empty where the reader gave up.
    pub(super) markdown: String,
    /// Why it would rather have OCR.
    pub(super) reason: Option<OcrReason>,
}

/// Why a page's text layer does not tell what the page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OcrReason {
    Garbled,
    Scanned,
    Vector,
    Invisible,
    NoText,
}

impl OcrReason {
    fn parse(reason: &str) -> Option<Self> {
        match reason {
            OCR_REASON_SUSPECTED_GARBLED_TEXT => Some(Self::Garbled),
            OCR_REASON_SCANNED => Some(Self::Scanned),
            OCR_REASON_VECTOR_TEXT => Some(Self::Vector),
            OCR_REASON_INVISIBLE_TEXT_LAYER => Some(Self::Invisible),
            OCR_REASON_NO_TEXT => Some(Self::NoText),
            _ => None,
        }
    }

    /// What it means for a page whose text was read none the less.
    pub(super) fn doubt(self) -> &'static str {
        match self {
            Self::Garbled => "the text layer may be garbled",
            Self::Scanned => "the page is mostly a picture; text within it is not read",
            Self::Vector => "some text is drawn as shapes and is not read",
            Self::Invisible => "the text is a hidden layer under a scan and may differ from it",
            Self::NoText => "the first reader found no text",
        }
    }

    /// What it means for a page without any text.
    pub(super) fn error(self) -> &'static str {
        match self {
            Self::Garbled => "needs OCR: the text layer cannot be decoded",
            Self::Scanned | Self::Invisible => "needs OCR: the page is a picture",
            Self::Vector => "needs OCR: the text is drawn as shapes",
            Self::NoText => "needs OCR: no text layer",
        }
    }
}

/// Why the first reader has no pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum FirstError {
    #[error("it is encrypted")]
    Locked,
    #[error("it has no PDF header")]
    NoHeader,
    #[error("its cross-references or page tree cannot be rebuilt")]
    Structure,
    #[error("the structured reader failed on it")]
    Panicked,
}

/// `markdown` without emphasis and inline HTML: typography that cuts words and quotations apart
/// (`F<sub>i</sub>`, `*many* *words*`). Headings, lists, tables and code stay.
fn without_marks(markdown: &str) -> String {
    let mut marks = Vec::new();
    for (event, range) in Parser::new_ext(markdown, Options::ENABLE_TABLES).into_offset_iter() {
        let width = match event {
            Event::Start(Tag::Emphasis) => 1,
            Event::Start(Tag::Strong) => 2,
            // A link is its text: no address is loaded, and it would cut the sentence.
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => {
                marks.extend(link_marks(markdown, &range).into_iter().flatten());
                continue;
            }
            Event::InlineHtml(_) => {
                marks.push(range);
                continue;
            }
            _ => continue,
        };
        // `_` is left: it is the text's own, the reader writes `*`.
        if markdown
            .get(range.clone())
            .is_some_and(|text| text.starts_with('*'))
        {
            marks.push(range.start..range.start + width);
            marks.push(range.end - width..range.end);
        }
    }
    marks.sort_by_key(|mark| mark.start);
    let mut out = String::with_capacity(markdown.len());
    let mut from = 0;
    for mark in marks {
        out.push_str(markdown.get(from..mark.start).unwrap_or_default());
        from = from.max(mark.end);
    }
    out.push_str(markdown.get(from..).unwrap_or_default());
    out
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<FirstPage>, FirstError> {
    let result = catch_unwind(|| pdf_inspector::extract_pages_markdown_mem(bytes, None))
        .map_err(|_panic| FirstError::Panicked)?;
    // The errors' own texts may quote the file, so only their kind goes on.
    let pages = result.map_err(|error| match error {
        PdfError::Encrypted => FirstError::Locked,
        PdfError::NotAPdf(_) => FirstError::NoHeader,
        PdfError::Io(_) | PdfError::Parse(_) | PdfError::InvalidStructure => FirstError::Structure,
    })?;
    Ok(pages
        .pages
        .into_iter()
        .map(|page| FirstPage {
            markdown: tidy(&page.markdown),
            reason: page.ocr_reason.as_deref().and_then(OcrReason::parse),
        })
        .collect())
}

/// Where a link or picture has its brackets and its target.
fn link_marks(markdown: &str, range: &Range<usize>) -> Option<[Range<usize>; 2]> {
    let text = markdown.get(range.clone())?;
    let width = ["[", "!["]
        .into_iter()
        .find(|open| text.starts_with(open))?
        .len();
    let target = range.start + text.rfind("](")?;
    Some([range.start..range.start + width, target..range.end])
}

fn tidy(markdown: &str) -> String {
    let markdown = letters::tidy(clean(markdown));
    let lines: Vec<_> = without_marks(markdown.trim())
        .lines()
        .map(letters::shorten_leaders)
        .collect();
    blocks::part(&blocks::heal(blocks::move_stamp(lines)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typography_goes_and_structure_stays() {
        #[track_caller]
        fn check(markdown: &str, expect: &str) {
            assert_eq!(without_marks(markdown), expect);
        }
        check("the *DIA wheel*.", "the DIA wheel.");
        check("**Bold *and* italic** text", "Bold and italic text");
        check("F<sub>i</sub> and <u>under</u>", "Fi and under");
        check("## A **b**\n\n* item\n* other", "## A b\n\n* item\n* other");
        check(
            "| **a** | 5*3 |\n|---|---|\n| `*c*` | * |",
            "| a | 5*3 |\n|---|---|\n| `*c*` | * |",
        );
        check("```\n*code* <b>\n```", "```\n*code* <b>\n```");
        check(
            "__init__ and a_b_c, Price* only",
            "__init__ and a_b_c, Price* only",
        );
        check("x < y > z", "x < y > z");
        check(
            "see [our *site*](https://a.b/c_(d)) now",
            "see our site now",
        );
        check("![A chart](x.png) and [1] (a)", "A chart and [1] (a)");
    }
}
