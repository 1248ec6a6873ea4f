//! Putting the two readers' pages together.

use std::ops::Range;

use shared::contract::ReadMethod;

use super::Merged;
use super::first::{FirstPage, OcrReason};
use super::second::SecondPage;
use super::squeeze::{Squeezed, squeeze};
use super::{garbled, letters};

/// Less than this is not a page's text.
const FEW_BYTES: usize = 64;

/// When the second reader's text is taken instead of the first's, or into it.
///
/// Measured on the 989 PDF pages of the test corpus that both readers read: the first reader has
/// at least 90 % of PDFium's letters on 973 pages, 80 to 90 % on 15 pages of formulas, where
/// PDFium's text is no better, and half on one whose PDFium text is reversed. All 75 facts are
/// found at any threshold, so structure is kept until half of a page is lost; lines lost before
/// that are put in (on 38 of the pages).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merging {
    /// A page with a smaller share of PDFium's letters and digits becomes PDFium's text. 0 never,
    /// above 1 always.
    pub fallback_below: f64,
    /// A line of PDFium's with a smaller share in the page is put in at its place. 0 never.
    pub insert_below: f64,
}

impl Default for Merging {
    fn default() -> Self {
        Self {
            fallback_below: 0.5,
            insert_below: 0.6,
        }
    }
}

/// A line of the second reader, and how much of it the first one has.
struct Line<'a> {
    text: &'a str,
    squeezed: String,
    total: usize,
    covered: usize,
    /// Whether a word is missing that someone may look for: not a stray sign of a formula.
    lacks_word: bool,
}

impl Line<'_> {
    fn is_whole(&self) -> bool {
        self.total > 0 && self.covered == self.total
    }
}

impl Merging {
    /// The page of both readers; `first` is absent where the first reader has no such page.
    pub(super) fn both(&self, first: Option<&FirstPage>, second: &SecondPage) -> Merged {
        let reason = first.and_then(|first| first.reason);
        let markdown = first.map_or("", |first| first.markdown.as_str());
        match (markdown.is_empty(), second.text.is_empty()) {
            (true, true) => match reason {
                Some(reason) => Merged::picture(reason),
                None if second.has_picture => Merged::picture(OcrReason::Scanned),
                None => Merged::blank(),
            },
            // Names of layers and the like: PDFium, which misses no character, sees a picture.
            (false, true) if second.has_picture && markdown.len() < FEW_BYTES => {
                Merged::picture(OcrReason::Scanned)
            }
            (false, true) => Merged::read(markdown.to_owned(), ReadMethod::TextLayer)
                .doubt("the second reader finds no text here".to_owned()),
            (true, false) => {
                let merged = Merged::read(second.text.clone(), ReadMethod::Fallback);
                garbled::judge(merged.wanting_ocr(reason))
            }
            (false, false) => {
                let markdown = letters::join_broken(markdown, &second.text);
                garbled::judge(self.compare(&markdown, &second.text))
            }
        }
    }

    fn compare(&self, markdown: &str, second: &str) -> Merged {
        let page = Squeezed::of(markdown);
        let lines: Vec<_> = second.lines().map(|line| cover(&page, line)).collect();
        let total: usize = lines.iter().map(|line| line.total).sum();
        // Letter-spaced text comes as words of one letter, which the page as one word is not.
        let joined: String = lines.iter().map(|line| line.squeezed.as_str()).collect();
        let by_words = lines.iter().map(|line| line.covered).sum::<usize>();
        let covered = by_words.max(page.covered(&joined));
        if total > 0 && (covered as f64) < self.fallback_below * total as f64 {
            let percent = covered * 100 / total;
            return Merged::read(second.to_owned(), ReadMethod::Fallback).doubt(format!(
                "without structure: the structured reader has only {percent} % of the page's text"
            ));
        }
        let runs = self.missing_runs(&lines);
        let count: usize = runs.iter().map(ExactSizeIterator::len).sum();
        let merged = Merged::read(
            insert(markdown, &page, &lines, &runs),
            ReadMethod::TextLayer,
        );
        match count {
            0 => merged,
            1 => merged.doubt("1 line was put in from the second reader".to_owned()),
            n => merged.doubt(format!("{n} lines were put in from the second reader")),
        }
    }

