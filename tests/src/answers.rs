//! Judged questions for answers, and the measures they are judged by.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use shared::contract::{AnswerEvent, Source};

use crate::beir::{self, lines};

/// A question with what a right answer has in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judged {
    /// As asked.
    pub text: String,
    /// Each group must occur, by any one of its texts; none when there is no answer.
    pub gold: Vec<Vec<String>>,
    /// Ends of the paths of documents that hold the answer.
    pub documents: Vec<String>,
}

impl Judged {
    /// Whether the documents hold an answer.
    pub fn is_answerable(&self) -> bool {
        !self.gold.is_empty()
    }
}

/// The questions of a folder in the BEIR layout whose `answers.jsonl` says what is right, and its
/// documents. They are named `{id}.txt`.
///
/// # Errors
/// A file is missing or does not decode.
pub fn of_beir(folder: &Path) -> Result<(Vec<Judged>, Vec<beir::Document>)> {
    #[derive(Deserialize)]
    struct Answer {
        #[serde(rename = "_id")]
        id: String,
        answers: Vec<String>,
        #[serde(rename = "corpus-id")]
        document: Option<String>,
    }
    let answers: Vec<Answer> = lines(&folder.join("answers.jsonl"))?;
    let texts: HashMap<String, String> = beir::queries(folder)?
        .into_iter()
        .map(|query| (query.id, query.text))
        .collect();
    let judged = answers.into_iter().map(|answer| {
        let text = texts.get(&answer.id).context("an answer to no question")?;
        let gold = Some(answer.answers).filter(|answers| !answers.is_empty());
        Ok(Judged {
            text: text.clone(),
            gold: gold.into_iter().collect(),
            documents: answer
                .document
                .map(|id| format!("/{id}.txt"))
                .into_iter()
                .collect(),
        })
    });
    Ok((judged.collect::<Result<_>>()?, beir::documents(folder)?))
}

/// The questions of `folder-questions.jsonl`.
///
/// # Errors
/// The file is missing or does not decode.
pub fn of_folder(path: &Path) -> Result<Vec<Judged>> {
    #[derive(Deserialize)]
    struct Question {
        q: String,
        answer_contains: Vec<String>,
        sources: Vec<String>,
    }
    let questions: Vec<Question> = lines(path)?;
    let judged = questions.into_iter().map(|question| {
        let gold = question.answer_contains.iter();
        let documents = question.sources.iter();
        Judged {
            text: question.q,
            gold: gold
                .map(|either| either.split('|').map(str::to_owned).collect())
                .collect(),
            documents: documents
                .filter_map(|place| place.split('#').next())
                .map(|file| format!("/{file}"))
                .collect(),
        }
    });
    Ok(judged.collect())
}

/// How one question was answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Whether an answer was there to be found.
    pub answerable: bool,
    /// Whether one was given.
    pub answered: bool,
    /// Whether it has all that is right.
    pub right: bool,
    /// Token F1 against the best gold answer.
    pub f1: f64,
    /// Whether it cites anything.
    pub cites: bool,
    /// Whether it cites a document that holds the answer.
    pub cites_right: bool,
    /// To the first token, in milliseconds.
    pub first_ms: f64,
    /// To the last, in milliseconds.
    pub total_ms: f64,
}

impl Outcome {
    /// Judges the events of an answer; the times come from the caller, who waited.
    pub fn judge(judged: &Judged, events: &[AnswerEvent], first_ms: f64, total_ms: f64) -> Self {
        let mut outcome = Self {
            answerable: judged.is_answerable(),
            first_ms,
            total_ms,
            ..Self::default()
        };
        let mut text = String::new();
        let mut given: &[Source] = &[];
        for event in events {
            match event {
                AnswerEvent::Sources { sources, .. } => given = sources,
                AnswerEvent::Token { text: piece } => text.push_str(piece),
                AnswerEvent::Done {
                    answered,
                    citations,
                    ..
                } => {
                    outcome.answered = *answered;
                    outcome.cites = !citations.is_empty();
                    let cited = |source: &&Source| {
                        citations
                            .iter()
                            .any(|citation| citation.number == source.number)
                    };
                    let holds = |source: &Source| {
                        let path = format!("/{}", source.path.trim_start_matches('/'));
                        judged
                            .documents
                            .iter()
                            .any(|end| path.ends_with(end.as_str()))
                    };
                    outcome.cites_right = given.iter().filter(cited).any(holds);
                }
                AnswerEvent::Error { .. } => {}
            }
        }
        // The names of documents in citations are not the model's words.
        let words = normalised(&without_citations(&text, given));
        let occurs = |gold: &String| contains(&words, &normalised(gold));
        outcome.right = outcome.answerable
            && outcome.answered
            && judged.gold.iter().all(|group| group.iter().any(occurs));
        let all = judged.gold.iter().flatten();
        outcome.f1 = all
            .map(|gold| f1(&words, &normalised(gold)))
            .fold(0.0, f64::max);
        if !outcome.answerable && !outcome.answered {
            outcome.f1 = 1.0;
        }
        outcome
    }
}

fn without_citations(text: &str, sources: &[Source]) -> String {
    let labels = sources
        .iter()
        .flat_map(|source| [&source.citation, &source.label]);
    labels.fold(text.to_owned(), |text, label| {
        text.replace(label.as_str(), " ")
    })
}

