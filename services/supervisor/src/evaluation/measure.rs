//! How good a ranking of documents is. All measures are from 0 to 1.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::beir::Grades;

/// The measures of one ranking, or their means over several.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Scores {
    /// Normalised discounted cumulative gain of the first ten, as `ndcg_cut` of `trec_eval` has
    /// it: the gain is the grade, the discount log2(rank + 1) (Järvelin and Kekäläinen, 2002).
    #[serde(rename = "ndcg@10")]
    pub ndcg_10: f64,
    /// The same with 2^grade − 1 as the gain (Burges et al., 2005). Where all grades are 1 the two
    /// are equal.
    #[serde(rename = "ndcg_exponential@10")]
    pub ndcg_exponential_10: f64,
    /// One over the rank of the first relevant document, when it is among the first ten.
    #[serde(rename = "mrr@10")]
    pub mrr_10: f64,
    /// The share of the relevant documents that are among the first ten.
    #[serde(rename = "recall@10")]
    pub recall_10: f64,
    /// Among the first hundred.
    #[serde(rename = "recall@100")]
    pub recall_100: f64,
    /// The share of the first five places that have a relevant document.
    #[serde(rename = "precision@5")]
    pub precision_5: f64,
    /// Of the first ten places.
    #[serde(rename = "precision@10")]
    pub precision_10: f64,
    /// Whether the first document is relevant.
    #[serde(rename = "hit@1")]
    pub hit_1: f64,
    /// Whether one of the first five is.
    #[serde(rename = "hit@5")]
    pub hit_5: f64,
    /// Whether one of the first ten is.
    #[serde(rename = "hit@10")]
    pub hit_10: f64,
}

impl Scores {
    /// Those of `ranking`, document ids best first, each once; all 0 without grades.
    pub fn of(ranking: &[String], grades: &Grades) -> Self {
        let found: Vec<u32> = ranking
            .iter()
            .map(|id| grades.get(id).copied().unwrap_or(0))
            .collect();
        let relevant = |k: usize| found.iter().take(k).filter(|grade| **grade > 0).count() as f64;
        let all = (grades.len() as f64).max(1.0);
        let first = found.iter().take(10).position(|grade| *grade > 0);
        Self {
            ndcg_10: ndcg(&found, grades, f64::from),
            ndcg_exponential_10: ndcg(&found, grades, |grade| f64::from(grade).exp2() - 1.0),
            mrr_10: first.map_or(0.0, |at| 1.0 / (at as f64 + 1.0)),
            recall_10: relevant(10) / all,
            recall_100: relevant(100) / all,
            precision_5: relevant(5) / 5.0,
            precision_10: relevant(10) / 10.0,
            hit_1: relevant(1).min(1.0),
            hit_5: relevant(5).min(1.0),
            hit_10: relevant(10).min(1.0),
        }
    }

    /// Their means; all 0 for none.
    pub fn mean(all: &[Self]) -> Self {
        let count = (all.len() as f64).max(1.0);
        let mean = |field: fn(&Self) -> f64| all.iter().map(field).sum::<f64>() / count;
        Self {
            ndcg_10: mean(|s| s.ndcg_10),
            ndcg_exponential_10: mean(|s| s.ndcg_exponential_10),
            mrr_10: mean(|s| s.mrr_10),
            recall_10: mean(|s| s.recall_10),
            recall_100: mean(|s| s.recall_100),
            precision_5: mean(|s| s.precision_5),
            precision_10: mean(|s| s.precision_10),
            hit_1: mean(|s| s.hit_1),
            hit_5: mean(|s| s.hit_5),
            hit_10: mean(|s| s.hit_10),
        }
    }
}