    /// Ranges of neighbouring lines that the first reader left out. A page number at the top or
    /// bottom was left out with intent.
    fn missing_runs(&self, lines: &[Line<'_>]) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            let at_edge = index == 0 || index + 1 == lines.len();
            let is_number = !line.squeezed.chars().any(char::is_alphabetic);
            let is_missing = (line.covered as f64) < self.insert_below * line.total as f64;
            if !is_missing || (at_edge && is_number) {
                continue;
            }
            match runs.last_mut() {
                Some(run) if run.end == index => run.end = index + 1,
                _ => runs.push(index..index + 1),
            }
        }
        runs.retain(|run| {
            lines
                .get(run.clone())
                .is_some_and(|run| run.iter().any(|line| line.lacks_word))
        });
        runs
    }
}

fn cover<'a>(page: &Squeezed, text: &'a str) -> Line<'a> {
    let squeezed = squeeze(text);
    let total = squeezed.chars().count();
    if total > 3 && page.contains(&squeezed) {
        return Line {
            text,
            squeezed,
            total,
            covered: total,
            lacks_word: false,
        };
    }
    let (mut covered, mut lacks_word) = (0, false);
    for word in text.split_whitespace().map(squeeze) {
        let found = page.covered(&word);
        covered += found;
        lacks_word |= found == 0 && is_worth_having(&word);
    }
    Line {
        text,
        squeezed,
        total,
        covered,
        lacks_word,
    }
}

/// Four letters, or a number of three digits.
fn is_worth_having(word: &str) -> bool {
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let digits = word.chars().filter(|c| c.is_numeric()).count();
    letters >= 4 || (letters == 0 && digits >= 3)
}

