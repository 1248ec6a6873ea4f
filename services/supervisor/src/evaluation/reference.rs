//! Scores of nDCG@10 that others published for sets of the same name, to stand beside ours.

use serde::{Deserialize, Serialize};

/// One published score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// The system.
    pub system: String,
    /// nDCG@10.
    pub score: f64,
    /// Who measured it.
    pub source: String,
}

/// BEIR's own figures and those of the models' cards: gain = grade.
const BEIR: &str = "published (BEIR, MTEB)";
/// Those of the judged sets that come with a note of their makers' own runs: BM25 with k1 0.9 and
/// b 0.4, all-MiniLM-L6-v2 in fp32 over 256 tokens, exact; gain = 2^grade − 1.
const CORPUS: &str = "reference of the corpus";

const KNOWN: [(&str, &str, f64, &str); 20] = [
    ("scifact", "BM25", 0.679, BEIR),
    ("scifact", "MiniLM", 0.645, BEIR),
    ("scifact", "bge-small", 0.713, BEIR),
    ("nfcorpus", "BM25", 0.322, BEIR),
    ("nfcorpus", "bge-small", 0.343, BEIR),
    ("cranfield", "BM25", 0.333, CORPUS),
    ("cranfield", "MiniLM", 0.356, CORPUS),
    ("cranfield", "average 50/50", 0.394, CORPUS),
    ("squad2-sample", "BM25", 0.863, CORPUS),
    ("squad2-sample", "MiniLM", 0.813, CORPUS),
    ("squad2-sample", "average 50/50", 0.911, CORPUS),
    ("xquad-en", "BM25", 0.967, CORPUS),
    ("xquad-en", "MiniLM", 0.944, CORPUS),
    ("xquad-en", "average 50/50", 0.983, CORPUS),
    ("xquad-tr", "BM25", 0.893, CORPUS),
    ("xquad-tr", "MiniLM", 0.402, CORPUS),
    ("xquad-tr", "average 50/50", 0.849, CORPUS),
    ("xquad-zh", "BM25, plain word tokens", 0.107, CORPUS),
    ("xquad-zh", "MiniLM", 0.243, CORPUS),
    ("xquad-zh", "average 50/50", 0.259, CORPUS),
];

impl Reference {
    /// Whether its gain is 2^grade − 1 and not the grade.
    pub fn is_exponential(&self) -> bool {
        self.source == CORPUS
    }
}

/// What is known of the set of this name.
pub fn of(set: &str) -> Vec<Reference> {
    let set = set.to_lowercase();
    let known = KNOWN.iter().filter(|(name, ..)| *name == set);
    known
        .map(|(_, system, score, source)| Reference {
            system: (*system).to_owned(),
            score: *score,
            source: (*source).to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_known_by_its_name() {
        assert_eq!(of("SciFact").len(), 3);
        assert!(of("my-set").is_empty());
    }
}
