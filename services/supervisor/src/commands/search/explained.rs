//! Why a search found what it found, as a table.

use std::io;

use shared::contract::{CandidateExplanation, Decision, Explanation, Standing};

use crate::output::{self, name, style};

/// Prints how the engines were weighed, and a row for each candidate.
///
/// # Errors
/// When standard output is closed.
pub(super) fn tell(explanation: &Explanation) -> io::Result<()> {
    let weighing = &explanation.weighing;
    output::line(style().bold().apply_to(format!(
        "why: meaning {:.2}, words {:.2} ({})",
        weighing.semantic_weight,
        1.0 - weighing.semantic_weight,
        output::text(&weighing.reason)
    )))?;
    let head = [
        "words", "meaning", "fused", "reranked", "passage", "outcome",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(explanation.candidates.iter().map(row));
    output::table(&rows)?;
    output::line("")
}

fn row(candidate: &CandidateExplanation) -> Vec<String> {
    vec![
        standing(candidate.keyword, 2),
        standing(candidate.vector, 3),
        standing(candidate.fused, 4),
        standing(candidate.reranked, 2),
        name(&candidate.label),
        outcome(&candidate.decision),
    ]
}

/// `3. (12.41)`; the score alone of what a list does not reach.
fn standing(standing: Option<Standing>, digits: usize) -> String {
    match standing {
        None => "–".to_owned(),
        Some(Standing {
            rank: Some(rank),
            score,
        }) => format!("{rank}. ({score:.digits$})"),
        Some(Standing { rank: None, score }) => format!("({score:.digits$})"),
    }
}

fn outcome(decision: &Decision) -> String {
    match decision {
        Decision::Packed { position } => format!("passage {position}"),
        Decision::Merged { position } => format!("part of passage {position}"),
        Decision::Duplicate { of } => format!("same text as {of}"),
        Decision::Dropped { reason } => output::text(reason),
        Decision::NotFound { reason } => format!("not found: {}", output::text(reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_ranks_scores_and_the_outcome() {
        let candidate: CandidateExplanation = serde_json::from_value(serde_json::json!({
            "chunk_id": "00112233445566778899aabbccddeeff_17",
            "document_id": "0190f3c2a1b2c3d4e5f60718293a4b5c",
            "label": "[handbook.pdf, p.4]",
            "keyword": { "rank": 3, "score": 12.414 },
            "vector": { "score": 0.3141 },
            "fused": { "rank": 37, "score": 0.0159 },
            "outcome": "dropped",
            "reason": "rank 37, below the 5 passages asked for"
        }))
        .unwrap();
        assert_eq!(
            row(&candidate),
            [
                "3. (12.41)",
                "(0.314)",
                "37. (0.0159)",
                "–",
                "[handbook.pdf, p.4]",
                "rank 37, below the 5 passages asked for"
            ]
        );
    }
}
