//! The extractive answer: the best passages, verbatim.

use shared::contract::{Citation, Passage};

use crate::quote::{Weights, quote};

/// The generator's name in [`shared::contract::AnswerEvent::Done`].
pub const GENERATOR: &str = "extractive";
/// Passages quoted at most.
const MOST_QUOTES: usize = 3;
const NOTHING: &str = "Nothing in these documents matches the question.\n";

/// An answer made of quotations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extract {
    /// Markdown, piece by piece: a blockquote per passage, with number and label.
    pub pieces: Vec<String>,
    /// The passages quoted, numbered as in the list given.
    pub citations: Vec<Citation>,
    /// Whether there was anything to quote.
    pub answered: bool,
}

/// Quotes up to three of `passages`, best first. When some of them have terms of the question,
/// those without any are not quoted.
pub fn extract(question: &str, passages: &[Passage]) -> Extract {
    let weights = Weights::of(
        question,
        passages.iter().map(|passage| passage.hit.text.as_str()),
    );
    let matches = |passage: &Passage| weights.score(&passage.hit.text) > 0.0;
    let any_matches = passages.iter().any(matches);
    let mut answer = Extract {
        pieces: Vec::new(),
        citations: Vec::new(),
        answered: false,
    };
    let quoted = (1..)
        .zip(passages)
        .filter(|(_, passage)| !any_matches || matches(passage))
        .take(MOST_QUOTES);
    for (number, passage) in quoted {
        let text = quote(&passage.hit.text, &weights);
        if text.is_empty() {
            continue;
        }
        answer.pieces.push(blockquote(text, number, &passage.label));
        answer.citations.push(Citation {
            number,
            label: passage.label.clone(),
        });
    }
    answer.answered = !answer.citations.is_empty();
    if !answer.answered {
        answer.pieces.push(NOTHING.to_owned());
    }
    answer
}

/// `text` as a blockquote, and below it whence it comes.
fn blockquote(text: &str, number: u32, label: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + label.len() + 32);
    for line in text.lines() {
        quoted.push_str("> ");
        quoted.push_str(line);
        quoted.push('\n');
    }
    quoted + &format!("\n**{number}** {label}\n\n")
}
