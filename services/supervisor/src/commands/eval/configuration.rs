//! The ways of asking that are compared.

use serde::{Deserialize, Serialize};
use shared::contract::{FusionMethod, Question};

/// The name of what nothing is set for.
pub(super) const DEFAULT: &str = "default";
/// The keyword engine alone.
pub(super) const KEYWORD: &str = "keyword";
/// The vector engine alone.
pub(super) const DENSE: &str = "dense";
/// The average with equal weights.
pub(super) const AVERAGE: &str = "average";

/// Weights that are tried.
const GRID: [f32; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];

/// A way of asking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Configuration {
    /// Its name in tables.
    pub(super) name: String,
    /// As in a question.
    pub(super) semantic_weight: Option<f32>,
    /// As in a question.
    pub(super) fusion: Option<FusionMethod>,
    /// As in a question.
    pub(super) rerank: Option<bool>,
}

impl Configuration {
    fn fixed(name: &str, weight: f32, fusion: FusionMethod) -> Self {
        Self {
            name: name.to_owned(),
            semantic_weight: Some(weight),
            fusion: Some(fusion),
            rerank: Some(false),
        }
    }

    fn default_with(name: &str, rerank: Option<bool>) -> Self {
        Self {
            name: name.to_owned(),
            semantic_weight: None,
            fusion: None,
            rerank,
        }
    }

    /// Each engine alone, both fusions with equal weights, what the product does by itself, and
    /// if wanted the same reranked.
    pub(super) fn standard(rerank: bool) -> Vec<Self> {
        let mut all = vec![
            Self::fixed(KEYWORD, 0.0, FusionMethod::Rrf),
            Self::fixed(DENSE, 1.0, FusionMethod::Rrf),
            Self::fixed("rrf", 0.5, FusionMethod::Rrf),
            Self::fixed(AVERAGE, 0.5, FusionMethod::Average),
            Self::default_with(DEFAULT, None),
        ];
        if rerank {
            all.push(Self::default_with("rerank", Some(true)));
        }
        all
    }

    /// Both fusions with every weight that is tried.
    pub(super) fn grid() -> Vec<Self> {
        let methods = [("rrf", FusionMethod::Rrf), (AVERAGE, FusionMethod::Average)];
        let of = |(name, method): (&str, FusionMethod)| {
            GRID.map(|weight| Self::fixed(&format!("{name} {weight}"), weight, method))
        };
        methods.into_iter().flat_map(of).collect()
    }

    /// `text` asked this way, for `k` passages.
    pub(super) fn question(&self, text: &str, k: u32) -> Question {
        Question {
            text: text.to_owned(),
            k,
            semantic_weight: self.semantic_weight,
            fusion: self.fusion,
            rerank: self.rerank,
            // Of fixed weights the ranking is wanted; what the product does by itself it does.
            diversity: self.semantic_weight.map(|_| 0.0),
            ..Question::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn engines_alone_have_all_weight_and_the_default_sets_nothing() {
        let all = Configuration::standard(true);
        let by_name = |name: &str| {
            all.iter()
                .find(|c| c.name == name)
                .unwrap()
                .question("q", 7)
        };
        assert_eq!(by_name(KEYWORD).semantic_weight, Some(0.0));
        assert_eq!(by_name(DENSE).semantic_weight, Some(1.0));
        let nothing = Question {
            text: "q".to_owned(),
            k: 7,
            ..Question::default()
        };
        assert_eq!(by_name(DEFAULT), nothing);
        assert_eq!(by_name("rerank").rerank, Some(true));
        assert_eq!(Configuration::standard(false).len(), 5);
        let grid = Configuration::grid();
        let names: HashSet<_> = grid.iter().map(|c| &c.name).collect();
        assert_eq!((grid.len(), names.len()), (10, 10));
    }
}