/// `markdown` with each run as a block of its own: after the block that holds the nearest line
/// before it, else before all.
fn insert(markdown: &str, page: &Squeezed, lines: &[Line<'_>], runs: &[Range<usize>]) -> String {
    let mut parts = Vec::new();
    let (mut written, mut anchor, mut next_line) = (0, 0, 0);
    for run in runs {
        for line in lines.get(next_line..run.start).unwrap_or_default() {
            if line.is_whole()
                && let Some(end) = page.end_of(&line.squeezed, anchor)
            {
                anchor = end;
            }
        }
        next_line = run.end;
        let at = if anchor == 0 {
            0
        } else {
            block_end(markdown, anchor)
        };
        // Blocks are written in order; a run whose place has passed follows the last one.
        if at > written {
            parts.push(markdown.get(written..at).unwrap_or_default().to_owned());
            written = at;
        }
        let block = lines
            .get(run.clone())
            .unwrap_or_default()
            .iter()
            .map(|line| line.text);
        parts.push(block.collect::<Vec<_>>().join("\n"));
    }
    parts.push(markdown.get(written..).unwrap_or_default().to_owned());
    let parts = parts
        .iter()
        .map(|part| part.trim_matches('\n'))
        .filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n\n")
}

/// The end of the block that byte `from` lies in or just after: the next blank line outside of
/// fenced code, or the end.
fn block_end(markdown: &str, from: usize) -> usize {
    let mut in_fence = false;
    let mut at = 0;
    for line in markdown.split_inclusive('\n') {
        let fence = line.trim_start();
        let is_fence = fence.starts_with("```") || fence.starts_with("~~~");
        if at >= from && !in_fence && line.trim().is_empty() {
            return markdown
                .get(..at)
                .unwrap_or_default()
                .trim_end_matches('\n')
                .len()
                .max(from);
        }
        in_fence ^= is_fence;
        at += line.len();
    }
    markdown.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(markdown: &str, reason: Option<OcrReason>, text: &str, has_picture: bool) -> Merged {
        let first = FirstPage {
            markdown: markdown.to_owned(),
            reason,
        };
        let second = SecondPage {
            text: text.to_owned(),
            has_picture,
            ..SecondPage::default()
        };
        Merging::default().both(Some(&first), &second)
    }

    #[track_caller]
    fn check(markdown: &str, text: &str, method: ReadMethod, expect: &str) {
        let merged = both(markdown, None, text, false);
        assert_eq!((merged.method, merged.markdown.as_str()), (method, expect));
    }

    #[test]
    fn the_first_reader_stands_when_it_has_everything() {
        let layer = ReadMethod::TextLayer;
        check(
            "# A title\n\nSome *text*.",
            "A title\nSome text.",
            layer,
            "# A title\n\nSome *text*.",
        );
        check(
            "| a | 12 |\n|---|---|\n| b | 34 |",
            "a 12\nb 34",
            layer,
            "| a | 12 |\n|---|---|\n| b | 34 |",
        );
        check(
            "a demo of letters",
            "a\nd e\nm o\no f\nl e\nt t e\nr s",
            layer,
            "a demo of letters",
        );
        check("the proof", "the proof\n∂x\n0 = 1\n", layer, "the proof");
        check(
            "body of the page",
            "body of the page\n17",
            layer,
            "body of the page",
        );
        let merged = both("only the first has this", None, "", false);
        assert_eq!(merged.method, layer);
        assert!(merged.doubts[0].contains("second reader"), "{merged:?}");
    }

    #[test]
    fn missing_lines_are_put_in_after_the_block_before_them() {
        let first = "# Heading here\n\nFirst paragraph stands here.\n\nLast paragraph stands here.";
        let layer = ReadMethod::TextLayer;
        check(
            first,
            "Heading here\nFirst paragraph stands here.\nForm value: Kowalski\nSigned yesterday\nLast \
             paragraph stands here.",
            layer,
            "# Heading here\n\nFirst paragraph stands here.\n\nForm value: Kowalski\nSigned \
             yesterday\n\nLast paragraph stands here.",
        );
        check(
            "Known words are here.\n\n```\ncode one\n\ncode two\n```\n\nEnd of it all.",
            "Missing beginning\nKnown words are here.\ncode one\nForgotten\ncode two\nEnd of it all.",
            layer,
            "Missing beginning\n\nKnown words are here.\n\n```\ncode one\n\ncode \
             two\n```\n\nForgotten\n\nEnd of it all.",
        );
        let merged = both(first, None, &format!("{first}\nOne absentee"), false);
        assert_eq!(merged.doubts, ["1 line was put in from the second reader"]);
        assert!(
            merged.markdown.ends_with("\n\nOne absentee"),
            "{}",
            merged.markdown
        );
    }

    #[test]
    fn a_page_that_lacks_too_much_falls_back() {
        let text = "Everything else on this page\nis known to PDFium alone";
        check(
            "Title",
            &format!("Title\n{text}"),
            ReadMethod::Fallback,
            &format!("Title\n{text}"),
        );
        check("", text, ReadMethod::Fallback, text);
    }

    #[test]
    fn pages_without_text() {
        #[track_caller]
        fn check(reason: Option<OcrReason>, picture: bool, method: ReadMethod, says: &str) {
            let merged = both("", reason, "", picture);
            assert_eq!(merged.method, method);
            let words = [merged.error.into_iter().collect(), merged.doubts]
                .concat()
                .join(" ");
            assert!(words.contains(says), "{words}");
        }
        check(None, true, ReadMethod::Missing, "needs OCR");
        assert_eq!(both("Layer 1", None, "", true).method, ReadMethod::Missing);
        check(
            Some(OcrReason::Vector),
            false,
            ReadMethod::Missing,
            "drawn as shapes",
        );
        check(None, false, ReadMethod::TextLayer, "blank");
        let merged = both("", Some(OcrReason::Invisible), "hidden words", true);
        assert_eq!(merged.method, ReadMethod::Fallback);
        assert!(merged.doubts[0].contains("under a scan"), "{merged:?}");
    }
}
