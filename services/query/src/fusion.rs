//! Two ranked lists become one: by ranks, or by scores.
//!
//! By ranks: a hit's score is Σ wᵢ / (60 + rankᵢ) over the lists it is in, ranks from 1: Cormack,
//! Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
//! learning methods", SIGIR 2009. By scores: Σ wᵢ · sᵢ, each list's scores brought to 0…1 by its
//! own lowest and highest; what a list does not hold has 0 in it. The average keeps how far apart
//! hits are: docs/evaluation.md has what each scores.

use std::collections::BTreeMap;

use shared::contract::{ChunkId, FusionMethod};

/// The paper's constant: how little the first ranks stand out.
pub const RANK_CONSTANT: f32 = 60.0;

/// One engine's hits, best first.
#[derive(Debug, Clone, Copy)]
pub struct List<'a> {
    /// The chunks with the engine's own scores.
    pub hits: &'a [(ChunkId, f32)],
    /// The score of what is not in the list, where it is known: 0 for words, of a list that holds
    /// every chunk with one of them. Else the lowest score in the list stands for it.
    pub floor: Option<f32>,
}

impl<'a> List<'a> {
    /// A list that goes on beyond its last hit.
    pub fn of(hits: &'a [(ChunkId, f32)]) -> Self {
        Self { hits, floor: None }
    }

    /// The lowest and the highest score.
    fn range(&self) -> (f32, f32) {
        let scores = || self.hits.iter().map(|(_, score)| *score);
        let lowest = || scores().fold(f32::INFINITY, f32::min);
        let highest = scores().fold(f32::NEG_INFINITY, f32::max);
        (self.floor.unwrap_or_else(lowest), highest)
    }
}

/// A score as a share of its list's range, 0 to 1; 1 where all are the same.
fn share(score: f32, (low, high): (f32, f32)) -> f32 {
    if high > low {
        ((score - low) / (high - low)).clamp(0.0, 1.0)
    } else {
        1.0
    }
}

/// A chunk that one list or both hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Fused {
    /// The chunk.
    pub chunk_id: ChunkId,
    /// Its score: at most 1/61 by ranks, 1 by scores.
    pub score: f32,
    /// Rank in the keyword list, from 1.
    pub keyword_rank: Option<u32>,
    /// Rank in the vector list, from 1.
    pub vector_rank: Option<u32>,
}

/// Fuses two lists. `semantic_weight`, 0 to 1, is the vector list's share and the rest the keyword
/// list's; a list without a share is left out. Of equal scores the smaller chunk id comes first; a
/// chunk twice in a list counts where it stands first.
pub fn fuse(
    method: FusionMethod,
    keyword: List<'_>,
    vector: List<'_>,
    semantic_weight: f32,
) -> Vec<Fused> {
    let mut found: BTreeMap<&ChunkId, [Option<(u32, f32)>; 2]> = BTreeMap::new();
    let weights = [1.0 - semantic_weight, semantic_weight];
    for (place, list) in [keyword, vector].into_iter().enumerate() {
        if weights.get(place).is_none_or(|weight| *weight <= 0.0) {
            continue;
        }
        let range = list.range();
        for (rank, (id, score)) in (1..).zip(list.hits) {
            let score = match method {
                FusionMethod::Rrf => 1.0 / (RANK_CONSTANT + rank as f32),
                FusionMethod::Average => share(*score, range),
            };
            if let Some(slot) = found.entry(id).or_default().get_mut(place) {
                slot.get_or_insert((rank, score));
            }
        }
    }
    let mut fused: Vec<Fused> = found
        .into_iter()
        .map(|(id, places)| {
            let weighed = places.iter().zip(weights);
            let [keyword_rank, vector_rank] = places.map(|place| place.map(|(rank, _)| rank));
            Fused {
                chunk_id: id.clone(),
                score: weighed
                    .map(|(place, weight)| weight * place.map_or(0.0, |(_, score)| score))
                    .sum(),
                keyword_rank,
                vector_rank,
            }
        })
        .collect();
    // The map gave them by id and the sort is stable, which settles ties.
    fused.sort_by(|a, b| b.score.total_cmp(&a.score));
    fused
}
