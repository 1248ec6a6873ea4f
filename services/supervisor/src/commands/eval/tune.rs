//! Weights: looked for on one half of the questions, told of the other.

use super::configuration::Configuration;
use super::outcome::{Outcome, SetOutcome, Tuned};
use crate::evaluation::measure::Scores;
use crate::evaluation::split::Half;
use crate::evaluation::statistics::bootstrap;

/// Finds the fixed weights that are best on the tuning half, as the mean of all sets; then leaves
/// of every outcome the questions of `told` alone, and of what was tried the best alone, called
/// `tuned`. `None` without sets.
pub(super) fn tune(sets: &mut [SetOutcome], told: Half) -> Option<Tuned> {
    let mut tried: Vec<(Configuration, f64)> = Vec::new();
    for configuration in Configuration::grid() {
        let scores: Option<Vec<f64>> = sets
            .iter()
            .map(|set| Some(mean(set.configuration(&configuration.name)?, Half::Tuning).ndcg_10))
            .collect();
        let scores = scores.filter(|scores| !scores.is_empty())?;
        let score = scores.iter().sum::<f64>() / scores.len() as f64;
        tried.push((configuration, score));
    }
    // Of equals the first.
    let (configuration, score) = tried
        .iter()
        .rev()
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .cloned()?;
    let names: Vec<&str> = tried.iter().map(|(c, _)| c.name.as_str()).collect();
    for set in sets {
        let was_tried = |outcome: &Outcome| {
            let name = outcome.configuration.name.as_str();
            names.contains(&name) && name != configuration.name
        };
        set.configurations.retain(|outcome| !was_tried(outcome));
        for outcome in &mut set.configurations {
            keep(outcome, told);
            if outcome.configuration.name == configuration.name {
                "tuned".clone_into(&mut outcome.configuration.name);
            }
        }
        set.questions = set.configurations.first().map_or(0, |o| o.questions.len());
        set.judge_default();
    }
    Some(Tuned {
        configuration,
        score,
        tried: tried
            .into_iter()
            .map(|(c, score)| (c.name, score))
            .collect(),
    })
}

fn mean(outcome: &Outcome, half: Half) -> Scores {
    let held = outcome
        .questions
        .iter()
        .filter(|question| half.holds(&question.id));
    Scores::mean(&held.map(|question| question.scores).collect::<Vec<_>>())
}

fn keep(outcome: &mut Outcome, half: Half) {
    outcome
        .questions
        .retain(|question| half.holds(&question.id));
    outcome.mean = mean(outcome, Half::All);
    let values = |value: fn(&Scores) -> f64| -> Vec<f64> {
        outcome
            .questions
            .iter()
            .map(|question| value(&question.scores))
            .collect()
    };
    outcome.ndcg_interval = bootstrap(&values(|s| s.ndcg_10));
    outcome.recall_interval = bootstrap(&values(|s| s.recall_100));
}

#[cfg(test)]
mod tests {
    use super::super::configuration::{DEFAULT, DENSE, KEYWORD};
    use super::super::outcome::tests::{outcome, set};
    use super::*;

    #[test]
    fn the_best_of_one_half_is_told_of_the_other() {
        // On the half to tune, 0.9 of the average is best; on the other it is the worst.
        let held = |n: usize| Half::Tuning.holds(&format!("q{n}"));
        let values = |tuning: f64, other: f64| -> Vec<f64> {
            (0..40)
                .map(|n| if held(n) { tuning } else { other })
                .collect()
        };
        let mut outcomes = vec![
            outcome(KEYWORD, &values(0.1, 0.1)),
            outcome(DENSE, &values(0.1, 0.1)),
            outcome(DEFAULT, &values(0.2, 0.4)),
        ];
        for configuration in Configuration::grid() {
            let best = configuration.name == "average 0.9";
            let values = if best {
                values(0.9, 0.2)
            } else {
                values(0.5, 0.5)
            };
            outcomes.push(outcome(&configuration.name, &values));
        }
        let mut sets = [set("s", outcomes)];
        let tuned = tune(&mut sets, Half::HeldOut).unwrap();
        assert_eq!(tuned.configuration.name, "average 0.9");
        assert!((tuned.score - 0.9).abs() < 1e-9 && tuned.tried.len() == 10);
        let names: Vec<_> = sets[0]
            .configurations
            .iter()
            .map(|o| o.configuration.name.clone())
            .collect();
        assert_eq!(names, [KEYWORD, DENSE, DEFAULT, "tuned"]);
        let told = sets[0].configuration("tuned").unwrap();
        assert!((told.mean.ndcg_10 - 0.2).abs() < 1e-9);
        assert!(told.questions.iter().all(|q| Half::HeldOut.holds(&q.id)));
        assert_eq!(sets[0].questions, told.questions.len());
        let against = sets[0].against.as_ref().unwrap();
        assert!((against.difference.mean - 0.3).abs() < 1e-9, "{against:?}");
    }
}
