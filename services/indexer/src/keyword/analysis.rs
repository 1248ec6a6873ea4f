//! How text becomes terms, in documents and in questions.
//!
//! A word of a document stands in the index as it is, folded, and without its ending, by the
//! language of its text. A word of a question is asked for in both ways, and the better counts:
//! so a question finds its words where the language of either cannot be told.

mod fold;
mod segment;
mod stem;

use shared::language::Language;
use tantivy::Term;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{PreTokenizedString, Token};

use self::fold::fold;
use self::segment::{Piece, Segments, segment};
use self::stem::{is_stop_word, stem};

/// Raise it when terms or fields change: an older index is then rebuilt.
pub(super) const FORMAT: u32 = 3;

/// Longer words are keys, hashes or broken extraction; in characters.
const LONGEST_WORD: usize = 64;

/// Distinct terms of one question; the rest of a pasted page changes no ranking worth its time.
const MOST_TERMS: usize = 128;

/// The stemmer where the language is not known and the letters are Latin.
const USUAL: &str = "en";

/// The fields of the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) key: Field,
    pub(super) text: Field,
    pub(super) heading_path: Field,
    pub(super) name: Field,
    pub(super) identifiers: Field,
    pub(super) language: Field,
}

impl Fields {
    /// The fields that words are looked for in.
    pub(super) fn of_words(self) -> [Field; 3] {
        [self.text, self.heading_path, self.name]
    }
}

/// Name of the fast field that holds the chunk key.
pub(super) const KEY: &str = "key";

/// The schema: nothing is stored; positions are kept for phrases.
pub(super) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexed = |option| {
        // The terms are made here; the tokenizer only has to exist.
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_index_option(option);
        TextOptions::default().set_indexing_options(indexing)
    };
    let words = indexed(IndexRecordOption::WithFreqsAndPositions);
    let fields = Fields {
        key: schema.add_i64_field(KEY, tantivy::schema::INDEXED | tantivy::schema::FAST),
        text: schema.add_text_field("text", words.clone()),
        heading_path: schema.add_text_field("heading_path", words.clone()),
        name: schema.add_text_field("name", words),
        identifiers: schema.add_text_field("identifiers", indexed(IndexRecordOption::WithFreqs)),
        language: schema.add_text_field("language", indexed(IndexRecordOption::Basic)),
    };
    (schema.build(), fields)
}

/// The term that finds a chunk by its key.
pub(super) fn key_term(fields: Fields, key: i64) -> Term {
    Term::from_field_i64(fields.key, key)
}

/// The terms of a document's text, and of the identifiers in it.
pub(super) struct DocumentTerms {
    pub(super) words: PreTokenizedString,
    pub(super) identifiers: PreTokenizedString,
}

/// The terms of `text`, which is in `language`.
pub(super) fn document_terms(text: &str, language: Option<Language>) -> DocumentTerms {
    let segments = segment(text, true);
    let mut words = Vec::with_capacity(segments.pieces.len() * 3 / 2);
    for piece in &segments.pieces {
        let forms = forms(piece, &languages_of(&piece.text, language));
        words.extend(forms.into_iter().map(|form| token(form, piece.position)));
    }
    let identifiers = segments.identifiers.into_iter();
    DocumentTerms {
        words: tokens(words),
        identifiers: tokens(
            identifiers
                .map(|piece| token(piece.text, piece.position))
                .collect(),
        ),
    }
}

fn tokens(tokens: Vec<Token>) -> PreTokenizedString {
    PreTokenizedString {
        text: String::new(),
        tokens,
    }
}

fn token(text: String, position: usize) -> Token {
    Token {
        text,
        position,
        ..Token::default()
    }
}

/// The languages a word is stemmed by when its text is in `language`.
fn languages_of(word: &str, language: Option<Language>) -> Vec<Language> {
    let usual = || is_latin(word).then(|| USUAL.parse().ok()).flatten();
    language.or_else(usual).into_iter().collect()
}

fn is_latin(word: &str) -> bool {
    word.chars().all(|c| c < '\u{250}')
}

/// The distinct forms of a piece, the word as it is first; none for what is no word.
fn forms(piece: &Piece, languages: &[Language]) -> Vec<String> {
    if piece.text.chars().count() > LONGEST_WORD {
        return Vec::new();
    }
    let mut forms = vec![fold(&piece.text)];
    if piece.is_word && !piece.text.contains(|c: char| c.is_ascii_digit()) {
        for language in languages {
            if let Some(stem) = stem(&piece.text, *language).filter(|stem| !forms.contains(stem)) {
                forms.push(stem);
            }
        }
    }
    forms.retain(|form| !form.is_empty());
    forms
}

/// A word of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QuestionTerm {
    /// The word as it is, folded, and its stems: at least one.
    pub(super) forms: Vec<String>,
    /// How often the question has it.
    pub(super) times: u32,
}

/// The terms of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct QuestionTerms {
    pub(super) words: Vec<QuestionTerm>,
    pub(super) identifiers: Vec<String>,
}

