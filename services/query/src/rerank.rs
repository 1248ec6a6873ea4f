//! The best candidates ordered again by a model that reads question and passage together.

use shared::contract::{ErrorBody, Rerank, Standing};

use crate::candidate::Candidate;
use crate::engines::Engines;

/// Candidates that are read again.
const MOST: usize = 50;

/// Orders the first of `candidates` by the model's scores. Those that it did not come to within
/// `budget_ms` stay below, in their order.
///
/// # Errors
/// When no model answers; the order is as before then.
pub(crate) async fn rerank(
    engines: &dyn Engines,
    text: &str,
    candidates: &mut [Candidate],
    budget_ms: u64,
) -> Result<(), ErrorBody> {
    let first = candidates.len().min(MOST);
    let Some(read) = candidates.get_mut(..first).filter(|read| !read.is_empty()) else {
        return Ok(());
    };
    let request = Rerank {
        text: text.to_owned(),
        passages: read.iter().map(|one| one.hit.text.clone()).collect(),
        budget_ms,
    };
    let reply = engines.rerank(&request).await?;
    for (candidate, score) in read.iter_mut().zip(reply.scores) {
        candidate.reranked = score.map(|score| Standing { rank: None, score });
    }
    // The sort is stable: without a score the order is the fused one.
    let score = |one: &Candidate| one.reranked.map_or(f32::NEG_INFINITY, |s| s.score);
    read.sort_by(|a, b| score(b).total_cmp(&score(a)));
    for (candidate, rank) in read.iter_mut().zip(1..) {
        if let Some(standing) = &mut candidate.reranked {
            standing.rank = Some(rank);
        }
    }
    Ok(())
}
