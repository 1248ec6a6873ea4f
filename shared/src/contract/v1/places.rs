//! Where a page's Markdown stands on its PDF page, for highlights. One file per page that has a
//! text layer, beside the page's Markdown.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A stretch of Markdown and the characters that it came from.
///
/// Both have at least one character. When they have the same number of characters, the n-th of one
/// is the n-th of the other; else they belong together as a whole (a ligature, say).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlaceRun {
    /// First byte and byte after the last, in the page's Markdown.
    pub bytes: (u32, u32),
    /// First character and character after the last, as PDFium counts them on the page from 0.
    pub characters: (u32, u32),
}

/// The places of one page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PagePlaces {
    /// Number of the page record, from 1.
    pub number: u32,
    /// Page of the PDF, counted from 1.
    pub physical: u32,
    /// In the order of the Markdown, without overlap there. What has no place, such as marks of
    /// headings and tables, is in no run.
    pub runs: Vec<PlaceRun>,
}

impl PagePlaces {
    /// The blob name of page `number` within the version's folder. Pages without places have none.
    pub fn file(number: u32) -> String {
        format!("page_{number:04}.places.json")
    }

    /// The PDF characters of the bytes `range` of `markdown`, which is the page's; merged where
    /// they follow each other. Empty when nothing in the range has a place.
    pub fn characters(&self, markdown: &str, range: &Range<usize>) -> Vec<Range<u32>> {
        let mut found: Vec<Range<u32>> = Vec::new();
        let first = self
            .runs
            .partition_point(|run| index(run.bytes.1) <= range.start);
        let runs = self.runs.get(first..).unwrap_or_default();
        for run in runs.iter().take_while(|run| index(run.bytes.0) < range.end) {
            let part = run.part(markdown, range);
            match found.last_mut() {
                Some(last) if last.end == part.start => last.end = part.end,
                _ if part.is_empty() => {}
                _ => found.push(part),
            }
        }
        found
    }
}

impl PlaceRun {
    /// The characters of those bytes of `range` that lie in this run.
    fn part(&self, markdown: &str, range: &Range<usize>) -> Range<u32> {
        let whole = self.characters.0..self.characters.1;
        let (start, end) = (index(self.bytes.0), index(self.bytes.1));
        let count = |from: usize, to: usize| {
            let text = markdown.get(from..to)?;
            u32::try_from(text.chars().count()).ok()
        };
        let (from, to) = (range.start.max(start), range.end.min(end));
        match (count(start, end), count(start, from), count(from, to)) {
            (Some(all), Some(before), Some(within))
                if all == whole.end.saturating_sub(whole.start) =>
            {
                whole.start + before..whole.start + before + within
            }
            _ => whole,
        }
    }
}

fn index(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_markdown_has_its_characters() {
        // `# Größe fi` over the PDF's `Größe\r\nﬁ`.
        let markdown = "# Größe fi";
        let places = PagePlaces {
            number: 1,
            physical: 1,
            runs: vec![
                PlaceRun {
                    bytes: (2, 9),
                    characters: (0, 5),
                },
                PlaceRun {
                    bytes: (10, 12),
                    characters: (7, 8),
                },
            ],
        };
        let check = |range: Range<usize>, expect: &[(u32, u32)]| {
            let found = places.characters(markdown, &range);
            let found: Vec<_> = found.iter().map(|one| (one.start, one.end)).collect();
            assert_eq!(found, expect, "{range:?}");
        };
        check(0..12, &[(0, 5), (7, 8)]);
        check(4..8, &[(2, 4)]);
        check(0..2, &[]);
        check(9..10, &[]);
        check(10..11, &[(7, 8)]);
        check(0..4, &[(0, 2)]);
        // Not on a character's border: the whole run rather than nothing.
        check(5..8, &[(0, 5)]);
        check(40..90, &[]);
    }
}
