//! A follow-up as a question of its own, by the language model that is going to answer it.
//!
//! It is asked at most once, within a deadline, and only when the rule says that the question
//! hangs on what was said before. Its words are searched by only if they pass [`accepted`]; at
//! any doubt the rule's stay.

use std::time::Duration;

use futures::StreamExt as _;
use shared::contract::{Provider, Question, Turn, Understood};
use tracing::debug;

use super::follow_up::words;
use super::grammar::Grammar;
use super::script::script;
use super::{language, reworded};
use crate::generation::{Candidate, GenerateError, Generators, Message, Piece, Prompt, Role, Stop};
use crate::prompt::tokens;

const RULES: &str = "You rewrite the last question of a conversation so that it can be understood \
without the conversation: put the names and topics it refers to in place of words like \"it\" or \
\"that\". Keep its language and its meaning. Do not answer it. Do not add anything that was not \
said. Reply with the rewritten question alone, on one line.";

/// Turns that the model reads, and characters of each answer.
const TURNS: usize = 3;
const ANSWER: usize = 400;
/// Tokens of a rewritten question.
const MOST_TOKENS: u32 = 96;
/// Characters of a rewritten question beyond those of the follow-up.
const LONGER: usize = 240;

/// `understood`, with a better text if `generators` have one within `limit`.
pub(crate) async fn rewrite(
    generators: &Generators,
    question: &Question,
    understood: Understood,
    limit: Duration,
) -> Understood {
    if understood.rewritten.is_none() || limit.is_zero() {
        return understood;
    }
    let written = tokio::time::timeout(limit, ask(generators, question)).await;
    let written = match written {
        Ok(Some(Ok(text))) => text,
        Ok(Some(Err(error))) => {
            debug!(%error, "the follow-up keeps the rule's words");
            return understood;
        }
        Ok(None) => return understood,
        Err(_late) => {
            debug!(
                limit_ms = limit.as_millis(),
                "no rewritten follow-up in time"
            );
            return understood;
        }
    };
    if let Some(text) = accepted(&written, question) {
        return reworded(understood, text);
    }
    debug!("the rewritten follow-up is not to be trusted");
    understood
}

/// What the first generator that may be asked, and is no burden, makes of the question.
async fn ask(
    generators: &Generators,
    question: &Question,
) -> Option<Result<String, GenerateError>> {
    let candidates = generators.candidates(question.generator.as_ref()).ok()?;
    for candidate in candidates {
        if candidate.generator.provider() == Provider::Extractive {
            return None;
        }
        match model(&candidate).await {
            Ok(Some(model)) => return Some(write(&candidate, &model, question).await),
            // It reads too slowly to be asked twice for one answer.
            Ok(None) => return None,
            Err(error) => generators.note_failure(candidate.generator.provider(), &error),
        }
    }
    None
}

/// The candidate's model once it has been checked: nothing of a conversation, whose answers are
/// made of documents, goes to one that may not have it. `None` for a slow one.
async fn model(candidate: &Candidate) -> Result<Option<String>, GenerateError> {
    let model = candidate.model().await?;
    let limits = candidate.generator.check(&model).await?;
    Ok(limits.context_tokens.is_none().then_some(model))
}

async fn write(
    candidate: &Candidate,
    model: &str,
    question: &Question,
) -> Result<String, GenerateError> {
    let mut pieces = candidate
        .generator
        .generate(model, prompt(question))
        .await?;
    let mut text = String::new();
    while let Some(piece) = pieces.next().await {
        match piece? {
            Piece::Text(more) => text.push_str(&more),
            // What was cut is no question.
            Piece::End {
                stop: Stop::AtLimit,
                ..
            } => text.clear(),
            Piece::Quote { .. } | Piece::End { .. } => {}
        }
    }
    Ok(text)
}

fn prompt(question: &Question) -> Prompt {
    let typed = question.text.trim();
    let from = question.history.len().saturating_sub(TURNS);
    let recent = question.history.get(from..).unwrap_or_default();
    let told: String = recent.iter().map(told).collect();
    let asked = format!("{told}\nLast question: {typed}\n\nRewritten question:");
    let messages = vec![
        Message {
            role: Role::System,
            content: RULES.to_owned(),
        },
        Message {
            role: Role::User,
            content: asked,
        },
    ];
    let length = messages.iter().map(|one| tokens(&one.content)).sum::<u32>();
    Prompt {
        question: typed.to_owned(),
        passages: Vec::new(),
        messages,
        tokens: length + 24,
        answer_tokens: MOST_TOKENS,
        temperature: 0.0,
    }
}

fn told(turn: &Turn) -> String {
    let answer: String = turn.answer.chars().take(ANSWER).collect();
    let question = turn.question.trim();
    format!(
        "Question: {question}\nAnswer: {}\n",
        answer.replace('\n', " ")
    )
}

