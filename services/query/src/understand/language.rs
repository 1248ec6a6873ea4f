//! The language of a question, which is often too short to tell. A wrong guess stems words by
//! the wrong rules, so that none is better.

use std::collections::HashSet;

use shared::contract::Turn;
use shared::language::Language;

use super::grammar::Grammar;
use super::script::{Script, script};

/// Letters from which statistics alone are believed for a script of many languages: below, the
/// guess must have a small word of its language in the text.
const ENOUGH: usize = 60;
/// Bytes of an earlier answer that are looked at.
const SAMPLE: usize = 1_000;

/// The language of `text`, or of what was said before it in the same script.
pub(super) fn language(text: &str, history: &[Turn]) -> Option<Language> {
    let found = of_text(text);
    if found.is_some() {
        return found;
    }
    let ours = script(text)?;
    let earlier = history.iter().rev().take(2).find_map(|turn| {
        let end = turn.answer.floor_char_boundary(SAMPLE);
        let answer = turn.answer.get(..end).unwrap_or_default();
        of_text(&turn.question).or_else(|| of_text(&format!("{} {answer}", turn.question)))
    });
    earlier.filter(|_| history.last().and_then(|turn| script(&turn.question)) == Some(ours))
}

fn of_text(text: &str) -> Option<Language> {
    match script(text)? {
        Script::Alone(code) => code.parse().ok(),
        Script::Han => Language::of(text).filter(|found| ["zh", "ja"].contains(&found.as_str())),
        Script::Latin => of_many(text),
        Script::Cyrillic | Script::Other => Language::of(text).or_else(|| by_small_words(text)),
    }
}

/// Statistics and small words must agree on a short text.
fn of_many(text: &str) -> Option<Language> {
    let guess = Language::of(text);
    let by_words = by_small_words(text);
    match (guess, by_words) {
        (Some(guess), Some(words)) if guess == words => Some(guess),
        (Some(guess), _) if letters(text) >= ENOUGH => Some(guess),
        // Statistics that are sure of another language than three of its words contradict them.
        (_, words) => words,
    }
}

/// The language whose small words the text has, two at least and more than any other's.
fn by_small_words(text: &str) -> Option<Language> {
    let lower = text.to_lowercase();
    let words: HashSet<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '-')
        .filter(|word| !word.is_empty())
        .collect();
    let mut counts: Vec<(usize, Language)> = Grammar::all()
        .map(|(grammar, language)| {
            let known = words.iter().filter(|word| grammar.is_small(word));
            (known.count(), language)
        })
        .collect();
    counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    match counts.as_slice() {
        [(first, language), (second, _), ..] if *first >= 2 && first > second => Some(*language),
        _ => None,
    }
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphabetic()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_after(text: &str, before: &str, expect: Option<&str>) {
        let turn = Turn {
            question: before.to_owned(),
            answer: String::new(),
        };
        let history = if before.is_empty() {
            vec![]
        } else {
            vec![turn]
        };
        let found = language(text, &history);
        assert_eq!(found.as_ref().map(Language::as_str), expect, "`{text}`");
    }

    #[test]
    fn short_questions_have_a_language_where_it_shows() {
        #[track_caller]
        fn check(text: &str, expect: Option<&str>) {
            check_after(text, "", expect);
        }
        check("What is the notice period?", Some("en"));
        check("How long do refunds take?", Some("en"));
        check("Wie lang ist die Kündigungsfrist?", Some("de"));
        check("Quelle est la durée du préavis ?", Some("fr"));
        check("¿Cuál es el plazo de preaviso?", Some("es"));
        check("Sözleşmenin ihbar süresi ne kadar ve nasıl?", Some("tr"));
        check("Каков срок уведомления для сотрудников?", Some("ru"));
        check("通知期是多久？", Some("zh"));
        check("通知期間はどのくらいですか", Some("ja"));
        check("통지 기간은 얼마입니까", Some("ko"));
        check("ระยะเวลาแจ้งล่วงหน้า", Some("th"));
        check("Ποια είναι η προθεσμία;", Some("el"));
    }

    #[test]
    fn none_is_better_than_a_wrong_one() {
        for text in [
            "E-4711",
            "invoice",
            "Kubernetes",
            "pump KL-40",
            "2023",
            "",
            "?",
        ] {
            check_after(text, "", None);
        }
    }

    #[test]
    fn a_follow_up_is_in_the_language_of_the_conversation() {
        check_after("KL-40?", "Wie lang ist die Kündigungsfrist?", Some("de"));
        check_after("why?", "What is the notice period?", Some("en"));
        check_after("E-4711?", "通知期是多久？", None);
        check_after("为什么？", "What is the notice period?", Some("zh"));
    }
}
