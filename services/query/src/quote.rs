//! The part of a passage to quote: always a verbatim, contiguous piece of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::terms::terms;

/// Passages up to this many bytes are quoted whole.
const WHOLE: usize = 480;
/// A part quoted of a longer passage has at most this many bytes, unless its one sentence has
/// more.
const PART: usize = 480;

/// What a question's terms are worth: the rarer among the passages, the more.
pub(crate) struct Weights(BTreeMap<String, f32>);

impl Weights {
    /// Weighs the terms of `question` by how many of `passages` have them: ln(1 + n / (1 + df)).
    pub(crate) fn of<'a>(question: &str, passages: impl IntoIterator<Item = &'a str>) -> Self {
        let passages: Vec<BTreeSet<String>> = passages.into_iter().map(terms).collect();
        let weight = |term: &String| {
            let having = passages
                .iter()
                .filter(|passage| passage.contains(term))
                .count();
            (1.0 + passages.len() as f32 / (1.0 + having as f32)).ln()
        };
        Self(
            terms(question)
                .into_iter()
                .map(|term| (term.clone(), weight(&term)))
                .collect(),
        )
    }

    /// The worth of the question's terms that `text` has, each once.
    pub(crate) fn score(&self, text: &str) -> f32 {
        let found = terms(text);
        self.0
            .iter()
            .filter(|(term, _)| found.contains(*term))
            .map(|(_, weight)| weight)
            .sum()
    }
}

/// The part of `text` to quote. Of a long text these are the neighbouring sentences that together
/// have the most of the question's terms, and as much after them as fits.
pub(crate) fn quote<'a>(text: &'a str, weights: &Weights) -> &'a str {
    if text.trim().len() <= WHOLE {
        return text.trim();
    }
    let sentences = sentences(text);
    let mut best: Option<(f32, Range<usize>)> = None;
    for (index, first) in sentences.iter().enumerate() {
        for last in sentences.iter().skip(index) {
            let range = first.start..last.end;
            if range.len() > PART && range != *first {
                break;
            }
            let score = weights.score(text.get(range.clone()).unwrap_or_default());
            // More text only for more terms; without any the first sentence stays.
            let better = best.as_ref().is_none_or(|(most, part)| {
                let by_score = score.total_cmp(most);
                by_score.then(part.len().cmp(&range.len())).is_gt() && score > 0.0
            });
            if better {
                best = Some((score, range));
            }
        }
    }
    let chosen = best.map_or(0..text.len(), |(_, range)| range);
    let end = sentences
        .iter()
        .filter(|sentence| sentence.end >= chosen.end)
        .map(|sentence| sentence.end)
        .take_while(|end| *end == chosen.end || end - chosen.start <= PART)
        .last()
        .unwrap_or(chosen.end);
    text.get(chosen.start..end).unwrap_or(text).trim()
}

/// Sentences and lines of their own: a sentence ends at `.`, `!`, `?` before white space and
/// anything but a lower-case letter, at a Chinese or Japanese full stop, at a blank line, and
/// before a line that begins with a mark of Markdown.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut ended = false;
    let mut characters = text.char_indices().peekable();
    while let Some((_, c)) = characters.next() {
        let full_width = matches!(c, '。' | '！' | '？');
        if matches!(c, '.' | '!' | '?') || full_width {
            ended = true;
        } else if !matches!(c, ')' | ']' | '"' | '\'' | '”' | '’' | '」' | '*' | '_') {
            ended = false;
        }
        let mut lines = usize::from(c == '\n');
        let mut spaced = full_width || c == '\n';
        while let Some((_, space)) = characters.next_if(|(_, c)| c.is_whitespace()) {
            spaced = true;
            lines += usize::from(space == '\n');
        }
        let Some((next_at, next)) = characters.peek().copied() else {
            break;
        };
        let new_line = lines > 0 && matches!(next, '#' | '-' | '*' | '|' | '>' | '+' | '`');
        let new_sentence = spaced && ended && (full_width || !next.is_lowercase());
        if new_sentence || new_line || lines > 1 {
            found.push(start..next_at);
            start = next_at;
            ended = false;
        }
    }
    if start < text.len() {
        found.push(start..text.len());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_cover_the_text() {
        fn check(input: &str, expect: &[&str]) {
            let ranges = sentences(input);
            let found: Vec<&str> = ranges
                .iter()
                .map(|range| input.get(range.clone()).unwrap().trim_end())
                .collect();
            assert_eq!(found, expect, "in `{input}`");
            assert_eq!(ranges.iter().map(Range::len).sum::<usize>(), input.len());
        }
        check("", &[]);
        check("One. Two! Three", &["One.", "Two!", "Three"]);
        check(
            "Wrapped\nline. Next\nline.",
            &["Wrapped\nline.", "Next\nline."],
        );
        check(
            "# Head\nText here.\n\nMore",
            &["# Head\nText here.", "More"],
        );
        check("A\n- one\n- two", &["A", "- one", "- two"]);
        check(
            "It is 3.5 m. (See e.g. this.) Then",
            &["It is 3.5 m.", "(See e.g. this.)", "Then"],
        );
        check("一。二！三", &["一。", "二！", "三"]);
    }

    #[test]
    fn the_quote_is_where_the_terms_are() {
        let filler = "Nothing of interest stands in this sentence at all. ".repeat(12);
        let text =
            format!("{filler}Refunds are paid within 14 days. They go to the card. {filler}");
        let weights = Weights::of("When are refunds paid?", [text.as_str()]);
        let part = quote(&text, &weights);
        assert!(
            part.starts_with("Refunds are paid within 14 days."),
            "{part}"
        );
        assert!(part.len() <= PART && text.contains(part));
        let short = " Short text. ";
        assert_eq!(quote(short, &weights), "Short text.");
        let nothing = Weights::of("zebra", [text.as_str()]);
        assert!(
            text.starts_with(quote(&text, &nothing)),
            "without a match the beginning"
        );
        let endless = "word ".repeat(1_000);
        assert_eq!(
            quote(&endless, &weights),
            endless.trim(),
            "one sentence stays whole"
        );
    }
}
