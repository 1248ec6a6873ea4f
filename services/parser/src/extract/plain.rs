//! Plain text: one page, because a text has none.

use super::lines::escape_marks;
use super::{ExtractError, Extraction, Extractor, Input, charset, only_page};

pub(super) struct PlainExtractor;

impl Extractor for PlainExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let decoded = charset::decode(input.bytes);
        let doubts = decoded.doubts();
        Ok(Extraction {
            pages: vec![only_page(escape_marks(&decoded.text), None, doubts)],
            ..Extraction::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use shared::contract::{Locator, ReadMethod};
    use shared::format::Format;

    use crate::extract::extract_alone;

    #[test]
    fn a_text_with_form_feeds_is_one_page() {
        let bytes = b"RFC 1\r\n\r\nPage one\r\n\x0c\r\nPage two\x00\r\n";
        let extraction = extract_alone(Format::Text, "rfc1.txt", bytes).unwrap();
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
    fn marks_of_other_kinds_do_not_become_headings() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            let extraction = extract_alone(Format::Text, "a.txt", text.as_bytes()).unwrap();
            assert_eq!(extraction.pages[0].markdown, expect);
        }
        check("# comment\nvalue = 1\n", "\\# comment\nvalue = 1\n");
        check("  ## two\n###\n#", "  \\## two\n\\###\n\\#");
        check("#tag and #1\nC# is\n", "#tag and #1\nC# is\n");
        check("Title\n=====\n\n- item\n", "Title\n=====\n\n- item\n");
    }

    #[test]
    fn undecodable_bytes_raise_a_doubt_that_names_the_encoding() {
        let mut bytes = "日本語".repeat(20).into_bytes();
        bytes.push(0xe6);
        let record = extract_alone(Format::Text, "a.txt", &bytes)
            .unwrap()
            .pages
            .remove(0)
            .record;
        assert!(record.doubts[0].contains("UTF-8"), "{record:?}");
    }
}
