//! Texts reduced to what two readers can agree on: letters and digits, compatibility forms
//! folded, lower-case, with the way back to the text.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization as _;

/// Shorter words are looked up whole; within a long page any three letters occur somewhere.
const SHORT: usize = 4;
/// Words at least twice as long may be found in two halves: scripts without spaces, glued words.
const HALVES_FROM: usize = 2 * SHORT;

/// A text's letters and digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Squeezed {
    text: String,
    /// Per source character that left something: where that begins in `text`, and where the
    /// character ends in the source.
    origin: Vec<(usize, usize)>,
    words: HashSet<String>,
}

impl Squeezed {
    pub(super) fn of(source: &str) -> Self {
        let mut text = String::with_capacity(source.len());
        let mut origin = Vec::with_capacity(source.len());
        for (start, c) in source.char_indices() {
            let before = text.len();
            push_folded(&mut text, c);
            if text.len() > before {
                origin.push((before, start + c.len_utf8()));
            }
        }
        let words = source
            .split(|c: char| c.is_whitespace() || c == '|')
            .map(squeeze)
            .filter(|word| !word.is_empty())
            .collect();
        Self {
            text,
            origin,
            words,
        }
    }

    /// Letters and digits of `word` (squeezed) that this text has.
    pub(super) fn covered(&self, word: &str) -> usize {
        let length = word.chars().count();
        if self.words.contains(word) || (length >= SHORT && self.text.contains(word)) {
            return length;
        }
        if length < HALVES_FROM {
            return 0;
        }
        let middle = word
            .char_indices()
            .nth(length / 2)
            .map_or(word.len(), |(at, _)| at);
        let (head, tail) = word.split_at_checked(middle).unwrap_or((word, ""));
        if tail.is_empty() {
            0
        } else {
            self.covered(head) + self.covered(tail)
        }
    }

    /// Whether `line` (squeezed) stands here without a gap.
    pub(super) fn contains(&self, line: &str) -> bool {
        self.text.contains(line)
    }

    /// The byte of the source just after `line` (squeezed), looking from source byte `from` first.
    pub(super) fn end_of(&self, line: &str, from: usize) -> Option<usize> {
        let skip = self.origin.partition_point(|&(_, end)| end <= from);
        let start = self.origin.get(skip).map_or(self.text.len(), |&(at, _)| at);
        let found = self
            .text
            .get(start..)
            .and_then(|tail| tail.find(line))
            .map(|at| at + start)
            .or_else(|| self.text.find(line))?;
        let last = self
            .origin
            .partition_point(|&(at, _)| at < found + line.len());
        self.origin.get(last.checked_sub(1)?).map(|&(_, end)| end)
    }
}

/// Letters and digits of `text`, NFKC and lower-case.
pub(super) fn squeeze(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push_folded(&mut out, c));
    out
}

fn push_folded(out: &mut String, c: char) {
    // Most letters, and the folding below is slow.
    if c.is_ascii() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        }
        return;
    }
    // Letter by letter: composed and decomposed accents both lose them, on both sides.
    let folded = std::iter::once(c).nfkd().flat_map(char::to_lowercase);
    out.extend(folded.filter(|c| c.is_alphanumeric() && !is_right_to_left(*c)));
}

/// Hebrew, Arabic and their neighbours: readers give them in different orders, so they are no
/// ground for a comparison.
fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_readers_write_differently_is_the_same_squeezed() {
        #[track_caller]
        fn check(left: &str, right: &str) {
            assert_eq!(squeeze(left), squeeze(right));
        }
        check("**The** ﬁrst", "the first");
        check("| 3.1 | a-b |", "3 1 ab");
        check("café", "cafe\u{301}");
        check("２０２４", "2024");
        check("İ", "i");
        check("habibi حَبيبي", "habibi");
    }

    #[test]
    fn coverage_counts_letters_found() {
        #[track_caller]
        fn check(page: &Squeezed, word: &str, expect: usize) {
            assert_eq!(page.covered(word), expect, "{word}");
        }
        let page = Squeezed::of("The quick brown fox, 12 | 3.5 | 你好世界再见");
        check(&page, "quick", 5);
        check(&page, "kbro", 4);
        check(&page, "ick", 0);
        check(&page, "12", 2);
        check(&page, "35", 2);
        check(&page, "1", 0);
        check(&page, "quickbrown", 10);
        check(&page, "foxquick", 4);
        check(&page, "absentee", 0);
    }

    #[test]
    fn the_way_back_prefers_what_follows() {
        let source = "One two.\n\nTwo **three**.";
        let page = Squeezed::of(source);
        assert_eq!(page.end_of("two", 0), Some(7));
        assert_eq!(page.end_of("two", 9), Some(13));
        assert_eq!(page.end_of("twothree", 0), Some(21));
        assert_eq!(page.end_of("one", 12), Some(3), "else from the beginning");
        assert_eq!(page.end_of("four", 0), None);
    }
}
