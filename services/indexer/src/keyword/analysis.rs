//! How text becomes terms, in documents and in questions.

use std::collections::BTreeMap;

use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{
    AsciiFoldingFilter, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer, StopWordFilter,
    TextAnalyzer, TokenStream,
};
use tantivy::{Index, Term};

/// Raise it when terms or fields change: an older index is then rebuilt.
pub(super) const FORMAT: u32 = 1;

/// Longer words are keys, hashes or broken extraction; in bytes of UTF-8.
const LONGEST_WORD: usize = 64;

/// Distinct terms of one question; the rest of a pasted page changes no ranking worth its time.
const MOST_TERMS: usize = 128;

const TOKENIZER: &str = "ibid_english";

/// The fields of the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) key: Field,
    pub(super) text: Field,
    pub(super) heading_path: Field,
    pub(super) name: Field,
}

/// Name of the fast field that holds the chunk key.
pub(super) const KEY: &str = "key";

/// The schema: nothing is stored, postings hold frequencies but no positions.
pub(super) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let words = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_index_option(IndexRecordOption::WithFreqs),
    );
    let fields = Fields {
        key: schema.add_i64_field(KEY, tantivy::schema::INDEXED | tantivy::schema::FAST),
        text: schema.add_text_field("text", words.clone()),
        heading_path: schema.add_text_field("heading_path", words.clone()),
        name: schema.add_text_field("name", words),
    };
    (schema.build(), fields)
}

/// Tells `index` how its text fields are cut into terms.
pub(super) fn register(index: &Index) {
    index.tokenizers().register(TOKENIZER, document_analyzer());
}

/// Stop words stay in the index, so that a question made of nothing else still finds something;
/// [`question_terms`] leaves them out of all other questions.
fn document_analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(RemoveLongFilter::limit(LONGEST_WORD))
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter)
        .filter(Stemmer::default())
        .build()
}

/// The analyzer of documents, without English stop words (Lucene's list of 33).
fn question_analyzer() -> TextAnalyzer {
    let analyzer = TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(RemoveLongFilter::limit(LONGEST_WORD))
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter);
    match StopWordFilter::new(tantivy::tokenizer::Language::English) {
        Some(stop_words) => analyzer
            .filter(stop_words)
            .filter(Stemmer::default())
            .build(),
        None => analyzer.filter(Stemmer::default()).build(),
    }
}

/// The distinct terms of a question with how often each occurs, in alphabetical order. Stop words
/// are left out unless there is nothing else.
pub(super) fn question_terms(text: &str) -> BTreeMap<String, u32> {
    let terms = count(&mut question_analyzer(), text);
    if terms.is_empty() {
        count(&mut document_analyzer(), text)
    } else {
        terms
    }
}

fn count(analyzer: &mut TextAnalyzer, text: &str) -> BTreeMap<String, u32> {
    let mut terms = BTreeMap::new();
    let mut stream = analyzer.token_stream(text);
    while stream.advance() {
        let word = &stream.token().text;
        if let Some(times) = terms.get_mut(word) {
            *times += 1;
        } else if terms.len() < MOST_TERMS {
            terms.insert(word.clone(), 1);
        }
    }
    terms
}

/// The term that finds a chunk by its key.
pub(super) fn key_term(fields: Fields, key: i64) -> Term {
    Term::from_field_i64(fields.key, key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[(&str, u32)]) {
        let terms = question_terms(text);
        let terms: Vec<(&str, u32)> = terms.iter().map(|(term, n)| (term.as_str(), *n)).collect();
        assert_eq!(terms, expect, "{text:?}");
    }

    #[test]
    fn questions_become_terms() {
        check("", &[]);
        check(" \t\u{0}!?*+:\"()[]{}^~\\", &[]);
        check("refunds", &[("refund", 1)]);
        check("Refund REFUNDED refunding", &[("refund", 3)]);
        check("What is the refund for it?", &[("refund", 1), ("what", 1)]);
        check(
            "text:refund AND (NOT \"gift\" OR -card^2)",
            &[
                ("2", 1),
                ("card", 1),
                ("gift", 1),
                ("refund", 1),
                ("text", 1),
            ],
        );
        check(
            "Café Müller naïve",
            &[("cafe", 1), ("muller", 1), ("naiv", 1)],
        );
        check("AB-1234/x", &[("1234", 1), ("ab", 1), ("x", 1)]);
        check("Ödeme koşulları", &[("kosullari", 1), ("odem", 1)]);
        // Nothing but stop words: they are searched after all.
        check(
            "to be or not to be",
            &[("be", 2), ("not", 1), ("or", 1), ("to", 2)],
        );
        check("The", &[("the", 1)]);
        // A word over the limit is left out, one at the limit is not.
        check(&"a".repeat(LONGEST_WORD), &[]);
        check(
            &format!("{} word", "x".repeat(LONGEST_WORD + 1)),
            &[("word", 1)],
        );
    }

    #[test]
    fn a_pasted_page_is_bounded() {
        let page: Vec<String> = (0..10_000).map(|word| format!("w{word}")).collect();
        assert_eq!(question_terms(&page.join(" ")).len(), MOST_TERMS);
    }
}
