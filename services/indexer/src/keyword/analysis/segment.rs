//! Text cut into words, n-grams of scripts without spaces, and identifiers.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Characters that hold an identifier together.
const CONNECTORS: &str = "-_./:\\@#+&~,'";
/// Characters of an identifier at most; longer ones are addresses or broken extraction.
const LONGEST_IDENTIFIER: usize = 64;

/// A piece of text at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    /// Counted in words; pieces of one word share it.
    pub(super) position: usize,
    /// Whether it is a word that has grammatical forms.
    pub(super) is_word: bool,
}

/// What a text is made of.
#[derive(Debug, Default)]
pub(super) struct Segments {
    pub(super) pieces: Vec<Piece>,
    /// Lower case, whole (`e-4711`) and without what holds them together (`e4711`).
    pub(super) identifiers: Vec<Piece>,
    next: usize,
}

/// Cuts `text`. Scripts that put no spaces between words come as single characters, where
/// `singles` asks for them, and as pairs.
pub(super) fn segment(text: &str, singles: bool) -> Segments {
    let mut segments = Segments::default();
    let text: String = text.nfkc().collect();
    for run in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        for part in split_where(run, |a, b| is_unspaced(a) != is_unspaced(b)) {
            if part.chars().next().is_some_and(is_unspaced) {
                segments.grams(part, singles);
            } else {
                segments.identifier(part);
                segments.words(part);
            }
        }
    }
    segments
}

impl Segments {
    fn push(&mut self, text: &str, is_word: bool) {
        self.pieces.push(Piece {
            text: text.to_owned(),
            position: self.next,
            is_word,
        });
    }

    /// The words of `part`; `getUserName` is one, and `get`, `User`, `Name` besides.
    fn words(&mut self, part: &str) {
        let in_word = |c: char| c.is_alphanumeric() || is_mark(c);
        for word in part.split(|c| !in_word(c)) {
            let word = word.trim_start_matches(is_mark);
            if word.is_empty() {
                continue;
            }
            self.push(word, true);
            let parts: Vec<&str> =
                split_where(word, |a, b| a.is_lowercase() && b.is_uppercase()).collect();
            if parts.len() > 1 {
                for part in parts {
                    self.push(part, true);
                    self.next += 1;
                }
            } else {
                self.next += 1;
            }
        }
    }

    fn grams(&mut self, run: &str, singles: bool) {
        let units: Vec<&str> = split_where(run, |_, b| !is_mark(b)).collect();
        for (index, unit) in units.iter().enumerate() {
            let next = units.get(index + 1);
            if singles || units.len() == 1 {
                self.push(unit, false);
            }
            if let Some(next) = next {
                self.push(&format!("{unit}{next}"), false);
            }
            self.next += 1;
        }
        // Text on both sides of a run is not adjacent through it.
    }

    fn identifier(&mut self, part: &str) {
        let whole = part.trim_matches(|c: char| !c.is_alphanumeric());
        if !is_identifier(whole) {
            return;
        }
        let whole = whole.to_lowercase();
        let plain: String = whole.chars().filter(|c| c.is_alphanumeric()).collect();
        let mut push = |text: String| {
            self.identifiers.push(Piece {
                text,
                position: self.next,
                is_word: false,
            });
        };
        if plain != whole {
            push(plain);
        }
        push(whole);
    }
}

/// Whether people would look for `part` as it is written: error codes, numbers with signs,
/// versions, file names, addresses, names in programs.
fn is_identifier(part: &str) -> bool {
    let is_short = (2..=LONGEST_IDENTIFIER).contains(&part.chars().count());
    let is_made_of = |c: char| c.is_alphanumeric() || CONNECTORS.contains(c);
    if !is_short || !part.chars().all(is_made_of) {
        return false;
    }
    let has_digit = part.chars().any(|c| c.is_ascii_digit());
    let has_letter = part.chars().any(char::is_alphabetic);
    let connected = part.contains(|c| CONNECTORS.contains(c));
    let by_sign = part.contains(['_', '@', '\\', ':', '#']) || part.contains('.');
    let is_code = part
        .split(|c| CONNECTORS.contains(c))
        .any(|word| word.len() > 1 && word.chars().all(char::is_uppercase));
    let is_camel = split_where(part, |a, b| a.is_lowercase() && b.is_uppercase()).count() > 1;
    (has_digit && (connected || has_letter)) || (connected && (by_sign || is_code)) || is_camel
}

/// Scripts in which words are not set apart; Korean sets them apart and glues endings on.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Marks, and the signs that join Indic and Persian letters.
fn is_mark(c: char) -> bool {
    is_combining_mark(c) || matches!(c, '\u{200c}' | '\u{200d}')
}

/// `text` cut between each two characters that `cut` tells apart.
fn split_where(text: &str, cut: impl Fn(char, char) -> bool) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut before = rest.chars().next()?;
        let end = rest
            .char_indices()
            .skip(1)
            .find(|(_, c)| cut(std::mem::replace(&mut before, *c), *c))
            .map_or(rest.len(), |(at, _)| at);
        let (part, tail) = rest.split_at_checked(end)?;
        rest = tail;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_into_words() {
        #[track_caller]
        fn check(text: &str, expect: &[(&str, usize)]) {
            let segments = segment(text, false);
            let found: Vec<(&str, usize)> = segments
                .pieces
                .iter()
                .map(|piece| (piece.text.as_str(), piece.position))
                .collect();
            assert_eq!(found, expect, "{text}");
        }
        check("", &[]);
        check(" !?*\u{0} ", &[]);
        check(
            "a well-known rule.",
            &[("a", 0), ("well", 1), ("known", 2), ("rule", 3)],
        );
        check("Ankara'nın", &[("Ankara", 0), ("nın", 1)]);
        check(
            "getUserName()",
            &[("getUserName", 0), ("get", 0), ("User", 1), ("Name", 2)],
        );
        check("Ｆｕｌｌ　Ｗｉｄｔｈ", &[("Full", 0), ("Width", 1)]);
        check("हिन्दी भाषा", &[("हिन्दी", 0), ("भाषा", 1)]);
        check("机器学习", &[("机器", 0), ("器学", 1), ("学习", 2)]);
        check("用ML学", &[("用", 0), ("ML", 1), ("学", 2)]);
        check("ผู้ใช้", &[("ผู้ใ", 0), ("ใช้", 1)]);
        check("한국어 책", &[("한국", 0), ("국어", 1), ("책", 3)]);
    }

    #[test]
    fn identifiers_are_found_whole() {
        #[track_caller]
        fn check(text: &str, expect: &[&str]) {
            let segments = segment(text, false);
            let found: Vec<&str> = segments
                .identifiers
                .iter()
                .map(|piece| piece.text.as_str())
                .collect();
            assert_eq!(found, expect, "{text}");
        }
        check("Error (E-4711).", &["e4711", "e-4711"]);
        check("E4711", &["e4711"]);
        check("ERR_CONN_RESET", &["errconnreset", "err_conn_reset"]);
        check("v2.3.1,", &["v231", "v2.3.1"]);
        check("getUserName()", &["getusername"]);
        check("a@b.org", &["aborg", "a@b.org"]);
        check("report-2024.pdf", &["report2024pdf", "report-2024.pdf"]);
        check("错误代码E-4711的处理", &["e4711", "e-4711"]);
        check("ISO 27001", &[]);
        check("a well-known rule and/or none. It's so", &[]);
        check(&"x1".repeat(40), &[]);
    }
}
