//! The HNSW graph as flat arrays, and its search.
//!
//! Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using
//! Hierarchical Navigable Small World graphs" (2018), algorithms 2 and 5. `hnsw_rs` builds the graph
//! but is not asked to search it: it pays an `Arc` per candidate and a hash map of visited nodes per
//! search, and its filtered search never stops early. Here neighbours are `u32` in one array per
//! level, and visited nodes are marked with the number of the search.
#![expect(
    clippy::indexing_slicing,
    reason = "the inner loop; `Graph::new` has checked that every node number is below `nodes`"
)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::exact::Hit;

/// One level of the graph: who is on it and whom each can reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Level {
    /// The nodes on this level, ascending; all of them on level 0.
    pub(super) nodes: Vec<u32>,
    /// Neighbours of `nodes[i]` are `neighbours[offsets[i]..offsets[i + 1]]`.
    pub(super) offsets: Vec<u32>,
    pub(super) neighbours: Vec<u32>,
}

impl Level {
    /// From a list of neighbours per node.
    pub(super) fn from_lists(nodes: Vec<u32>, lists: &[Vec<u32>]) -> Self {
        let mut offsets = Vec::with_capacity(lists.len() + 1);
        let mut neighbours = Vec::with_capacity(lists.iter().map(Vec::len).sum());
        offsets.push(0);
        for list in lists {
            neighbours.extend_from_slice(list);
            offsets.push(u32::try_from(neighbours.len()).unwrap_or(u32::MAX));
        }
        Self {
            nodes,
            offsets,
            neighbours,
        }
    }

    fn is_sound(&self, nodes: u32) -> bool {
        self.offsets.len() == self.nodes.len() + 1
            && self.offsets.first() == Some(&0)
            && self.offsets.last().map(|end| *end as usize) == Some(self.neighbours.len())
            && self.offsets.is_sorted()
            && self.nodes.is_sorted_by(|a, b| a < b)
            && self.nodes.last().is_none_or(|last| *last < nodes)
            && self.neighbours.iter().all(|node| *node < nodes)
    }

    fn row(&self, row: usize) -> &[u32] {
        &self.neighbours[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }
}

/// A graph over slots `0..nodes`. Slots keep their numbers until a compaction, so it stays valid
/// while vectors are added (they form the tail) and removed (it leads through them).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Graph {
    nodes: u32,
    entry: u32,
    /// Level 0 first.
    levels: Vec<Level>,
}

impl Graph {
    /// `None` when the levels are not those of a graph over `0..nodes`, entered at `entry`.
    pub(super) fn new(nodes: u32, entry: u32, levels: Vec<Level>) -> Option<Self> {
        let ground = levels.first()?;
        let is_sound = entry < nodes
            && ground.nodes.len() == nodes as usize
            && levels.iter().all(|level| level.is_sound(nodes));
        is_sound.then_some(Self {
            nodes,
            entry,
            levels,
        })
    }

    /// Number of slots the graph covers.
    pub(super) fn nodes(&self) -> u32 {
        self.nodes
    }

    pub(super) fn entry(&self) -> u32 {
        self.entry
    }

    pub(super) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Up to `ef` nodes of high `cosine` to the query among those that `keep` accepts, in no order;
    /// the search runs through the others too. The more are refused, the longer it takes: about
    /// `1 / accepted`.
    pub(super) fn search(
        &self,
        ef: usize,
        visited: &mut Visited,
        cosine: impl Fn(u32) -> f32,
        keep: impl Fn(u32) -> bool,
    ) -> Vec<(u32, f32)> {
        let entry = self.descend(&cosine);
        visited.start(self.nodes as usize);
        visited.mark(entry.key());
        let mut frontier = BinaryHeap::from([entry]);
        let mut found = Found {
            ef: ef.max(1),
            heap: BinaryHeap::new(),
        };
        if keep(entry.key()) {
            found.push(entry);
        }
        let ground = &self.levels[0];
        while let Some(next) = frontier.pop().filter(|next| found.would_take(*next)) {
            for &node in ground.row(next.key() as usize) {
                if !visited.mark(node) {
                    continue;
                }
                let near = Near::new(cosine(node), node);
                if !found.would_take(near) {
                    continue;
                }
                frontier.push(near);
                if keep(node) {
                    found.push(near);
                }
            }
        }
        found
            .heap
            .into_iter()
            .map(|Reverse(near)| (near.key(), near.cosine()))
            .collect()
    }

