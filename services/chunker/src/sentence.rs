//! Where sentences end.

use std::ops::Range;

/// Words before a full stop that does not end a sentence, in lower case.
const ABBREVIATIONS: [&str; 39] = [
    "al", "approx", "apr", "aug", "ca", "cf", "ch", "corp", "dec", "dept", "dr", "ed", "eds", "eq",
    "est", "etc", "feb", "fig", "figs", "inc", "jan", "jr", "ltd", "mr", "mrs", "ms", "nos", "nov",
    "oct", "para", "pp", "prof", "rev", "sec", "sept", "sr", "st", "vol", "vs",
];

/// The sentences of a paragraph, each with the white space after it; together they cover `text`.
///
/// A sentence ends after `.`, `!`, `?` or `…` and closing marks when white space and anything but
/// a lower-case letter follow, and after the Chinese and Japanese full stops at once. A number at
/// the start (`1.`), an initial (`J.`), letters with dots (`e.g.`) and known abbreviations do not
/// end one.
pub(crate) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let full_width = matches!(c, '。' | '！' | '？' | '｡');
        if !full_width && !matches!(c, '.' | '!' | '?' | '…') {
            continue;
        }
        while characters.next_if(|(_, c)| closes(*c)).is_some() {}
        let mut spaced = full_width;
        while characters.next_if(|(_, c)| c.is_whitespace()).is_some() {
            spaced = true;
        }
        let Some((end, next)) = characters.peek().copied() else {
            break;
        };
        let goes_on = next.is_lowercase() && !full_width;
        let before = text.get(start..at).unwrap_or_default();
        if spaced && !goes_on && !(c == '.' && is_abbreviation(before)) {
            found.push(start..end);
            start = end;
        }
    }
    if start < text.len() {
        found.push(start..text.len());
    }
    found
}

/// Marks that still belong to the sentence before them.
fn closes(c: char) -> bool {
    matches!(
        c,
        '.' | '!'
            | '?'
            | '…'
            | ')'
            | ']'
            | '"'
            | '\''
            | '”'
            | '’'
            | '»'
            | '」'
            | '』'
            | '）'
            | '*'
            | '_'
            | '。'
            | '！'
            | '？'
    )
}

/// Whether a full stop after `before` only shortens a word.
fn is_abbreviation(before: &str) -> bool {
    let word = before
        .rsplit(|c: char| c.is_whitespace())
        .next()
        .unwrap_or_default();
    let bare = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    let mut characters = bare.chars();
    match (characters.next(), characters.next()) {
        (None, _) => false,
        (Some(only), None) if only.is_alphabetic() => true,
        _ if bare.len() > 12 => false,
        _ if bare.bytes().all(|b| b.is_ascii_digit()) => before.trim_start() == word,
        _ if bare.contains('.') => bare.split('.').all(|part| part.chars().count() <= 2),
        _ => ABBREVIATIONS
            .binary_search(&bare.to_lowercase().as_str())
            .is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_they_should() {
        fn check(input: &str, expect: &[&str]) {
            let found: Vec<&str> = sentences(input)
                .into_iter()
                .map(|range| input.get(range).unwrap().trim_end())
                .collect();
            assert_eq!(found, expect, "in `{input}`");
            let length: usize = sentences(input).into_iter().map(|range| range.len()).sum();
            assert_eq!(length, input.len(), "sentences must cover `{input}`");
        }
        check("", &[]);
        check("No end", &["No end"]);
        check("One. Two! Three?", &["One.", "Two!", "Three?"]);
        check(
            "He said \"Stop.\" Then he left.",
            &["He said \"Stop.\"", "Then he left."],
        );
        check(
            "Dr. Smith paid Mr. Jones. Both left.",
            &["Dr. Smith paid Mr. Jones.", "Both left."],
        );
        check(
            "Use a tool, e.g. Git. It works.",
            &["Use a tool, e.g. Git.", "It works."],
        );
        check(
            "See J. R. Brown. Then go.",
            &["See J. R. Brown.", "Then go."],
        );
        check(
            "It costs 3.50 euros. Pay now.",
            &["It costs 3.50 euros.", "Pay now."],
        );
        check(
            "It began in 2019. Then it grew.",
            &["It began in 2019.", "Then it grew."],
        );
        check(
            "1. First do this. Then that.",
            &["1. First do this.", "Then that."],
        );
        check(
            "Lines may\nwrap here. And\nthere.",
            &["Lines may\nwrap here.", "And\nthere."],
        );
        check(
            "Wait… what? yes, go on. Done.",
            &["Wait… what? yes, go on.", "Done."],
        );
        check(
            "第一句。第二句！「好。」第三句",
            &["第一句。", "第二句！", "「好。」", "第三句"],
        );
        check(
            "See example.com for more. Bye.",
            &["See example.com for more.", "Bye."],
        );
        check("...", &["..."]);
    }

    #[test]
    fn abbreviations_are_sorted_for_the_search() {
        assert!(ABBREVIATIONS.is_sorted());
    }
}
