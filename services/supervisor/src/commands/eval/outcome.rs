//! What an evaluation found, as it is kept in a file and compared with later.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::configuration::{Configuration, DEFAULT, DENSE, KEYWORD};
use super::store::TakenIn;
use crate::evaluation::latency::Latency;
use crate::evaluation::measure::Scores;
use crate::evaluation::reference::Reference;
use crate::evaluation::split::Half;
use crate::evaluation::statistics::{Difference, Interval, compare};

/// The form of the file. A reader takes files of its own form alone.
pub(super) const FORM: u32 = 1;

/// One evaluation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Evaluation {
    /// [`FORM`].
    pub(super) form: u32,
    /// When, as of RFC 3339.
    pub(super) made_at: String,
    /// What was evaluated.
    pub(super) how: How,
    /// Set by set.
    pub(super) sets: Vec<SetOutcome>,
    /// The weights that were best on the tuning half, when they were looked for.
    #[serde(default)]
    pub(super) tuned: Option<Tuned>,
}

/// What was evaluated.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct How {
    /// Of the program.
    pub(super) version: String,
    /// Version of the parser's output.
    pub(super) parser: String,
    /// Version of the chunker's output.
    pub(super) chunker: String,
    /// The embedding model.
    pub(super) model: String,
    /// Which questions.
    pub(super) half: Half,
    /// Passages asked for per question.
    pub(super) passages: u32,
    /// Of all random draws.
    pub(super) seed: u64,
    /// The settings of search, by section and key.
    pub(super) settings: BTreeMap<String, Value>,
}

/// One set.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SetOutcome {
    /// Its name.
    pub(super) name: String,
    /// SHA-256 (hex) of its documents.
    pub(super) hash: String,
    /// Documents in the set.
    pub(super) documents: usize,
    /// Questions asked.
    pub(super) questions: usize,
    /// Questions without a relevant document.
    pub(super) unjudged: usize,
    /// Relevant documents that the set does not hold.
    pub(super) absent: usize,
    /// How it was taken in.
    pub(super) taken_in: TakenIn,
    /// Published scores.
    pub(super) references: Vec<Reference>,
    /// By each way of asking.
    pub(super) configurations: Vec<Outcome>,
    /// The default beside the better of both engines alone.
    pub(super) against: Option<Against>,
}

/// A set asked in one way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// The way of asking.
    #[serde(flatten)]
    pub(super) configuration: Configuration,
    /// Means over all questions.
    pub(super) mean: Scores,
    /// The 95 % interval of the mean nDCG@10.
    pub(super) ndcg_interval: Interval,
    /// Of the mean recall@100.
    pub(super) recall_interval: Interval,
    /// Questions for which an engine failed, or something else was noted.
    pub(super) noted: usize,
    /// How long questions took, one after the other; absent when it was not measured.
    pub(super) latency: Option<Latency>,
    /// Question by question.
    pub(super) questions: Vec<QuestionOutcome>,
}

/// One question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct QuestionOutcome {
    /// Its id.
    pub(super) id: String,
    /// How its ranking did.
    #[serde(flatten)]
    pub(super) scores: Scores,
}

/// The default beside the better of both engines alone, in nDCG@10.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Against {
    /// The better one.
    pub(super) better: String,
    /// Its mean.
    pub(super) score: f64,
    /// The default less the better one.
    pub(super) difference: Difference,
}

/// Weights that were best on the half that is tuned on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Tuned {
    /// The way of asking.
    pub(super) configuration: Configuration,
    /// The mean over the sets of its nDCG@10 on that half.
    pub(super) score: f64,
    /// Every way that was tried, with that mean.
    pub(super) tried: Vec<(String, f64)>,
}

impl SetOutcome {
    /// The outcome called `name`.
    pub(super) fn configuration(&self, name: &str) -> Option<&Outcome> {
        let mut all = self.configurations.iter();
        all.find(|outcome| outcome.configuration.name == name)
    }

    /// Compares the default with the better engine.
    pub(super) fn judge_default(&mut self) {
        self.against = self.default_against_engines();
    }

