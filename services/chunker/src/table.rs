//! Headers of tables, repeated where a table goes on in another chunk.

use std::ops::Range;

use shared::contract::is_table_rule;

/// Of a Markdown table: its header row with the rule below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// First byte in the document.
    pub(crate) start: usize,
    /// One past the last byte.
    pub(crate) end: usize,
    /// Estimated tokens.
    pub(crate) tokens: u32,
}

impl Header {
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// Bytes of the header row and the rule that the table `text` begins with; `None` when it has no
/// rule, or no word in its header: office programs write such tables.
pub(crate) fn header_length(text: &str) -> Option<usize> {
    let mut lines = text.split_inclusive('\n');
    let (header, rule) = (lines.next()?, lines.next()?);
    let named = header.contains(char::is_alphanumeric) && header.trim_start().starts_with('|');
    (named && is_table_rule(rule)).then(|| header.len() + rule.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_a_named_row_above_a_rule() {
        #[track_caller]
        fn check(table: &str, expect: Option<&str>) {
            let header = header_length(table).map(|length| table.get(..length).unwrap());
            assert_eq!(header, expect);
        }
        check(
            "| a | b |\n|---|---|\n| 1 | 2 |\n",
            Some("| a | b |\n|---|---|\n"),
        );
        check("| a |\n| :-: |", Some("| a |\n| :-: |"));
        check("| 1 | 2 |\n| 3 | 4 |\n", None);
        check("|  |  |\n|---|---|\n| 1 | 2 |\n", None);
        check("|---|---|\n| 1 | 2 |\n", None);
        check("| a | b |\n", None);
        check("", None);
    }
}
