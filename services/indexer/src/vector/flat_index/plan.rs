//! Which way a search goes: by the cost of each, in vectors looked at one after another.
//!
//! Measured with `benches/ann.rs` over 20,000 × 384 on two busy cores: a scan takes 93 ns per
//! vector, a picked vector 100 to 200 ns, a graph search with ef 100 takes 0.43 ms.

use std::sync::Arc;

use super::super::graph::Graph;
use super::super::slots::Slots;
use super::super::{AllowedChunks, ChunkKey};

/// Candidates a graph search keeps at least (ef in the paper).
const LEAST_EF: usize = 100;

/// Cost per candidate kept: neighbours looked at, in no order in memory.
const COST_PER_EF: usize = 45;

/// Cost of one allowed chunk: its slot is looked up, and its vector lies anywhere.
const COST_PER_PICK: usize = 2;

#[derive(Debug)]
pub(super) enum Plan<'a> {
    /// Look at every vector.
    Scan,
    /// Look at the allowed ones only.
    PickAllowed(&'a [ChunkKey]),
    /// Search the graph, then look at the vectors that came after it.
    Graph { graph: &'a Arc<Graph>, ef: usize },
}

impl<'a> Plan<'a> {
    pub(super) fn choose(
        slots: &Slots,
        graph: Option<&'a Arc<Graph>>,
        k: usize,
        allowed: Option<&'a AllowedChunks>,
    ) -> Self {
        let scan = slots.len();
        let pick = allowed.map_or(usize::MAX, |allowed| allowed.len() * COST_PER_PICK);
        if let Some(graph) = graph {
            let ef = LEAST_EF.max(k + k / 2);
            // The search leads through refused nodes until it has `ef` others.
            let wanted = allowed
                .map_or(usize::MAX, AllowedChunks::len)
                .min(slots.live())
                .max(1);
            let tail = slots.len().saturating_sub(graph.nodes() as usize);
            let through_graph = (COST_PER_EF * ef).saturating_mul(slots.len()) / wanted + tail;
            if through_graph < scan.min(pick) {
                return Self::Graph { graph, ef };
            }
        }
        match allowed {
            Some(allowed) if pick < scan => Self::PickAllowed(allowed.keys()),
            _ => Self::Scan,
        }
    }
}
