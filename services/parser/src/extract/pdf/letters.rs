//! Letters as their reader types them: ligatures and presentation forms as base letters, words
//! broken at a line's end whole, rows of dots short.

use std::borrow::Cow;
use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization as _;

/// Dots in a row that lead from an entry to its page number.
const LEADER_DOTS: usize = 5;
/// After `pre-` and the like a hyphen stands for the end of a word that comes later.
const CONJUNCTIONS: [&str; 16] = [
    "and", "or", "to", "und", "oder", "bis", "bzw", "sowie", "et", "ou", "y", "o", "e", "en", "of",
    "och",
];

/// Right parts of compounds that keep their hyphen, wherever the line ends.
const SECONDS: [&str; 30] = [
    "based",
    "related",
    "wide",
    "specific",
    "free",
    "level",
    "term",
    "time",
    "like",
    "oriented",
    "driven",
    "led",
    "up",
    "off",
    "out",
    "in",
    "by",
    "house",
    "end",
    "party",
    "quality",
    "risk",
    "year",
    "month",
    "day",
    "old",
    "effective",
    "friendly",
    "readable",
    "known",
];
/// Left parts of such compounds.
const FIRSTS: [&str; 10] = [
    "self", "well", "cross", "long", "short", "high", "low", "real", "so", "ex",
];

/// Whether the hyphen between `left` and `right` is their own, not that of a line's end.
pub(super) fn is_compound(left: &str, right: &str) -> bool {
    let left = left.to_lowercase();
    left.contains('-') || FIRSTS.contains(&left.as_str()) || SECONDS.contains(&right)
}

/// The word that `text` ends with, and the one that `after` begins with.
pub(super) fn around<'a>(text: &'a str, after: &'a str) -> (&'a str, &'a str) {
    let left = text
        .rsplit(|c: char| !is_word(c))
        .next()
        .unwrap_or_default();
    let right = after
        .split(|c: char| !is_word(c))
        .next()
        .unwrap_or_default();
    (left, right)
}

/// `text` with ligatures and Arabic presentation forms as the letters they show, without soft
/// hyphens.
pub(super) fn tidy(text: String) -> String {
    if text.is_ascii() || !text.contains(|c| c == '\u{ad}' || is_form(c) || is_arabic_mark(c)) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{ad}' => while rest.next_if(|c| *c == '\n').is_some() {},
            // A mark sits on the letter before it, wherever the page draws it.
            c if is_arabic_mark(c) && out.ends_with(' ') => {
                out.pop();
                if !out.ends_with(is_arabic) {
                    out.push(' ');
                }
                out.push(c);
            }
            c if is_form(c) => out.extend(std::iter::once(c).nfkc()),
            c => out.push(c),
        }
    }
    out
}

/// Latin and Armenian ligatures, Hebrew and Arabic presentation forms.
fn is_form(c: char) -> bool {
    matches!(c, '\u{fb00}'..='\u{fdfb}' | '\u{fe70}'..='\u{fefc}')
}

fn is_arabic_mark(c: char) -> bool {
    matches!(c, '\u{64b}'..='\u{65f}' | '\u{670}')
}

fn is_arabic(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{6d3}')
}

/// `line` with rows of dots that lead to a page number as one ellipsis.
pub(super) fn shorten_leaders(line: &str) -> String {
    let is_leader = |c: char| matches!(c, '.' | '…' | '·' | '\u{2024}' | ' ' | '\u{a0}');
    let dots = |run: &str| -> usize {
        let dot = |c| match c {
            ' ' | '\u{a0}' => 0,
            '…' => 3,
            _ => 1,
        };
        run.chars().map(dot).sum()
    };
    if dots(line) == 0 || !line.contains(['.', '…', '·', '\u{2024}']) {
        return line.to_owned();
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find(is_leader) {
        let (before, run) = rest.split_at_checked(start).unwrap_or((rest, ""));
        let end = run.find(|c| !is_leader(c)).unwrap_or(run.len());
        let (run, after) = run.split_at_checked(end).unwrap_or((run, ""));
        out.push_str(before);
        if dots(run) >= LEADER_DOTS {
            out.push_str(if after.is_empty() { " …" } else { " … " });
        } else {
            out.push_str(run);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// `markdown` with words that a line's end broke (`im- portant`) whole again. `layer` is the text
/// of the same page with its lines, empty when there is none: how it writes the word decides.
pub(super) fn join_broken<'a>(markdown: &'a str, layer: &str) -> Cow<'a, str> {
    if !markdown.contains("- ") {
        return markdown.into();
    }
    let words: HashSet<&str> = layer.split(|c: char| !is_word(c)).collect();
    let mut out = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("- ") {
        out.push_str(before);
        let (left, right) = around(&out, after);
        let is_broken = left.chars().filter(|c| c.is_alphabetic()).count() > 1
            && right.starts_with(char::is_lowercase)
            && !CONJUNCTIONS.contains(&right);
        if !is_broken {
            out.push_str("- ");
        } else if words.contains([left, "-", right].concat().as_str())
            || (!words.contains([left, right].concat().as_str()) && is_compound(left, right))
        {
            out.push('-');
        }
        rest = after;
    }
    out.push_str(rest);
    out.into()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_become_letters() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(tidy(text.to_owned()), expect);
        }
        check("the ﬁrst eﬀort, oﬃce", "the first effort, office");
        check("soft\u{ad}ware and exam\u{ad}\nple", "software and example");
        check("ﺳﻼم", "سلام");
        check("ح \u{64e}بيبي", "ح\u{64e}بيبي");
        check("a \u{64e} b", "a \u{64e} b");
        check("x² and ½ and ﷽", "x² and ½ and ﷽");
        check("plain", "plain");
    }

    #[test]
    fn rows_of_dots_are_short() {
        #[track_caller]
        fn check(line: &str, expect: &str) {
            assert_eq!(shorten_leaders(line), expect);
        }
        check("1 Foo . . . . . . . . 12", "1 Foo … 12");
        check("Summary........ 3", "Summary … 3");
        check("A ...... iii 1 B ………… 1", "A … iii 1 B … 1");
        check("and so on... 5", "and so on... 5");
        check("version 1.2.3.4.5.6", "version 1.2.3.4.5.6");
        check("ends .......", "ends …");
        check("    indented code", "    indented code");
    }

    #[test]
    fn broken_words_are_whole() {
        #[track_caller]
        fn check(markdown: &str, layer: &str, expect: &str) {
            assert_eq!(join_broken(markdown, layer), expect);
        }
        check(
            "an im- portant word",
            "an important word",
            "an important word",
        );
        check("an im- portant word", "", "an important word");
        check("a well- known one", "a well-known one", "a well-known one");
        check("a risk- based view", "", "a risk-based view");
        check("state-of-the- art", "", "state-of-the-art");
        check("pre- and post-war", "", "pre- and post-war");
        check("Vor- und Nachname", "", "Vor- und Nachname");
        check("- a list\n- of things", "", "- a list\n- of things");
        check(
            "E- mail, T- Shirt, 5- fold",
            "",
            "E- mail, T- Shirt, 5- fold",
        );
        check("see A- B and Jean- Luc", "", "see A- B and Jean- Luc");
        check("Übungsauf- gaben", "Übungsaufgaben", "Übungsaufgaben");
    }
}
