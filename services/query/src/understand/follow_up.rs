//! Whether a question hangs on what was said before it, told by its small words.
//!
//! To carry a topic into a question that needs none costs little: a few words more to search by.
//! To miss a follow-up costs the answer. What is not sure is therefore taken for one only when
//! little else of it could be searched by.

use shared::language::Language;

use super::grammar::{Grammar, Unspaced};
use super::script::{Script, script};

/// A pronoun after so many words with meaning stands for one of them.
const NAMED_BEFORE: usize = 4;
/// An ellipsis has at most so many words: "for contractors in Spain?".
const ELLIPSIS: usize = 5;
/// Characters of a Chinese or Japanese follow-up that is told by its end.
const SHORT_UNSPACED: usize = 14;
/// "Is it possible to", "how long does it take to": `it` stands for what follows.
const FOLLOWED: [&str; 18] = [
    "possible",
    "allowed",
    "necessary",
    "required",
    "true",
    "ok",
    "okay",
    "legal",
    "mandatory",
    "better",
    "worth",
    "safe",
    "take",
    "takes",
    "cost",
    "costs",
    "possible?",
    "mean",
];

/// Whether `text` cannot be understood without what was said before, in `language` or, where that
/// is not known, in English.
pub(super) fn depends(text: &str, language: Option<Language>) -> bool {
    let unspaced = matches!(script(text), Some(Script::Han | Script::Alone("ja")));
    let known = language.or_else(|| "en".parse().ok());
    if unspaced {
        let fallback = || "zh".parse().ok().and_then(Unspaced::of);
        let words = language.and_then(Unspaced::of).or_else(fallback);
        return words.is_some_and(|words| depends_unspaced(text, words));
    }
    let Some(grammar) = known.and_then(Grammar::of) else {
        return is_fragment(text);
    };
    Words::of(text, grammar).depend()
}

/// A question of which only a number or a single word is left: "2023?".
fn is_fragment(text: &str) -> bool {
    text.ends_with('?') && text.split_whitespace().nth(1).is_none()
}

struct Words<'a> {
    text: &'a str,
    lower: Vec<String>,
    grammar: &'static Grammar,
}

impl<'a> Words<'a> {
    fn of(text: &'a str, grammar: &'static Grammar) -> Self {
        Self {
            text,
            lower: words(text),
            grammar,
        }
    }

