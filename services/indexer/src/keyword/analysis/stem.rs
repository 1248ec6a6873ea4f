//! Words without their endings, by language.

use std::borrow::Cow;
use std::sync::OnceLock;

use frostem::{Algorithm, Stemmer};
use shared::language::Language;
use tantivy::tokenizer::{RawTokenizer, StopWordFilter, TextAnalyzer, TokenStream as _};

use super::fold::fold;

/// Letters that are kept of a word in a language without a stemmer: cutting words there finds
/// about as much as a stemmer does (`McNamee` and Mayfield, "Character n-gram tokenization for
/// European language text retrieval", 2004).
const KEPT: usize = 5;
/// Languages whose words have no endings to cut off.
const UNINFLECTED: [&str; 6] = ["vi", "id", "jv", "tl", "ms", "th"];

/// `word` without its ending, folded; `None` when that is the word itself.
pub(super) fn stem(word: &str, language: Language) -> Option<String> {
    let folded = match algorithm(language) {
        Some(algorithm) => fold(&Stemmer::new(algorithm).stem(&lower(word, language))),
        None if UNINFLECTED.contains(&language.as_str()) => return None,
        None => fold(word).chars().take(KEPT).collect(),
    };
    (!folded.is_empty()).then_some(folded)
}

/// Lower case as the language has it.
fn lower(word: &str, language: Language) -> Cow<'_, str> {
    if !matches!(language.as_str(), "tr" | "az") {
        return Cow::Owned(word.to_lowercase());
    }
    let letters = word.chars().flat_map(|c| {
        let (dotted, rest) = match c {
            'I' => (Some('ı'), None),
            'İ' => (Some('i'), None),
            c => (None, Some(c.to_lowercase())),
        };
        dotted.into_iter().chain(rest.into_iter().flatten())
    });
    Cow::Owned(letters.collect())
}

fn algorithm(language: Language) -> Option<Algorithm> {
    Some(match language.as_str() {
        "ar" => Algorithm::Arabic,
        "da" => Algorithm::Danish,
        "nl" => Algorithm::Dutch,
        "en" => Algorithm::English,
        "fi" => Algorithm::Finnish,
        "fr" => Algorithm::French,
        "de" => Algorithm::German,
        "el" => Algorithm::Greek,
        "hu" => Algorithm::Hungarian,
        "it" => Algorithm::Italian,
        "no" | "nb" | "nn" => Algorithm::Norwegian,
        "pt" => Algorithm::Portuguese,
        "ro" => Algorithm::Romanian,
        "ru" => Algorithm::Russian,
        "es" => Algorithm::Spanish,
        "sv" => Algorithm::Swedish,
        "ta" => Algorithm::Tamil,
        "tr" => Algorithm::Turkish,
        _ => return None,
    })
}

/// Whether `word` is too common in `language` to tell texts apart.
pub(super) fn is_stop_word(word: &str, language: Language) -> bool {
    stop_words(language).is_some_and(|mut words| {
        let word = lower(word, language);
        !words.token_stream(&word).advance()
    })
}

fn stop_words(language: Language) -> Option<TextAnalyzer> {
    use tantivy::tokenizer::Language as Listed;
    static LISTS: OnceLock<Vec<(&'static str, TextAnalyzer)>> = OnceLock::new();
    let lists = LISTS.get_or_init(|| {
        let listed = [
            ("en", Listed::English),
            ("da", Listed::Danish),
            ("nl", Listed::Dutch),
            ("fi", Listed::Finnish),
            ("fr", Listed::French),
            ("de", Listed::German),
            ("hu", Listed::Hungarian),
            ("it", Listed::Italian),
            ("nb", Listed::Norwegian),
            ("pt", Listed::Portuguese),
            ("ru", Listed::Russian),
            ("es", Listed::Spanish),
            ("sv", Listed::Swedish),
        ];
        let filters = listed
            .into_iter()
            .filter_map(|(code, language)| Some((code, StopWordFilter::new(language)?)));
        filters
            .map(|(code, filter)| {
                let raw = TextAnalyzer::builder(RawTokenizer::default());
                (code, raw.filter(filter).build())
            })
            .collect()
    });
    let list = lists.iter().find(|(code, _)| *code == language.as_str());
    list.map(|(_, words)| words.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        #[track_caller]
        fn check(language: &str, words: &[&str]) {
            let language = language.parse().unwrap();
            let stems: Vec<_> = words.iter().map(|word| stem(word, language)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
        }
        check("en", &["refund", "Refunds", "REFUNDED"]);
        check("tr", &["koşul", "koşullar", "KOŞULLARI"]);
        check("tr", &["ILIK", "ılık"]);
        check("de", &["Vertrag", "Vertrages"]);
        check("fr", &["paiement", "paiements"]);
        check("ru", &["договор", "договора", "ДОГОВОРЫ"]);
        check("pl", &["umowa", "umowami"]);
        check("hi", &["समझौता", "समझौते"]);
    }

    #[test]
    fn common_words_are_known_in_their_language() {
        #[track_caller]
        fn check(language: &str, word: &str, expect: bool) {
            assert_eq!(
                is_stop_word(word, language.parse().unwrap()),
                expect,
                "{word}"
            );
        }
        check("en", "The", true);
        check("de", "die", true);
        check("en", "die", false);
        check("tr", "ve", false);
    }
}