    fn default_against_engines(&self) -> Option<Against> {
        let default = self.configuration(DEFAULT)?;
        let (keyword, dense) = (self.configuration(KEYWORD)?, self.configuration(DENSE)?);
        let better = if dense.mean.ndcg_10 > keyword.mean.ndcg_10 {
            dense
        } else {
            keyword
        };
        Some(Against {
            better: better.configuration.name.clone(),
            score: better.mean.ndcg_10,
            difference: compare(&pairs(default, better)),
        })
    }
}

/// nDCG@10 of both for every question that both were asked.
pub(super) fn pairs(first: &Outcome, second: &Outcome) -> Vec<(f64, f64)> {
    let second: BTreeMap<&str, f64> = second
        .questions
        .iter()
        .map(|question| (question.id.as_str(), question.scores.ndcg_10))
        .collect();
    let paired = first.questions.iter().filter_map(|question| {
        let other = second.get(question.id.as_str())?;
        Some((question.scores.ndcg_10, *other))
    });
    paired.collect()
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the values are exact")]
pub(super) mod tests {
    use super::*;

    /// An outcome whose questions have these values of nDCG@10.
    pub(crate) fn outcome(name: &str, values: &[f64]) -> Outcome {
        let questions: Vec<QuestionOutcome> = (0..)
            .zip(values)
            .map(|(n, value)| QuestionOutcome {
                id: format!("q{n}"),
                scores: Scores {
                    ndcg_10: *value,
                    ..Scores::default()
                },
            })
            .collect();
        let scores: Vec<Scores> = questions.iter().map(|question| question.scores).collect();
        Outcome {
            configuration: Configuration {
                name: name.to_owned(),
                semantic_weight: None,
                fusion: None,
                rerank: None,
            },
            mean: Scores::mean(&scores),
            ndcg_interval: Interval::default(),
            recall_interval: Interval::default(),
            noted: 0,
            latency: None,
            questions,
        }
    }

    /// A set with these outcomes.
    pub(crate) fn set(name: &str, configurations: Vec<Outcome>) -> SetOutcome {
        let mut set = SetOutcome {
            name: name.to_owned(),
            hash: "h".to_owned(),
            documents: 4000,
            questions: 2,
            unjudged: 0,
            absent: 0,
            taken_in: TakenIn::default(),
            references: crate::evaluation::reference::of(name),
            configurations,
            against: None,
        };
        set.judge_default();
        set
    }

    /// An evaluation of these sets.
    pub(crate) fn evaluation(sets: Vec<SetOutcome>) -> Evaluation {
        Evaluation {
            form: FORM,
            made_at: "2026-12-01T00:00:00Z".to_owned(),
            how: How {
                version: "0".to_owned(),
                parser: "p".to_owned(),
                chunker: "c".to_owned(),
                model: "all-MiniLM-L6-v2-fp32".to_owned(),
                half: Half::All,
                passages: 100,
                seed: 1,
                settings: BTreeMap::new(),
            },
            sets,
            tuned: None,
        }
    }

    #[test]
    fn the_default_is_held_against_the_better_engine() {
        let all = vec![
            outcome(KEYWORD, &[0.2, 0.4]),
            outcome(DENSE, &[0.5, 0.5]),
            outcome(DEFAULT, &[0.6, 0.6]),
        ];
        let against = set("s", all.clone()).against.unwrap();
        assert_eq!(against.better, DENSE);
        assert!((against.difference.mean - 0.1).abs() < 1e-12);
        assert_eq!(set("s", all[..2].to_vec()).against, None);
    }

    #[test]
    fn only_questions_that_both_were_asked_are_compared() {
        let (mut first, second) = (outcome("a", &[0.1, 0.2, 0.3]), outcome("b", &[0.4, 0.5]));
        first.questions.remove(0);
        assert_eq!(pairs(&first, &second), [(0.2, 0.5)]);
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let kept =
            serde_json::to_string(&evaluation(vec![set("s", vec![outcome(KEYWORD, &[0.25])])]));
        let text = kept.unwrap();
        assert!(text.contains("\"ndcg@10\":0.25"), "{text}");
        let read: Evaluation = serde_json::from_str(&text).unwrap();
        assert_eq!(
            read.sets[0].configurations[0].questions[0].scores.ndcg_10,
            0.25
        );
    }
}
