//! Weighted reciprocal rank fusion.
//!
//! A hit's score is Σ wᵢ / (60 + rankᵢ) over the lists it is in, ranks from 1: Cormack, Clarke
//! and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
//! methods", SIGIR 2009. Only ranks count, so the engines' scores need no common scale.

use std::collections::BTreeMap;

use shared::contract::ChunkId;

/// The paper's constant: how little the first ranks stand out.
pub const RANK_CONSTANT: f32 = 60.0;

/// A chunk that one list or both hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Fused {
    /// The chunk.
    pub chunk_id: ChunkId,
    /// Its score, at most 1/61.
    pub score: f32,
    /// Rank in the keyword list, from 1.
    pub keyword_rank: Option<u32>,
    /// Rank in the vector list, from 1.
    pub vector_rank: Option<u32>,
}

/// Fuses two lists, best first. `semantic_weight`, 0 to 1, is the vector list's share and the
/// rest the keyword list's; a list without a share is left out. Of equal scores the smaller chunk
/// id comes first; a chunk twice in a list counts where it stands first.
pub fn fuse(keyword: &[ChunkId], vector: &[ChunkId], semantic_weight: f32) -> Vec<Fused> {
    let mut found: BTreeMap<&ChunkId, (Option<u32>, Option<u32>)> = BTreeMap::new();
    let keyword = if semantic_weight < 1.0 { keyword } else { &[] };
    let vector = if semantic_weight > 0.0 { vector } else { &[] };
    for (rank, id) in (1..).zip(keyword) {
        found.entry(id).or_default().0.get_or_insert(rank);
    }
    for (rank, id) in (1..).zip(vector) {
        found.entry(id).or_default().1.get_or_insert(rank);
    }
    let mut fused: Vec<Fused> = found
        .into_iter()
        .map(|(id, (keyword_rank, vector_rank))| Fused {
            chunk_id: id.clone(),
            score: share(1.0 - semantic_weight, keyword_rank) + share(semantic_weight, vector_rank),
            keyword_rank,
            vector_rank,
        })
        .collect();
    // The map gave them by id and the sort is stable, which settles ties.
    fused.sort_by(|a, b| b.score.total_cmp(&a.score));
    fused
}

fn share(weight: f32, rank: Option<u32>) -> f32 {
    rank.map_or(0.0, |rank| weight / (RANK_CONSTANT + rank as f32))
}