    /// Walks down the upper levels, on each to the node nearest to the query.
    fn descend(&self, cosine: &impl Fn(u32) -> f32) -> Near {
        let mut here = Near::new(cosine(self.entry), self.entry);
        for level in self.levels.iter().skip(1).rev() {
            while let Ok(row) = level.nodes.binary_search(&here.key()) {
                let best = level
                    .row(row)
                    .iter()
                    .map(|node| Near::new(cosine(*node), *node))
                    .max();
                match best {
                    Some(best) if best > here => here = best,
                    _ => break,
                }
            }
        }
        here
    }
}

/// A node and its cosine; the greater is the nearer, ties by lower number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Near(Hit);

impl Near {
    fn new(cosine: f32, node: u32) -> Self {
        Self(Hit {
            cosine,
            key: i64::from(node),
        })
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "made from a u32"
    )]
    fn key(self) -> u32 {
        self.0.key as u32
    }

    fn cosine(self) -> f32 {
        self.0.cosine
    }
}

/// The nearest `ef` nodes so far.
struct Found {
    ef: usize,
    /// Farthest on top.
    heap: BinaryHeap<Reverse<Near>>,
}

impl Found {
    fn would_take(&self, near: Near) -> bool {
        self.heap.len() < self.ef || self.heap.peek().is_none_or(|worst| near > worst.0)
    }

    fn push(&mut self, near: Near) {
        self.heap.push(Reverse(near));
        if self.heap.len() > self.ef {
            self.heap.pop();
        }
    }
}

/// Which nodes a search has seen; reused, so that a search clears nothing.
#[derive(Debug, Default)]
pub(super) struct Visited {
    epoch: u32,
    seen: Vec<u32>,
}

impl Visited {
    fn start(&mut self, nodes: usize) {
        self.seen.resize(nodes.max(self.seen.len()), 0);
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.seen.fill(0);
            self.epoch = 1;
        }
    }

    /// `true` the first time in a search.
    fn mark(&mut self, node: u32) -> bool {
        let seen = &mut self.seen[node as usize];
        let is_new = *seen != self.epoch;
        *seen = self.epoch;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(nodes: &[u32], lists: &[&[u32]]) -> Level {
        let lists: Vec<Vec<u32>> = lists.iter().map(|list| list.to_vec()).collect();
        Level::from_lists(nodes.to_vec(), &lists)
    }

    #[test]
    fn only_sound_levels_make_a_graph() {
        let ground = level(&[0, 1, 2], &[&[1], &[0, 2], &[1]]);
        let top = level(&[1], &[&[]]);
        let check = |nodes, entry, levels: &[Level], expect| {
            assert_eq!(
                Graph::new(nodes, entry, levels.to_vec()).is_some(),
                expect,
                "{levels:?}"
            );
        };
        check(3, 1, &[ground.clone(), top.clone()], true);
        check(3, 3, &[ground.clone(), top.clone()], false);
        check(4, 1, std::slice::from_ref(&ground), false);
        check(3, 1, &[], false);
        check(3, 1, &[ground.clone(), level(&[1], &[&[3]])], false);
        check(3, 1, &[ground.clone(), level(&[2, 1], &[&[], &[]])], false);
        check(3, 1, &[ground.clone(), level(&[1, 1], &[&[], &[]])], false);
        check(
            3,
            1,
            &[Level {
                offsets: vec![0, 1, 3],
                ..ground.clone()
            }],
            false,
        );
        check(
            3,
            1,
            &[Level {
                offsets: vec![0, 3, 1, 4],
                ..ground.clone()
            }],
            false,
        );
        check(
            3,
            1,
            &[Level {
                offsets: vec![0, 1, 3, 5],
                ..ground
            }],
            false,
        );
    }

    #[test]
    fn visited_survives_the_last_epoch() {
        let mut visited = Visited {
            epoch: u32::MAX - 1,
            seen: Vec::new(),
        };
        for _ in 0..3 {
            visited.start(2);
            assert!(visited.mark(0) && !visited.mark(0) && visited.mark(1));
        }
    }
}
