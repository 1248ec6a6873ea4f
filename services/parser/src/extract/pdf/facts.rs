//! What lopdf tells about a PDF besides its text: title, page labels, and whether a page draws
//! anything at all.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lopdf::{Document, ObjectId};

use super::labels;
use super::objects::{dictionary, integer, text_string};
use super::open::MAX_STREAM_BYTES;
use crate::extract::clean;

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
    pub(super) fn of(document: Option<Document>) -> Self {
        let facts =
            document.map(|document| catch_unwind(AssertUnwindSafe(|| Self::read(document))));
        facts.and_then(Result::ok).unwrap_or_default()
    }

    fn read(document: Document) -> Self {
        let pages: Vec<ObjectId> = document.page_iter().collect();
        Self {
            title: title(&document),
            labels: labels::of(&document, pages.len()),
            document: Some((document, pages)),
        }
    }

    /// The document and its pages, when lopdf can read it.
    pub(super) fn document(&self) -> Option<(&Document, &[ObjectId])> {
        let (document, pages) = self.document.as_ref()?;
        Some((document, pages))
    }

    /// How many pages the page tree claims beyond `found`.
    pub(super) fn absent_pages(&self, found: usize) -> usize {
        let declared = self.document.as_ref().and_then(|(document, _)| {
            let tree = dictionary(document, document.catalog().ok()?, b"Pages")?;
            let count = integer(document, tree, b"Count")?;
            usize::try_from(count).ok()?.checked_sub(found)
        });
        declared.unwrap_or(0)
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
    fn without_a_document_there_are_no_facts() {
        let facts = Facts::of(None);
        assert!(facts.title.is_none() && facts.labels.is_empty() && !facts.is_blank(0));
        assert!(facts.plain_text(0).is_none() && facts.absent_pages(0) == 0);
    }
}