/// Words as `SQuAD`'s own script compares them (Rajpurkar et al. 2016): lower case, without
/// punctuation and articles. A digit's separators stay within its word.
pub fn normalised(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split_whitespace().map(|word| -> String {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_number = inner.chars().any(|c| c.is_ascii_digit());
        inner
            .chars()
            .filter(|c| c.is_alphanumeric() || (is_number && matches!(c, '.' | ',' | '-' | ':')))
            .collect()
    });
    words
        .filter(|word| !word.is_empty() && !matches!(word.as_str(), "a" | "an" | "the"))
        .collect()
}

/// Whether `words` has all of `part` in a row.
fn contains(words: &[String], part: &[String]) -> bool {
    !part.is_empty() && words.windows(part.len()).any(|window| window == part)
}

/// Harmonic mean of precision and recall over the words, each as often as in both.
pub fn f1(words: &[String], gold: &[String]) -> f64 {
    let mut left: HashMap<&String, usize> = HashMap::new();
    for word in gold {
        *left.entry(word).or_default() += 1;
    }
    let mut same = 0_usize;
    for word in words {
        if let Some(count) = left.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            same += 1;
        }
    }
    if same == 0 {
        return 0.0;
    }
    2.0 * same as f64 / (words.len() + gold.len()) as f64
}

/// A table's head, for [`row`].
pub const HEAD: &str = "| generator | questions | right | F1 | refused rightly | refused wrongly | \
     cites | cites the right document | first token | whole answer |\n\
     |---|---|---|---|---|---|---|---|---|---|";

/// A row of the table: shares in per cent, medians in seconds. `right`, citations and wrong
/// refusals count over what has an answer, right refusals over what has none, F1 over all.
pub fn row(name: &str, outcomes: &[Outcome]) -> String {
    let share = |of: &dyn Fn(&&Outcome) -> bool, hit: &dyn Fn(&Outcome) -> bool| -> String {
        let all: Vec<&Outcome> = outcomes.iter().filter(of).collect();
        if all.is_empty() {
            return "–".to_owned();
        }
        let hits = all.iter().filter(|outcome| hit(outcome)).count();
        format!("{:.0} %", 100.0 * hits as f64 / all.len() as f64)
    };
    let with: &dyn Fn(&&Outcome) -> bool = &|outcome| outcome.answerable;
    let without: &dyn Fn(&&Outcome) -> bool = &|outcome| !outcome.answerable;
    let f1 = outcomes.iter().map(|outcome| outcome.f1).sum::<f64>() / outcomes.len().max(1) as f64;
    let seconds = |of: fn(&Outcome) -> f64| median(outcomes.iter().map(of).collect()) / 1_000.0;
    format!(
        "| {name} | {} | {} | {f1:.2} | {} | {} | {} | {} | {:.2} s | {:.2} s |",
        outcomes.len(),
        share(with, &|outcome| outcome.right),
        share(without, &|outcome| !outcome.answered),
        share(with, &|outcome| !outcome.answered),
        share(with, &|outcome| outcome.cites),
        share(with, &|outcome| outcome.cites_right),
        seconds(|outcome| outcome.first_ms),
        seconds(|outcome| outcome.total_ms),
    )
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        normalised(text)
    }

    #[test]
    fn words_are_compared_as_squad_does() {
        assert_eq!(
            words("The Normans, in \"France\"!"),
            ["normans", "in", "france"]
        );
        assert_eq!(
            words("at 7.5 MB/s (816-823-5415)."),
            ["at", "7.5", "mbs", "816-823-5415"]
        );
        assert!(contains(
            &words("It took 12 weeks of leave."),
            &words("12 weeks")
        ));
        assert!(!contains(&words("It took 112 weeks."), &words("12")));
        assert!(!contains(&words("any"), &words("the")));
    }

    #[test]
    fn f1_on_paper() {
        assert!((f1(&words("two laws"), &words("two")) - 2.0 / 3.0).abs() < 1e-9);
        assert!((f1(&words("x x"), &words("x")) - 2.0 / 3.0).abs() < 1e-9);
        assert!(f1(&words("no"), &words("yes")).abs() < 1e-9);
    }

    #[test]
    fn an_outcome_is_judged() {
        let done = |answered, numbers: &[u32]| AnswerEvent::Done {
            generator: "extractive".parse().unwrap(),
            timings: shared::contract::Timings::default(),
            usage: shared::contract::TokenUsage::default(),
            left_out: shared::contract::LeftOut::default(),
            answered,
            citations: numbers
                .iter()
                .map(|number| shared::contract::Citation {
                    number: *number,
                    label: String::new(),
                })
                .collect(),
            notes: Vec::new(),
        };
        let token = |text: &str| AnswerEvent::Token {
            text: text.to_owned(),
        };
        let judged = Judged {
            text: "When?".to_owned(),
            gold: vec![vec!["July 12, 2019".to_owned(), "12 July".to_owned()]],
            documents: vec!["/a/b.pdf".to_owned()],
        };
        let events = [token("On 12"), token(" July 2019."), done(true, &[1])];
        let outcome = Outcome::judge(&judged, &events, 5.0, 9.0);
        assert!(outcome.right && outcome.cites && !outcome.cites_right);
        assert!(outcome.f1 > 0.5, "{outcome:?}");

        let none = Judged::default();
        let refused = Outcome::judge(&none, &[done(false, &[])], 1.0, 1.0);
        assert!(!refused.answerable && !refused.right && refused.f1 > 0.99);
        let table = row("x", &[outcome, refused]);
        assert_eq!(
            table,
            "| x | 2 | 100 % | 0.93 | 100 % | 0 % | 100 % | 0 % | 0.01 s | 0.01 s |"
        );
    }
}
