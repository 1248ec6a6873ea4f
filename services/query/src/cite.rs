//! Citations in the text of a model: `[2]` becomes `[handbook.pdf, p.4]` as it streams by.
//!
//! The ids are closed: a number that names no passage given to the model is left out and counted,
//! so that no citation can be made up.

use shared::contract::Citation;

/// No citation is longer: `[passage 12, passage 13, passage 14]`.
const LONGEST: usize = 64;

/// Renders the citations of one answer.
#[derive(Debug)]
pub struct Citations {
    /// `[name, p.4]` of each passage given.
    labels: Vec<String>,
    /// From an open bracket on, not yet known to be a citation.
    held: String,
    cited: Vec<u32>,
    unknown: u32,
}

impl Citations {
    /// For an answer over passages with these labels, numbered from 1.
    pub fn new(labels: Vec<String>) -> Self {
        Self {
            labels,
            held: String::new(),
            cited: Vec::new(),
            unknown: 0,
        }
    }

    /// Only the first `given` passages may be cited: the others did not fit into the prompt.
    pub fn only(&mut self, given: usize) {
        self.labels.truncate(given);
    }

    /// What of `text`, and of what was held before it, can be shown.
    pub fn push(&mut self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        for c in text.chars() {
            if c == '[' {
                shown.push_str(&std::mem::take(&mut self.held));
                self.held.push(c);
            } else if self.held.is_empty() {
                shown.push(c);
            } else {
                self.held.push(c);
                if c == ']' {
                    let held = std::mem::take(&mut self.held);
                    shown.push_str(&self.render(held));
                } else if self.held.len() > LONGEST || !may_stand_in_a_citation(c) {
                    shown.push_str(&std::mem::take(&mut self.held));
                }
            }
        }
        shown
    }

    /// What is still held when the text has ended.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// The label of passage `number`, which is quoted; empty when there is none.
    pub fn cite(&mut self, number: u32) -> String {
        let label = self.label(number).cloned().unwrap_or_default();
        if !label.is_empty() && !self.cited.contains(&number) {
            self.cited.push(number);
        }
        label
    }

    /// The passages cited, in the order of their first citation.
    pub fn cited(&self) -> Vec<Citation> {
        let cited = self.cited.iter();
        cited
            .filter_map(|&number| {
                Some(Citation {
                    number,
                    label: self.label(number)?.clone(),
                })
            })
            .collect()
    }

    /// Citations that named no passage.
    pub fn unknown(&self) -> u32 {
        self.unknown
    }

    fn label(&self, number: u32) -> Option<&String> {
        self.labels.get((number as usize).checked_sub(1)?)
    }

    /// `bracket` with labels in place of numbers, or as it is when it is no citation.
    fn render(&mut self, bracket: String) -> String {
        let Some(numbers) = numbers(&bracket) else {
            return bracket;
        };
        let mut rendered = String::new();
        for number in numbers {
            let label = self.cite(number);
            if label.is_empty() {
                self.unknown += 1;
            } else if !rendered.contains(&label) {
                rendered.push_str(&label);
            }
        }
        rendered
    }
}

/// `text` with what would read as a citation in round brackets: a document's own `[3]` must not
/// become one of ours when a model copies it.
pub(crate) fn defuse(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        safe.push_str(before);
        let end = from.find(']').map_or(from.len(), |close| close + 1);
        let (bracket, after) = from.split_at(end);
        if numbers(bracket).is_some() {
            safe.push('(');
            safe.push_str(bracket.trim_matches(['[', ']']));
            safe.push(')');
            rest = after;
        } else {
            safe.push('[');
            rest = from.get(1..).unwrap_or_default();
        }
    }
    safe + rest
}

fn may_stand_in_a_citation(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, ' ' | ',' | ';' | '-' | '–' | '#' | '"' | '=' | '&')
}

