//! No model: the best passages, verbatim.

use async_trait::async_trait;
use futures::{StreamExt as _, stream};
use shared::contract::{GeneratorId, GeneratorView, Passage, Provider, TokenUsage};

use super::{GenerateError, Generator, Limits, Piece, Pieces, Prompt, Stop};
use crate::quote::{Weights, quote};

/// Passages quoted at most.
const MOST_QUOTES: usize = 3;

/// Answers with quotations. It is always there and needs nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extractive;

#[async_trait]
impl Generator for Extractive {
    fn provider(&self) -> Provider {
        Provider::Extractive
    }

    async fn models(&self) -> Result<Vec<GeneratorView>, GenerateError> {
        Ok(vec![GeneratorView {
            id: GeneratorId::new(Provider::Extractive, ""),
            is_default: false,
            window_tokens: None,
            bytes: None,
            loaded: Some(true),
            refused: None,
        }])
    }

    async fn default_model(&self) -> Result<String, GenerateError> {
        Ok(String::new())
    }

    async fn check(&self, _model: &str) -> Result<Limits, GenerateError> {
        Ok(Limits::default())
    }

    async fn warm(&self, _model: &str) -> Result<(), GenerateError> {
        Ok(())
    }

    async fn generate(&self, _model: &str, prompt: Prompt) -> Result<Pieces, GenerateError> {
        let end = Piece::End {
            usage: TokenUsage::default(),
            stop: Stop::Finished,
            notes: Vec::new(),
        };
        let quotes = quotes(&prompt.question, &prompt.passages);
        let pieces = quotes.into_iter().chain([end]).map(Ok);
        Ok(stream::iter(pieces.collect::<Vec<_>>()).boxed())
    }
}

/// Parts of up to three of `passages`, best first. When some of them have terms of the question,
/// those without any are not quoted.
fn quotes(question: &str, passages: &[Passage]) -> Vec<Piece> {
    let texts = passages.iter().map(|passage| passage.hit.text.as_str());
    let weights = Weights::of(question, texts);
    let matches = |passage: &Passage| weights.score(&passage.hit.text) > 0.0;
    let any_matches = passages.iter().any(matches);
    (1..)
        .zip(passages)
        .filter(|(_, passage)| !any_matches || matches(passage))
        .map(|(number, passage)| (number, quote(&passage.hit.text, &weights)))
        .filter(|(_, text)| says_something(text))
        .take(MOST_QUOTES)
        .map(|(number, text)| Piece::Quote {
            number,
            text: text.to_owned(),
        })
        .collect()
}

/// A running head or foot that is a passage of its own is found by its words and tells nothing.
fn says_something(text: &str) -> bool {
    const WORDS: usize = 6;
    let is_sentence = text
        .trim_end()
        .ends_with(['.', '!', '?', '。', '！', '？', ':', ')']);
    let is_unspaced = text.chars().any(|c| !c.is_ascii() && c.is_alphabetic());
    let is_table = text.contains('|');
    is_sentence || is_unspaced || is_table || text.split_whitespace().nth(WORDS).is_some()
}