    fn depend(&self) -> bool {
        let joined = self.lower.join(" ");
        let starts = |opening: &&str| {
            joined
                .strip_prefix(*opening)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        self.lower.is_empty()
            || self.grammar.whole.contains(&joined.as_str())
            || self.grammar.opens.iter().any(starts)
            || self.is_ellipsis()
            || self.has_loose_pronoun()
            || self.topics(self.lower.len()) == 0
    }

    /// Words that name something, of the first `count`.
    fn topics(&self, count: usize) -> usize {
        let first = self.lower.iter().take(count);
        first.filter(|word| !self.grammar.is_small(word)).count()
    }

    /// "For contractors?", "In 2023?", "Contractors?": a few words that ask nothing by themselves.
    fn is_ellipsis(&self) -> bool {
        if !self.text.trim_end().ends_with('?') {
            return false;
        }
        let opens = self
            .lower
            .first()
            .is_some_and(|word| self.grammar.prepositions.contains(&word.as_str()));
        let asks = self.lower.iter().any(|word| {
            self.grammar.small.contains(&word.as_str())
                && !self.grammar.prepositions.contains(&word.as_str())
                && word.chars().count() > 3
        });
        (opens && self.lower.len() <= ELLIPSIS && !asks) || self.lower.len() == 1
    }

    /// A pronoun that nothing in the question stands for.
    fn has_loose_pronoun(&self) -> bool {
        self.lower.iter().enumerate().any(|(at, word)| {
            let word = word.as_str();
            let before = self.topics(at);
            if word == "it" && self.is_followed(at) {
                return false;
            }
            // "Is there a limit?" names its topic; "What is there?" does not.
            if word == "there" && at + 1 < self.lower.len() {
                return false;
            }
            let points = self.grammar.pronouns.contains(&word) || self.points_back(at);
            (points && before < NAMED_BEFORE)
                || (self.grammar.possessives.contains(&word) && before == 0)
        })
    }

    /// "… about that?", "Is that allowed?": `that` which begins no clause.
    fn points_back(&self, at: usize) -> bool {
        let word = self.lower.get(at).map(String::as_str);
        let before = at
            .checked_sub(1)
            .and_then(|before| self.lower.get(before))
            .map(String::as_str);
        word == Some("that")
            && (at + 1 == self.lower.len()
                || matches!(
                    before,
                    None | Some("is" | "does" | "was" | "about" | "of" | "for")
                ))
    }

    /// Whether what `it` stands for comes after it.
    fn is_followed(&self, at: usize) -> bool {
        let next = |offset: usize| self.lower.get(at + offset).map(String::as_str);
        let word = next(1).is_some_and(|word| FOLLOWED.contains(&word));
        let clause = self.lower.iter().skip(at + 2);
        word && clause
            .take(3)
            .any(|word| matches!(word.as_str(), "to" | "that" | "for" | "if"))
    }
}

fn depends_unspaced(text: &str, words: &Unspaced) -> bool {
    let bare = text.trim().trim_end_matches(|c: char| !c.is_alphanumeric());
    let length = bare.chars().count();
    let begins = words.opens.iter().any(|open| bare.starts_with(open));
    let ends = words.ends.iter().any(|end| bare.ends_with(end));
    let points = words.within.iter().filter_map(|word| bare.find(word)).min();
    // As with spaces: far into a question a pronoun stands for something named before it.
    let points = points.is_some_and(|at| at <= SHORT_UNSPACED);
    length == 0
        || words.whole.contains(&bare)
        || begins
        || points
        || (ends && length <= SHORT_UNSPACED)
}

/// The words of `text` in lower case, with what joins parts of words.
pub(super) fn words(text: &str) -> Vec<String> {
    let lower = text.replace('’', "'").to_lowercase();
    lower
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '-' | '_' | '.')))
        .map(|word| word.trim_matches(['\'', '-', '.']).to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, hang: &[&str], stand: &[&str]) {
        let language = code.parse().ok();
        for text in hang {
            assert!(depends(text, language), "{code}: `{text}` hangs");
        }
        for text in stand {
            assert!(!depends(text, language), "{code}: `{text}` stands");
        }
    }

    #[test]
    fn english_follow_ups_are_told() {
        check(
            "en",
            &[
                "why?",
                "Why not?",
                "and for contractors?",
                "What about 2023?",
                "how about part-time staff",
                "How long does it take?",
                "Who wrote it?",
                "When was she born?",
                "Is that allowed in Spain?",
                "What does this policy cover?",
                "Does the warranty cover it?",
                "in Spain?",
                "For contractors?",
                "2023?",
                "Contractors?",
                "How much?",
                "Who is responsible for that?",
                "and E-4712?",
                "tell me more",
                "Are they paid monthly?",
                "What are its limits?",
                "or by card?",
                "Can I get one?",
                "What’s it for?",
            ],
            &[
                "What is the notice period for employees?",
                "How long do refunds take?",
                "Is it possible to carry over annual leave?",
                "How long does it take to get a refund?",
                "Is there a limit on annual leave?",
                "What happens when an employee loses her badge?",
                "Can employees keep their laptop?",
                "notice period contractors",
                "invoice",
                "E-4711",
                "Which password manager does the handbook recommend?",
                "the form that I need for travel",
                "For which countries does the travel policy require approval?",
            ],
        );
    }

    #[test]
    fn follow_ups_of_other_languages_are_told() {
        check(
            "de",
            &[
                "Warum?",
                "Und für Freiberufler?",
                "Was ist mit 2023?",
                "Wie lange dauert es?",
                "Im Ausland?",
            ],
            &[
                "Wie lang ist die Kündigungsfrist?",
                "Wer genehmigt Dienstreisen ins Ausland?",
            ],
        );
        check(
            "fr",
            &[
                "Pourquoi ?",
                "Et pour les stagiaires ?",
                "Combien cela coûte ?",
            ],
            &[
                "Quelle est la durée du préavis ?",
                "Qui approuve les voyages ?",
            ],
        );
        check(
            "es",
            &["¿Por qué?", "¿Y para los becarios?", "¿Cuándo se paga eso?"],
            &["¿Cuál es el plazo de preaviso?"],
        );
        check(
            "tr",
            &[
                "Neden?",
                "Peki ya stajyerler?",
                "Onun süresi ne kadar?",
                "Bu ne kadar sürer?",
            ],
            &["İhbar süresi ne kadar?", "Seyahatleri kim onaylar?"],
        );
        check(
            "ru",
            &["Почему?", "А для подрядчиков?", "Сколько он стоит?"],
            &["Каков срок уведомления для сотрудников?"],
        );
        check(
            "zh",
            &["为什么？", "合同工呢？", "那2023年呢？", "它的期限是多久？"],
            &["员工的通知期是多久？", "谁批准出差申请？"],
        );
        check(
            "ja",
            &["なぜですか？", "それはいつですか？", "契約社員は？"],
            &["従業員の通知期間はどのくらいですか？"],
        );
        check("hu", &["2023?"], &["Mennyi a felmondási idő?"]);
    }
}
