//! Words without their endings, by language.

use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};
use shared::language::Language;

use super::fold::fold;

/// Letters that are kept of a word in a language without a stemmer: cutting words there finds
/// about as much as a stemmer does (`McNamee` and Mayfield, "Character n-gram tokenization for
/// European language text retrieval", 2004).
const KEPT: usize = 5;
/// Languages whose words have no endings to cut off.
const UNINFLECTED: [&str; 4] = ["vi", "jv", "tl", "th"];
/// A longer list of stop words has words in it that tell texts apart: that of Slovenian has 1,784.
const LONGEST_LIST: usize = 800;

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
        "hy" => Algorithm::Armenian,
        "eu" => Algorithm::Basque,
        "ca" => Algorithm::Catalan,
        "cs" => Algorithm::Czech,
        "da" => Algorithm::Danish,
        "nl" => Algorithm::Dutch,
        "en" => Algorithm::English,
        "eo" => Algorithm::Esperanto,
        "et" => Algorithm::Estonian,
        "fi" => Algorithm::Finnish,
        "fr" => Algorithm::French,
        "de" => Algorithm::German,
        "el" => Algorithm::Greek,
        "hi" => Algorithm::Hindi,
        "hu" => Algorithm::Hungarian,
        "id" | "ms" => Algorithm::Indonesian,
        "ga" => Algorithm::Irish,
        "it" => Algorithm::Italian,
        "lt" => Algorithm::Lithuanian,
        "ne" => Algorithm::Nepali,
        "no" | "nb" | "nn" => Algorithm::Norwegian,
        "fa" => Algorithm::Persian,
        "pl" => Algorithm::Polish,
        "pt" => Algorithm::Portuguese,
        "ro" => Algorithm::Romanian,
        "ru" => Algorithm::Russian,
        "sr" => Algorithm::Serbian,
        "es" => Algorithm::Spanish,
        "sv" => Algorithm::Swedish,
        "ta" => Algorithm::Tamil,
        "tr" => Algorithm::Turkish,
        "yi" => Algorithm::Yiddish,
        _ => return None,
    })
}

/// Whether `word` is too common in `language` to tell texts apart.
pub(super) fn is_stop_word(word: &str, language: Language) -> bool {
    let code = match language.as_str() {
        "nb" | "nn" => "no",
        code => code,
    };
    // The lists are short and questions are too.
    stop_words::lookup(code)
        .filter(|words| words.len() <= LONGEST_LIST)
        .is_some_and(|words| words.contains(&lower(word, language).as_ref()))
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
        check("tr", "ve", true);
        check("nb", "ikke", true);
        check("sl", "ura", false);
    }
}