/// The numbers of `[1]`, `[1, 3]`, `[2-4]`, `[passage 2]`, `[id="2"]`; `None` for any other
/// bracket. Models that were told to write `[1]` do write all of these.
fn numbers(bracket: &str) -> Option<Vec<u32>> {
    let inner = bracket.strip_prefix('[')?.strip_suffix(']')?;
    let mut numbers: Vec<u32> = Vec::new();
    let mut range_from = None;
    let tokens = inner
        .split_inclusive(|c: char| !c.is_ascii_alphanumeric())
        .flat_map(|part| {
            let cut = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            [cut, part.get(cut.len()..).unwrap_or_default()]
        })
        .filter(|part| !part.trim().is_empty());
    for token in tokens {
        if let Ok(number) = token.parse::<u32>() {
            // Years and quantities in brackets are no citations.
            if number > 999 {
                return None;
            }
            match range_from.take() {
                Some(from) if from < number && number - from < 20 => {
                    numbers.extend(from + 1..=number);
                }
                _ => numbers.push(number),
            }
        } else if matches!(token.trim(), "-" | "–") {
            range_from = numbers.last().copied();
        } else if !is_word_of_a_citation(token) {
            return None;
        }
    }
    (!numbers.is_empty()).then_some(numbers)
}

fn is_word_of_a_citation(token: &str) -> bool {
    let token = token.trim().to_lowercase();
    matches!(
        token.as_str(),
        "passage"
            | "passages"
            | "source"
            | "sources"
            | "id"
            | "and"
            | ","
            | ";"
            | "#"
            | "="
            | "\""
            | "=\""
            | "&"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn citations() -> Citations {
        Citations::new(vec!["[a.pdf, p.1]".to_owned(), "[b.md]".to_owned()])
    }

    #[track_caller]
    fn check(text: &str, expect: &str, cited: &[u32], unknown: u32) {
        // However the text is cut into tokens, the outcome is the same.
        for size in [1, 2, 3, 1_000] {
            let mut citations = citations();
            let mut shown = String::new();
            let letters: Vec<char> = text.chars().collect();
            for token in letters.chunks(size) {
                shown.push_str(&citations.push(&token.iter().collect::<String>()));
            }
            shown.push_str(&citations.finish());
            let numbers: Vec<u32> = citations.cited().iter().map(|c| c.number).collect();
            assert_eq!(
                (shown.as_str(), numbers.as_slice()),
                (expect, cited),
                "`{text}` by {size}"
            );
            assert_eq!(citations.unknown(), unknown, "`{text}`");
        }
    }

    #[test]
    fn numbers_become_labels() {
        check("It is so [1].", "It is so [a.pdf, p.1].", &[1], 0);
        check("So [2][1].", "So [b.md][a.pdf, p.1].", &[2, 1], 0);
        check("So [1, 2].", "So [a.pdf, p.1][b.md].", &[1, 2], 0);
        check("So [1-2].", "So [a.pdf, p.1][b.md].", &[1, 2], 0);
        check("So [passage 2]", "So [b.md]", &[2], 0);
        check("So [id=\"1\"]", "So [a.pdf, p.1]", &[1], 0);
        check("So [Source 1 and 2]", "So [a.pdf, p.1][b.md]", &[1, 2], 0);
        check(
            "Again [1] and [1]",
            "Again [a.pdf, p.1] and [a.pdf, p.1]",
            &[1],
            0,
        );
    }

    #[test]
    fn what_names_no_passage_is_left_out_and_counted() {
        check("So [3].", "So .", &[], 1);
        check("So [0].", "So .", &[], 1);
        check("So [1, 7].", "So [a.pdf, p.1].", &[1], 1);
    }

    #[test]
    fn other_brackets_stay() {
        for text in [
            "[x]",
            "[ ] todo",
            "[link](http://a)",
            "a[i]",
            "[1998]",
            "[",
            "[1",
            "[[",
            "]",
        ] {
            check(text, text, &[], 0);
        }
        check("[[1]]", "[[a.pdf, p.1]]", &[1], 0);
        let long = format!("[{}]", "1 ".repeat(60));
        check(&long, &long, &[], 0);
    }

    #[test]
    fn citations_within_documents_are_defused() {
        for (text, expect) in [
            ("as in [12] and [3, 4]", "as in (12) and (3, 4)"),
            ("a[i] [x] [1998] [", "a[i] [x] [1998] ["),
            ("[[1]]", "[(1)]"),
        ] {
            assert_eq!(defuse(text), expect);
        }
    }

    proptest! {
        #[test]
        fn text_without_brackets_passes_unchanged(text in "[^\\[\\]]{0,80}") {
            let mut citations = citations();
            let shown = citations.push(&text) + &citations.finish();
            prop_assert_eq!(shown, text);
        }
    }
}