/// The distinct terms of `text`, stemmed by each of `languages`, the likeliest first. Stop words
/// of the first are left out unless there is nothing else.
pub(super) fn question_terms(text: &str, languages: &[Language]) -> QuestionTerms {
    let segments = segment(text, false);
    let is_common = |piece: &Piece| {
        let language = languages.first().copied().or_else(|| USUAL.parse().ok());
        piece.is_word && language.is_some_and(|language| is_stop_word(&piece.text, language))
    };
    let telling = segments.pieces.iter().filter(|piece| !is_common(piece));
    let mut words = count(telling, languages);
    if words.is_empty() {
        words = count(segments.pieces.iter(), languages);
    }
    QuestionTerms {
        words,
        identifiers: distinct(segments),
    }
}

/// Identifiers without what holds them together: a document has each in that form as well.
fn distinct(segments: Segments) -> Vec<String> {
    let mut identifiers: Vec<String> = Vec::new();
    for piece in segments.identifiers {
        let is_plain = piece.text.chars().all(char::is_alphanumeric);
        if is_plain && !identifiers.contains(&piece.text) && identifiers.len() < MOST_TERMS {
            identifiers.push(piece.text);
        }
    }
    identifiers
}

fn count<'a>(pieces: impl Iterator<Item = &'a Piece>, languages: &[Language]) -> Vec<QuestionTerm> {
    let mut terms: Vec<QuestionTerm> = Vec::new();
    for piece in pieces {
        let usual = languages_of(&piece.text, None);
        let languages = if languages.is_empty() {
            &usual
        } else {
            languages
        };
        let forms = forms(piece, languages);
        if forms.is_empty() {
            continue;
        }
        // Forms of one word, such as a plural, are that word once more.
        let is_full = terms.len() >= MOST_TERMS;
        let known = terms.iter_mut().find(|term| {
            term.forms == forms || (forms.len() > 1 && term.forms.get(1..) == forms.get(1..))
        });
        match known {
            Some(term) => term.times += 1,
            None if is_full => {}
            None => terms.push(QuestionTerm { forms, times: 1 }),
        }
    }
    terms
}

/// The terms of a phrase in order, each with its place; words as they are, folded.
pub(super) fn phrase_terms(phrase: &str) -> Vec<(usize, String)> {
    let pieces = segment(phrase, false).pieces.into_iter();
    let terms = pieces.map(|piece| (piece.position, fold(&piece.text)));
    terms
        .filter(|(_, term)| !term.is_empty())
        .take(MOST_TERMS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, languages: &[&str], expect: &[(&[&str], u32)]) {
        let languages: Vec<Language> = languages.iter().map(|code| code.parse().unwrap()).collect();
        let terms = question_terms(text, &languages).words;
        let terms: Vec<(Vec<&str>, u32)> = terms
            .iter()
            .map(|term| (term.forms.iter().map(String::as_str).collect(), term.times))
            .collect();
        let expect: Vec<(Vec<&str>, u32)> = expect
            .iter()
            .map(|(forms, times)| (forms.to_vec(), *times))
            .collect();
        assert_eq!(terms, expect, "{text:?}");
    }

    #[test]
    fn questions_become_terms() {
        check("", &[], &[]);
        check(" \t\u{0}!?*+:\"()[]{}^~\\", &[], &[]);
        check("refunds", &[], &[(&["refunds", "refund"], 1)]);
        check(
            "Refunds refunds REFUNDS",
            &[],
            &[(&["refunds", "refund"], 3)],
        );
        check("is it for the refund?", &["en"], &[(&["refund"], 1)]);
        check("Café Müller", &[], &[(&["cafe"], 1), (&["muller"], 1)]);
        check(
            "AB-1234/x",
            &[],
            &[(&["ab"], 1), (&["1234"], 1), (&["x"], 1)],
        );
        check("koşulları", &["tr"], &[(&["kosullari", "kosul"], 1)]);
        check("学习 机器", &["zh"], &[(&["学习"], 1), (&["机器"], 1)]);
        // Nothing but stop words: they are searched after all.
        check("The", &["en"], &[(&["the"], 1)]);
        // A word over the limit is left out.
        check(
            &format!("{} word", "x".repeat(LONGEST_WORD + 1)),
            &[],
            &[(&["word"], 1)],
        );
    }

    #[test]
    fn documents_hold_words_and_stems_at_one_place() {
        let terms = document_terms("Refunds: E-4711", "en".parse().ok());
        let told: Vec<(&str, usize)> = terms
            .words
            .tokens
            .iter()
            .map(|token| (token.text.as_str(), token.position))
            .collect();
        assert_eq!(told, [("refunds", 0), ("refund", 0), ("e", 1), ("4711", 2)]);
        let identifiers: Vec<&str> = terms
            .identifiers
            .tokens
            .iter()
            .map(|t| t.text.as_str())
            .collect();
        assert_eq!(identifiers, ["e4711", "e-4711"]);
    }

    #[test]
    fn a_pasted_page_is_bounded() {
        let page: Vec<String> = (0..10_000).map(|word| format!("w{word}")).collect();
        let terms = question_terms(&page.join(" "), &[]);
        assert_eq!(
            (terms.words.len(), terms.identifiers.len()),
            (MOST_TERMS, MOST_TERMS)
        );
    }
}
