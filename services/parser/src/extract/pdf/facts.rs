//! What lopdf tells about a PDF besides its text: title, page labels, and whether a page draws
//! anything at all.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lopdf::{Document, LoadOptions, Object, ObjectId};

use super::labels;
use crate::extract::clean;

/// One stream may unpack to this many bytes; a page's text needs a thousandth of it.
const MAX_STREAM_BYTES: usize = 256 << 20;
const MAX_TITLE_CHARACTERS: usize = 300;

/// Facts about a document; all empty when lopdf cannot read it.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) title: Option<String>,
    /// By physical page from 1, where a label differs from that number.
    pub(super) labels: BTreeMap<u32, String>,
    document: Option<(Document, Vec<ObjectId>)>,
}

impl Facts {
    /// Never fails: a document without facts may still have text.
    pub(super) fn read(bytes: &[u8]) -> Self {
        catch_unwind(|| Self::try_read(bytes))
            .ok()
            .flatten()
            .unwrap_or_default()
    }

    fn try_read(bytes: &[u8]) -> Option<Self> {
        // lopdf decrypts with the empty password by itself.
        let options = LoadOptions::with_max_decompressed_size(MAX_STREAM_BYTES);
        let document = Document::load_mem_with_options(bytes, options).ok()?;
        let pages: Vec<ObjectId> = document.page_iter().collect();
        Some(Self {
            title: title(&document),
            labels: labels::of(&document, pages.len()),
            document: Some((document, pages)),
        })
    }

    /// lopdf's own plain text of page `index` from 0, when it has any that is decoded.
    pub(super) fn plain_text(&self, index: usize) -> Option<String> {
        let (document, _) = self.document.as_ref()?;
        let number = u32::try_from(index).ok()?.checked_add(1)?;
        let text = catch_unwind(AssertUnwindSafe(|| document.extract_text(&[number])))
            .ok()?
            .ok()?;
        // lopdf writes this in place of text in encodings it does not know.
        if text.contains("?Identity-H Unimplemented?") {
            return None;
        }
        let text = clean(&text).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Whether page `index` from 0 has no content at all; `false` when that is not known.
    pub(super) fn is_blank(&self, index: usize) -> bool {
        let Some((document, pages)) = &self.document else {
            return false;
        };
        let Some(page) = pages.get(index) else {
            return false;
        };
        let paints = |byte: &u8| byte.is_ascii_alphabetic();
        catch_unwind(AssertUnwindSafe(|| {
            document
                .get_page_content_with_limit(*page, MAX_STREAM_BYTES)
                .is_ok_and(|content| !content.iter().any(paints))
        }))
        .unwrap_or(false)
    }
}

fn title(document: &Document) -> Option<String> {
    let info = document.trailer.get(b"Info").ok()?;
    let (_, info) = document.dereference(info).ok()?;
    let (_, title) = document
        .dereference(info.as_dict().ok()?.get(b"Title").ok()?)
        .ok()?;
    tidy_title(&text_string(title)?)
}

/// A PDF text string: UTF-16 or UTF-8 after a mark, `PDFDocEncoding` else (ISO 32000-2, 7.9.2.2).
pub(super) fn text_string(object: &Object) -> Option<String> {
    lopdf::decode_text_string(object)
        .ok()
        .map(|text| clean(&text))
}

/// Titles that programs put there by themselves are none.
fn tidy_title(title: &str) -> Option<String> {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = title.strip_prefix("Microsoft Word - ").unwrap_or(&title);
    let made_up =
        title.eq_ignore_ascii_case("untitled") || !title.chars().any(char::is_alphanumeric);
    (!made_up).then(|| title.chars().take(MAX_TITLE_CHARACTERS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_made_up_by_programs_are_dropped() {
        #[track_caller]
        fn check(title: &str, expect: Option<&str>) {
            assert_eq!(tidy_title(title).as_deref(), expect);
        }
        check("  A   report ", Some("A report"));
        check("Microsoft Word - budget.doc", Some("budget.doc"));
        check("Untitled", None);
        check("", None);
        check("-- .", None);
    }

    #[test]
    fn bytes_that_are_no_pdf_have_no_facts() {
        let facts = Facts::read(b"%PDF-1.7\nnothing");
        assert!(facts.title.is_none() && facts.labels.is_empty() && !facts.is_blank(0));
        assert!(facts.plain_text(0).is_none());
    }
}
