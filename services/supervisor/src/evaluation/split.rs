//! Two halves of the questions: what is tuned on one is reported on the other.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::statistics::SEED;

/// Which questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Half {
    /// All of them
    All,
    /// The half that weights are tuned on
    Tuning,
    /// The other half, for reports
    HeldOut,
}

impl Half {
    /// Whether the question of this id is in it. The half depends on the id alone: questions that
    /// come later move none, and a question has the same half in every language of a set.
    pub fn holds(self, id: &str) -> bool {
        match self {
            Self::All => true,
            Self::Tuning => is_for_tuning(id),
            Self::HeldOut => !is_for_tuning(id),
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all judged questions",
            Self::Tuning => "the half that is tuned on",
            Self::HeldOut => "the held-out half",
        }
    }
}

fn is_for_tuning(id: &str) -> bool {
    let mut hasher = Sha256::new();
    hasher.update(SEED.to_le_bytes());
    hasher.update(id.as_bytes());
    hasher
        .finalize()
        .first()
        .is_some_and(|byte| byte.is_multiple_of(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_is_in_one_half_and_the_halves_are_as_large() {
        let ids: Vec<String> = (0..1000).map(|n| format!("q{n}")).collect();
        let held = |half: Half| ids.iter().filter(|id| half.holds(id)).count();
        assert_eq!(held(Half::All), 1000);
        assert_eq!(held(Half::Tuning) + held(Half::HeldOut), 1000);
        assert!(
            (430..570).contains(&held(Half::Tuning)),
            "{}",
            held(Half::Tuning)
        );
    }
}
