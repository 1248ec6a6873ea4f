//! Why a passage was found, or was not.
//!
//! What the engines returned is told from what is at hand; only documents and chunks that were
//! asked about and not returned cost another question to the engines (`probe`).

mod probe;
mod reason;

use shared::contract::{CandidateExplanation, Decision, Explanation, Question, Standing, Weighing};

use crate::candidate::Candidate;
use crate::engines::{Engines, Wanted};
use crate::error::QuestionError;
use crate::label::label;
use reason::Ends;

/// Documents, and chunks, that one question may ask about.
const MOST: usize = 10;

/// Whether `question` is to be explained.
pub(crate) fn is_wanted(question: &Question) -> bool {
    question.explain || asks_about_more(question)
}

fn asks_about_more(question: &Question) -> bool {
    !question.explain_documents.is_empty() || !question.explain_chunks.is_empty()
}

/// # Errors
/// More documents or chunks than one reply explains.
pub(crate) fn check(question: &Question) -> Result<(), QuestionError> {
    let counts = [
        ("documents", question.explain_documents.len()),
        ("chunks", question.explain_chunks.len()),
    ];
    match counts.into_iter().find(|(_, wanted)| *wanted > MOST) {
        Some((what, wanted)) => Err(QuestionError::TooManyExplained {
            what,
            wanted,
            most: MOST,
        }),
        None => Ok(()),
    }
}

/// A question's outcome, to be explained.
pub(crate) struct Outcome<'a> {
    /// All candidates, in their last order.
    pub(crate) candidates: &'a [Candidate],
    /// What became of each.
    pub(crate) decisions: &'a [Decision],
    /// The engines' weights.
    pub(crate) weighing: Weighing,
    /// What the engines were asked.
    pub(crate) wanted: &'a Wanted,
}

/// Every candidate's way, and after them what `question` asks about and no engine returned; with
/// notes on what cannot be explained.
pub(crate) async fn explain(
    engines: &dyn Engines,
    question: &Question,
    outcome: Outcome<'_>,
) -> (Explanation, Vec<String>) {
    let mut candidates = of_candidates(outcome.candidates, outcome.decisions);
    let mut notes = Vec::new();
    if asks_about_more(question) {
        let ends = Ends::of(outcome.candidates, outcome.weighing.semantic_weight);
        let probe = probe::Probe {
            engines,
            wanted: outcome.wanted,
            ends,
            known: outcome.candidates,
        };
        let (more, said) = probe.run(question).await;
        candidates.extend(more);
        notes = said;
    }
    let explanation = Explanation {
        weighing: outcome.weighing,
        candidates,
    };
    (explanation, notes)
}

/// `candidates` with what became of each.
fn of_candidates(candidates: &[Candidate], decisions: &[Decision]) -> Vec<CandidateExplanation> {
    let ranks = fused_ranks(candidates);
    let settled = candidates.iter().zip(decisions).zip(ranks);
    settled
        .map(|((candidate, decision), rank)| CandidateExplanation {
            chunk_id: candidate.hit.chunk_id.clone(),
            document_id: candidate.hit.document_id.clone(),
            label: label(&candidate.hit),
            keyword: candidate.keyword,
            vector: candidate.vector,
            fused: Some(Standing {
                rank: Some(rank),
                score: candidate.hit.score,
            }),
            reranked: candidate.reranked,
            gate: None,
            decision: decision.clone(),
        })
        .collect()
}

/// The rank of each by its fused score; reranking has changed their order, but not the score.
fn fused_ranks(candidates: &[Candidate]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    let score = |at: usize| candidates.get(at).map_or(0.0, |one| one.hit.score);
    order.sort_by(|a, b| score(*b).total_cmp(&score(*a)));
    let mut ranks = vec![0; candidates.len()];
    for (rank, at) in (1..).zip(order) {
        if let Some(slot) = ranks.get_mut(at) {
            *slot = rank;
        }
    }
    ranks
}
