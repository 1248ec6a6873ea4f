//! Generated text: words of the embedding model's own vocabulary, frequent ones more often, so
//! that both engines have about as much to do as with real text.

use std::collections::HashSet;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::Value;
use shared::settings::Model;

use crate::error::Complaint;

/// What questions are drawn with; documents are drawn with their number.
pub(super) const QUESTIONS: u64 = u64::MAX;
/// Words made up when the vocabulary has too few.
const MADE_UP: usize = 20_000;
/// Words of a question.
const LENGTHS: std::ops::RangeInclusive<usize> = 6..=10;

/// Words, the most frequent first.
pub(super) struct Lexicon {
    words: Vec<String>,
}

impl Lexicon {
    /// The whole words of the model's tokenizer, whose numbers go by frequency.
    ///
    /// # Errors
    /// When the tokenizer cannot be read.
    pub(super) fn of(model: &Model) -> Result<Self, Complaint> {
        let path = model.folder().join("tokenizer.json");
        let read = std::fs::read(&path).map_err(|error| error.to_string());
        let parsed = read.and_then(|bytes| {
            serde_json::from_slice::<Value>(&bytes).map_err(|error| error.to_string())
        });
        let tokenizer = parsed.map_err(|error| {
            let path = path.display();
            Complaint::new(format!("cannot read `{path}`: {error}"), "run `ibid setup`")
        })?;
        Ok(Self::from_tokenizer(&tokenizer))
    }

    fn from_tokenizer(tokenizer: &Value) -> Self {
        let vocabulary = tokenizer.pointer("/model/vocab").and_then(Value::as_object);
        let mut numbered: Vec<(u64, &str)> = vocabulary
            .into_iter()
            .flatten()
            .filter(|(word, _)| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase()))
            .filter_map(|(word, number)| Some((number.as_u64()?, word.as_str())))
            .collect();
        numbered.sort_unstable();
        let words: Vec<String> = numbered
            .into_iter()
            .map(|(_, word)| word.to_owned())
            .collect();
        if words.len() < 1_000 {
            return Self::made_up();
        }
        Self { words }
    }

    /// Words of no language.
    pub(super) fn made_up() -> Self {
        Self {
            words: (0..MADE_UP).map(made_up).collect(),
        }
    }
}

/// `ba`, `be`, … `bababa`, …
fn made_up(mut number: usize) -> String {
    let syllables: Vec<String> = "bdfgklmnprstvz"
        .chars()
        .flat_map(|consonant| {
            "aeiou"
                .chars()
                .map(move |vowel| format!("{consonant}{vowel}"))
        })
        .collect();
    let mut word = String::new();
    loop {
        let syllable = syllables.get(number % syllables.len());
        word.push_str(syllable.map_or("", String::as_str));
        number /= syllables.len();
        if number == 0 {
            return word;
        }
    }
}

/// Writes text; the same for the same seed.
pub(super) struct Writer<'a> {
    lexicon: &'a Lexicon,
    random: StdRng,
}

impl<'a> Writer<'a> {
    /// One for `seed`.
    pub(super) fn new(lexicon: &'a Lexicon, seed: u64) -> Self {
        Self {
            lexicon,
            random: StdRng::seed_from_u64(seed),
        }
    }

    /// A word: that of rank r about as often as 1/r (Zipf's law).
    fn word(&mut self) -> &'a str {
        let all = self.lexicon.words.len() as f64;
        let share: f64 = self.random.random();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in the list"
        )]
        let rank = all.powf(share) as usize - 1;
        self.lexicon.words.get(rank).map_or("word", String::as_str)
    }

    /// A line of `words` words.
    pub(super) fn line(&mut self, words: usize) -> String {
        let words: Vec<&str> = (0..words).map(|_| self.word()).collect();
        words.join(" ") + ".\n"
    }

    /// So many questions, all different.
    pub(super) fn questions(&mut self, count: usize) -> Vec<String> {
        let mut seen = HashSet::new();
        while seen.len() < count {
            let length = self.random.random_range(LENGTHS);
            let words: Vec<&str> = (0..length).map(|_| self.word()).collect();
            seen.insert(words.join(" ") + "?");
        }
        let mut all: Vec<String> = seen.into_iter().collect();
        all.sort_unstable();
        all
    }

    /// A unit vector, near to those that share `centre`.
    pub(super) fn vector(&mut self, centre: &[f32]) -> Vec<f32> {
        let raw: Vec<f32> = centre
            .iter()
            .map(|value| value + self.random.random_range(-1.0..1.0_f32))
            .collect();
        let norm = raw.iter().map(|value| value * value).sum::<f32>().sqrt();
        raw.into_iter()
            .map(|value| value / norm.max(f32::EPSILON))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_are_those_of_the_vocabulary_in_its_order_or_made_up() {
        let vocabulary: serde_json::Map<String, Value> = (0..2_000)
            .map(|n| (made_up(n), json!(5_000 - n)))
            .chain([
                ("##ing".to_owned(), json!(1)),
                ("[CLS]".to_owned(), json!(2)),
            ])
            .collect();
        let lexicon = Lexicon::from_tokenizer(&json!({ "model": { "vocab": vocabulary } }));
        assert_eq!(lexicon.words.len(), 2_000);
        assert_eq!(lexicon.words[0], made_up(1_999));

        let made = Lexicon::from_tokenizer(&json!({ "model": { "vocab": [["▁a", -1.0]] } }));
        let different: HashSet<&String> = made.words.iter().collect();
        assert_eq!(different.len(), MADE_UP);
    }

    #[test]
    fn text_is_the_same_for_a_seed_and_frequent_words_are_frequent() {
        let lexicon = Lexicon::from_tokenizer(&Value::Null);
        let write = |seed| Writer::new(&lexicon, seed).line(500);
        assert_eq!(write(1), write(1));
        assert_ne!(write(1), write(2));
        let text = write(3);
        let often = text
            .split(' ')
            .filter(|word| *word == lexicon.words[0])
            .count();
        assert!((15..80).contains(&often), "{often}");

        let questions = Writer::new(&lexicon, QUESTIONS).questions(300);
        let different: HashSet<&String> = questions.iter().collect();
        assert_eq!(different.len(), 300);
        assert_eq!(questions, Writer::new(&lexicon, QUESTIONS).questions(300));

        let vector = Writer::new(&lexicon, 1).vector(&[0.0; 384]);
        let norm: f32 = vector.iter().map(|value| value * value).sum();
        assert!((norm - 1.0).abs() < 1e-4);
    }
}