fn ndcg(found: &[u32], grades: &Grades, gain: fn(u32) -> f64) -> f64 {
    let cumulated = |grades: &[u32]| -> f64 {
        let ranked = grades.iter().take(10).zip(1..);
        ranked
            .map(|(grade, rank)| gain(*grade) / f64::from(rank + 1).log2())
            .sum()
    };
    let mut best: Vec<u32> = grades.values().copied().collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    let ideal = cumulated(&best);
    if ideal > 0.0 {
        cumulated(found) / ideal
    } else {
        0.0
    }
}

/// The documents of a list of passages, each at the place of its best passage.
pub fn first_of_each(documents: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    documents
        .into_iter()
        .filter(|id| seen.insert(id.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(ranking: &[&str], grades: &[(&str, u32)]) -> Scores {
        let ranking: Vec<String> = ranking.iter().map(|id| (*id).to_owned()).collect();
        let grades = grades
            .iter()
            .map(|(id, grade)| ((*id).to_owned(), *grade))
            .collect();
        Scores::of(&ranking, &grades)
    }

    #[track_caller]
    fn same(value: f64, expect: f64) {
        assert!((value - expect).abs() < 1e-9, "{value} is not {expect}");
    }

    #[test]
    fn ndcg_on_paper() {
        #[track_caller]
        fn check(ranking: &[&str], grades: &[(&str, u32)], linear: f64, exponential: f64) {
            let scores = scores(ranking, grades);
            same(scores.ndcg_10, linear);
            same(scores.ndcg_exponential_10, exponential);
        }
        let third = 1.0 / 3_f64.log2();
        check(&["a"], &[("a", 1)], 1.0, 1.0);
        check(&["x", "a"], &[("a", 1)], third, third);
        check(
            &["b", "a"],
            &[("a", 3), ("b", 1)],
            (1.0 + 3.0 * third) / (3.0 + third),
            (1.0 + 7.0 * third) / (7.0 + third),
        );
        check(&[], &[("a", 1)], 0.0, 0.0);
        check(&["a"], &[], 0.0, 0.0);
        let late: Vec<String> = (0..10).map(|n| format!("x{n}")).collect();
        let mut late: Vec<&str> = late.iter().map(String::as_str).collect();
        late.push("a");
        check(&late, &[("a", 1)], 0.0, 0.0);
        // The best possible ranking ends after ten, too.
        let many: Vec<String> = (0..12).map(|n| format!("d{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let all: Vec<(&str, u32)> = many.iter().map(|id| (*id, 1)).collect();
        check(&many, &all, 1.0, 1.0);
    }

    #[test]
    fn counts_on_paper() {
        let ranking = ["x", "a", "y", "b", "z", "c"];
        let s = scores(&ranking, &[("a", 1), ("b", 2), ("c", 1), ("d", 1)]);
        same(s.mrr_10, 0.5);
        same(s.recall_10, 0.75);
        same(s.precision_5, 0.4);
        same(s.precision_10, 0.3);
        assert_eq!((s.hit_1, s.hit_5, s.hit_10), (0.0, 1.0, 1.0));
        let mut long: Vec<String> = (0..99).map(|n| format!("x{n}")).collect();
        long.extend(["a".to_owned(), "b".to_owned()]);
        let long: Vec<&str> = long.iter().map(String::as_str).collect();
        let s = scores(&long, &[("a", 1), ("b", 1)]);
        same(s.recall_100, 0.5);
        assert_eq!((s.mrr_10, s.recall_10, s.hit_10), (0.0, 0.0, 0.0));
    }

    #[test]
    fn a_mean_is_over_all_questions_and_a_document_counts_once() {
        let found = scores(&["a"], &[("a", 1)]);
        let lost = scores(&["x"], &[("a", 1)]);
        let mean = Scores::mean(&[found, lost]);
        assert_eq!(
            (mean.ndcg_10, mean.hit_1, mean.precision_5),
            (0.5, 0.5, 0.1)
        );
        assert_eq!(Scores::mean(&[]), Scores::default());
        let passages = ["a", "b", "a", "c", "b"].map(str::to_owned);
        assert_eq!(first_of_each(passages), ["a", "b", "c"]);
    }
}
