//! The rule that makes a follow-up a question of its own: the words of the last topic before it.

use shared::contract::Turn;
use shared::language::Language;

use super::follow_up::{depends, words};
use super::grammar::Grammar;
use super::identifiers::{identifiers, is_number};
use super::language::language;
use super::script::{Script, script};
use crate::prompt::NOT_IN_DOCUMENTS;

/// Questions looked back on; as many turns as a prompt has.
const TURNS: usize = 6;
/// Words carried over at most, of questions.
const TOPIC_WORDS: usize = 12;
/// Words carried over at most, of the last answer: names and identifiers.
const ANSWER_WORDS: usize = 6;
/// Characters of a question in a script without spaces.
const UNSPACED: usize = 60;

/// `text` with its topic: the words of the last question that stood by itself and of the
/// follow-ups since, and, for a question about a person or a thing, the names in the last answer.
/// `None` when there is no topic.
pub(super) fn carry(text: &str, history: &[Turn], spoken: Option<Language>) -> Option<String> {
    let mut kept: Vec<String> = Vec::new();
    for turn in since_topic(history) {
        let topic = topic(
            &turn.question,
            spoken,
            !identifiers_or_numbers(text).is_empty(),
        );
        kept.extend(topic);
    }
    if let Some(turn) = history.last() {
        kept.extend(names(&turn.answer));
    }
    let mut known = words(text);
    let mut carried: Vec<String> = Vec::new();
    for word in kept {
        let lower = word.to_lowercase();
        if !known.contains(&lower) {
            known.push(lower);
            carried.push(word);
        }
    }
    carried.truncate(TOPIC_WORDS + ANSWER_WORDS);
    (!carried.is_empty()).then(|| format!("{}: {text}", carried.join(" ")))
}

/// The last question that stands by itself and the follow-ups after it, oldest first.
fn since_topic(history: &[Turn]) -> &[Turn] {
    let from = history.len().saturating_sub(TURNS);
    let recent = history.get(from..).unwrap_or_default();
    let stands = |turn: &Turn| {
        let text = turn.question.trim();
        !depends(text, language(text, &[]))
    };
    let topic = recent.iter().rposition(stands).unwrap_or(0);
    recent.get(topic..).unwrap_or_default()
}

/// The words of `question` that name something, in its own order and case. Where the follow-up
/// has identifiers or numbers of its own they `replace` those of the question.
fn topic(question: &str, spoken: Option<Language>, replace: bool) -> Vec<String> {
    if matches!(
        script(question),
        Some(Script::Han | Script::Alone("ja" | "th"))
    ) {
        let bare = question
            .trim()
            .trim_end_matches(|c: char| !c.is_alphanumeric());
        return vec![bare.chars().take(UNSPACED).collect()];
    }
    let grammar = language(question, &[])
        .or(spoken)
        .or_else(|| "en".parse().ok())
        .and_then(Grammar::of);
    let replaced = if replace {
        identifiers_or_numbers(question)
    } else {
        Vec::new()
    };
    let is_replaced = |word: &str| {
        let of_identifier = |one: &String| one.split(' ').any(|part| part == word);
        replaced.iter().any(of_identifier)
    };
    question
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '§' | '#')))
        .filter(|word| !word.is_empty())
        .filter(|word| grammar.is_none_or(|one| !one.is_small(&word.to_lowercase())))
        .filter(|word| !is_replaced(word))
        .take(TOPIC_WORDS)
        .map(str::to_owned)
        .collect()
}

fn identifiers_or_numbers(text: &str) -> Vec<String> {
    let mut found = identifiers(text);
    let numbers = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| is_number(word));
    found.extend(numbers.map(str::to_owned));
    found
}

/// Names and identifiers of `answer`: words with a capital that begin no sentence. German writes
/// every noun so, which does no harm: they are what the answer is about.
fn names(answer: &str) -> Vec<String> {
    let plain = without_citations(answer);
    if plain
        .trim()
        .starts_with(NOT_IN_DOCUMENTS.trim_end_matches('.'))
    {
        return Vec::new();
    }
    let mut found = identifiers(&plain);
    let mut begins = true;
    for word in plain.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_name = bare.starts_with(char::is_uppercase) && bare.chars().count() > 1;
        if is_name && !begins {
            found.push(bare.to_owned());
        }
        begins = word.ends_with(['.', '!', '?', ':', '>', '-', '*']);
    }
    found.truncate(ANSWER_WORDS);
    found
}

/// `answer` without `[handbook.pdf, p.4]`.
fn without_citations(answer: &str) -> String {
    let mut plain = String::with_capacity(answer.len());
    let mut depth = 0_usize;
    for c in answer.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(history: &[(&str, &str)], text: &str, expect: Option<&str>) {
        let turns: Vec<Turn> = history
            .iter()
            .map(|(question, answer)| Turn {
                question: (*question).to_owned(),
                answer: (*answer).to_owned(),
            })
            .collect();
        let found = carry(text, &turns, language(text, &turns));
        assert_eq!(found.as_deref(), expect, "after {history:?}");
    }

    #[test]
    fn the_topic_is_carried_over() {
        let notice = (
            "What is the notice period for employees?",
            "three months [1].",
        );
        check(
            &[notice],
            "and for contractors?",
            Some("notice period employees: and for contractors?"),
        );
        check(
            &[notice, ("and for contractors?", "one month.")],
            "why?",
            Some("notice period employees contractors: why?"),
        );
        check(
            &[("How do I order a pump?", "By form."), notice],
            "why?",
            Some("notice period employees: why?"),
        );
        check(
            &[(
                "Who founded the company?",
                "It was founded by Ada Lovelace [about.md, p.1].",
            )],
            "When was she born?",
            Some("founded company Ada Lovelace: When was she born?"),
        );
        check(
            &[("What does error E-4711 mean?", "The documents do not say.")],
            "and E-4712?",
            Some("error: and E-4712?"),
        );
        check(
            &[("What was the revenue in 2022?", "ten million.")],
            "What about 2023?",
            Some("revenue: What about 2023?"),
        );
        check(
            &[("员工的通知期是多久？", "三个月。")],
            "合同工呢？",
            Some("员工的通知期是多久: 合同工呢？"),
        );
        check(
            &[("Wie lang ist die Kündigungsfrist?", "drei Monate")],
            "Und für Freiberufler?",
            Some("lang Kündigungsfrist Monate: Und für Freiberufler?"),
        );
        check(&[("why?", "")], "how so?", None);
        check(&[], "why?", None);
    }
}
