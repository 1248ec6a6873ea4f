//! The words of a question that a passage should have.

use std::collections::BTreeSet;

/// Words too common to tell passages apart.
const STOP_WORDS: [&str; 58] = [
    "a", "about", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could",
    "did", "do", "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "is", "it",
    "its", "me", "my", "of", "on", "or", "our", "should", "so", "than", "that", "the", "their",
    "them", "there", "these", "they", "this", "to", "was", "we", "were", "what", "when", "where",
    "which", "who", "will", "with", "you",
];

/// The terms of `text`: its words in lower case without stop words and English endings. A text
/// of nothing but stop words has these as its terms.
pub(crate) fn terms(text: &str) -> BTreeSet<String> {
    let all: BTreeSet<String> = words(text).collect();
    let telling: BTreeSet<String> = all
        .iter()
        .filter(|word| STOP_WORDS.binary_search(&word.as_str()).is_err())
        .map(|word| stem(word))
        .collect();
    if telling.is_empty() { all } else { telling }
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// A word without the commonest English endings, so that `refund`, `refunds` and `refunded`
/// meet. It only ranks sentences within passages that the engines found.
fn stem(word: &str) -> String {
    let kept = ["ings", "ing", "ies", "ied", "ed", "es", "s", "y", "e"]
        .iter()
        .find_map(|ending| {
            word.strip_suffix(ending)
                .filter(|rest| rest.chars().count() >= 3)
        });
    kept.unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_become_terms() {
        fn check(input: &str, expect: &[&str]) {
            let found: Vec<String> = terms(input).into_iter().collect();
            assert_eq!(found, expect, "in `{input}`");
        }
        check("", &[]);
        check("What is the refund policy?", &["polic", "refund"]);
        check("refunds Refunded refunding", &["refund"]);
        check("policies", &["polic"]);
        check("What is it?", &["is", "it", "what"]);
        check("ISO 27001 §4", &["27001", "4", "iso"]);
        check("Çağrı merkezi", &["merkezi", "çağrı"]);
        check("bus", &["bus"]);
    }

    #[test]
    fn stop_words_are_sorted_for_the_search() {
        assert!(STOP_WORDS.is_sorted());
    }
}