/// `written` without what models put around it, if it is what was asked for: one line of bounded
/// length, a question in the follow-up's own script and language, that keeps its words, and names
/// nothing that the conversation has not.
fn accepted(written: &str, question: &Question) -> Option<String> {
    let typed = question.text.trim();
    let text = bare(written);
    let length = text.chars().count();
    let is_line = !text.is_empty() && !text.contains(['\n', '[', '<', '`']);
    let is_bounded = length <= typed.chars().count() + LONGER;
    let asks = |text: &str| text.ends_with(['?', '？', '؟', ';']);
    let is_question = asks(text) || !asks(typed);
    if !is_line || !is_bounded || !is_question || same(text, typed) {
        return None;
    }
    if script(text) != script(typed) && script(typed).is_some() {
        return None;
    }
    let ours = language::language(typed, &question.history);
    let theirs = language::language(text, &[]);
    if ours.is_some() && theirs.is_some() && ours != theirs {
        return None;
    }
    (keeps_its_words(text, typed, ours) && says_nothing_new(text, question))
        .then(|| text.to_owned())
}

fn bare(written: &str) -> &str {
    let text = written.trim();
    let labels = ["Rewritten question:", "Standalone question:", "Question:"];
    let label = labels.iter().find_map(|label| text.strip_prefix(label));
    label
        .unwrap_or(text)
        .trim()
        .trim_matches(['"', '“', '”', '*'])
        .trim()
}

fn same(a: &str, b: &str) -> bool {
    words(a) == words(b)
}

/// Whether the follow-up's own topics are still there.
fn keeps_its_words(text: &str, typed: &str, spoken: Option<shared::language::Language>) -> bool {
    let grammar = spoken.and_then(Grammar::of);
    let now = words(text);
    let mut own = words(typed);
    own.retain(|word| grammar.is_none_or(|one| !one.is_small(word)));
    own.retain(|word| !["about", "tell", "more"].contains(&word.as_str()));
    let kept = own.iter().filter(|word| stands_in(word, &now)).count();
    kept * 2 >= own.len()
}

/// Whether every number was said before, and most other words were: an answer in the disguise of
/// a question says something new.
fn says_nothing_new(text: &str, question: &Question) -> bool {
    let mut said = words(&question.text);
    for turn in &question.history {
        said.extend(words(&turn.question));
        said.extend(words(&turn.answer));
    }
    let now = words(text);
    let has_digit = |word: &String| word.chars().any(char::is_numeric);
    let numbers_are_known = now
        .iter()
        .filter(|word| has_digit(word))
        .all(|word| said.contains(word));
    let long: Vec<&String> = now.iter().filter(|word| word.chars().count() > 3).collect();
    let known = long.iter().filter(|word| stands_in(word, &said)).count();
    numbers_are_known && known * 2 >= long.len()
}

/// Whether `word`, or another form of it, is among `words`: their first four letters are the
/// same. Words of scripts without spaces are whole clauses; one must have a part of the other.
fn stands_in(word: &str, words: &[String]) -> bool {
    let head = |word: &str| word.chars().take(4).collect::<String>();
    let unspaced = word.chars().any(|c| matches!(c, '\u{2e80}'..='\u{9fff}'));
    words.iter().any(|other| {
        if unspaced {
            shares_a_pair(word, other)
        } else {
            head(word) == head(other)
        }
    })
}

/// Whether two neighbouring characters of `a` stand in `b`.
fn shares_a_pair(a: &str, b: &str) -> bool {
    let characters: Vec<char> = a.chars().collect();
    characters
        .windows(2)
        .any(|pair| b.contains(&pair.iter().collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(before: &str, answer: &str, typed: &str) -> Question {
        Question {
            text: typed.to_owned(),
            history: vec![Turn {
                question: before.to_owned(),
                answer: answer.to_owned(),
            }],
            ..Question::default()
        }
    }

    #[test]
    fn only_a_question_that_says_the_same_is_accepted() {
        let asked = question(
            "What is the notice period for employees?",
            "Three months [handbook.pdf, p.4].",
            "and for contractors?",
        );
        let check = |written: &str, expect: Option<&str>| {
            assert_eq!(accepted(written, &asked).as_deref(), expect, "{written}");
        };
        let right = "What is the notice period for contractors?";
        check(right, Some(right));
        check(&format!(" \"{right}\"\n"), Some(right));
        check(&format!("Rewritten question: {right}"), Some(right));
        check("", None);
        check("and for contractors?", None);
        check("The notice period for contractors is three months.", None);
        check("Is the notice period for contractors 30 days?", None);
        check("What is the notice period for employees?", None);
        check(&format!("{right}\nIt is one month."), None);
        check("What is the notice period for contractors [1]?", None);
        check("Wie lang ist die Kündigungsfrist für contractors?", None);
        check("合同工的通知期是多久？", None);
        check(
            &format!("{}contractors?", "notice period ".repeat(30)),
            None,
        );
        check(
            "Do contractors enjoy sailing around tropical islands?",
            None,
        );
        let chinese = question("员工的通知期是多久？", "三个月。", "合同工呢？");
        let right = "合同工的通知期是多久？";
        assert_eq!(accepted(right, &chinese).as_deref(), Some(right));
        assert_eq!(accepted("合同工的通知期是30天吗？", &chinese), None);
        let person = question("Who founded it?", "Ada Lovelace did.", "When was she born?");
        let right = "When was Ada Lovelace born?";
        assert_eq!(accepted(right, &person).as_deref(), Some(right));
    }
}
