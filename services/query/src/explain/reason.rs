//! Reasons in words for people.

use shared::contract::Standing;

use crate::candidate::Candidate;

/// Where the lists of a question ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ends {
    words: End,
    meaning: End,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    /// The engine has no weight in this question.
    Unweighed,
    /// It found nothing.
    Nothing,
    /// Its last hit.
    At { rank: u32, score: f32 },
}

impl Ends {
    /// The ends of the lists that `candidates` come from; `weight` is the vector list's share.
    pub(super) fn of(candidates: &[Candidate], weight: f32) -> Self {
        Self {
            words: End::of(
                candidates.iter().filter_map(|one| one.keyword),
                weight < 1.0,
            ),
            meaning: End::of(candidates.iter().filter_map(|one| one.vector), weight > 0.0),
        }
    }

    /// Why a chunk with these scores, for which each engine was asked alone, is in neither list.
    pub(super) fn why_not(&self, words: Option<f32>, meaning: Option<f32>) -> String {
        let parts = [
            self.words
                .why_not(words, "words", "none of the question's words"),
            self.meaning
                .why_not(meaning, "meaning", "no vector of its own"),
        ];
        parts.join("; ")
    }
}

impl End {
    fn of(list: impl Iterator<Item = Standing>, is_weighed: bool) -> Self {
        let ranked = list.filter_map(|one| Some((one.rank?, one.score)));
        match ranked.max_by_key(|(rank, _)| *rank) {
            Some((rank, score)) => Self::At { rank, score },
            None if is_weighed => Self::Nothing,
            None => Self::Unweighed,
        }
    }

    fn why_not(self, score: Option<f32>, by: &str, nothing: &str) -> String {
        match (self, score) {
            (Self::Unweighed, _) => format!("{by} had no weight in this question"),
            (_, None) => nothing.to_owned(),
            (Self::Nothing, Some(score)) => {
                format!("the search by {by} found nothing ({score:.2})")
            }
            (Self::At { rank, score: last }, Some(score)) if score > last => format!(
                "missed among the first {rank} by {by} ({score:.2}, the last has {last:.2}), by an \
                 approximate search"
            ),
            (Self::At { rank, score: last }, Some(score)) => {
                format!("not in the first {rank} by {by} ({score:.2}, the last has {last:.2})")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::tests::{candidate, hit};

    #[test]
    fn a_reason_names_the_score_and_the_last_one() {
        let mut candidates: Vec<Candidate> = (1..=3)
            .map(|n| candidate(hit("a", n, (1, "A"), "text"), n))
            .collect();
        for (one, score) in candidates.iter_mut().zip([0.6, 0.5, 0.42]) {
            let rank = one.keyword.and_then(|standing| standing.rank);
            one.vector = Some(Standing { rank, score });
        }
        let check = |weight, words, meaning, expect: &str| {
            let ends = Ends::of(&candidates, weight);
            assert_eq!(ends.why_not(words, meaning), expect);
        };
        check(
            0.5,
            Some(3.2),
            Some(0.31),
            "not in the first 3 by words (3.20, the last has 7.00); not in the first 3 by meaning \
             (0.31, the last has 0.42)",
        );
        check(
            0.5,
            None,
            Some(0.5),
            "none of the question's words; missed among the first 3 by meaning (0.50, the last \
             has 0.42), by an approximate search",
        );
        let ends = Ends::of(&[], 0.0);
        assert_eq!(
            ends.why_not(Some(1.0), None),
            "the search by words found nothing (1.00); meaning had no weight in this question"
        );
    }
}
