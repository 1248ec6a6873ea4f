//! Plain text: one page, because a text has none.

use shared::contract::{Locator, PageRecord, ReadMethod};

use super::{ExtractError, ExtractedPage, Extraction, Extractor, charset, count_characters};

pub(super) struct PlainExtractor;

impl Extractor for PlainExtractor {
    fn extract(&self, _name: &str, bytes: &[u8]) -> Result<Extraction, ExtractError> {
        let decoded = charset::decode(bytes);
        let page = single_page(&decoded, Locator::Block { number: 1 });
        Ok(Extraction {
            title: None,
            pages: vec![page],
            notes: Vec::new(),
        })
    }
}

/// A text without pages as its one page.
pub(super) fn single_page(decoded: &charset::Decoded, locator: Locator) -> ExtractedPage {
    let doubts = decoded.lossy.then(|| {
        format!(
            "some bytes are not {} and stand as U+FFFD",
            decoded.encoding
        )
    });
    ExtractedPage {
        record: PageRecord {
            number: 1,
            locator,
            method: ReadMethod::Native,
            characters: count_characters(&decoded.text),
            doubts: doubts.into_iter().collect(),
            error: None,
        },
        markdown: decoded.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_form_feeds_is_one_page() {
        let bytes = b"RFC 1\r\n\r\nPage one\r\n\x0c\r\nPage two\x00\r\n";
        let extraction = PlainExtractor.extract("rfc1.txt", bytes).unwrap();
        assert_eq!(extraction.pages.len(), 1);
        assert_eq!(
            extraction.pages[0].markdown,
            "RFC 1\n\nPage one\n\nPage two\n"
        );
        let record = &extraction.pages[0].record;
        assert_eq!(record.locator, Locator::Block { number: 1 });
        assert_eq!(record.method, ReadMethod::Native);
        assert_eq!(record.characters, 26);
        assert!(record.doubts.is_empty(), "{record:?}");
    }

    #[test]
    fn undecodable_bytes_raise_a_doubt_that_names_the_encoding() {
        let mut bytes = "日本語".repeat(20).into_bytes();
        bytes.push(0xe6);
        let record = PlainExtractor
            .extract("a.txt", &bytes)
            .unwrap()
            .pages
            .remove(0)
            .record;
        assert!(record.doubts[0].contains("UTF-8"), "{record:?}");
    }
}
