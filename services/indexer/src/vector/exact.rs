//! The exact search and the list of best hits that every search fills.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::ChunkKey;

/// A hit; the greater one is the better one: higher cosine, then lower key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit {
    pub(super) cosine: f32,
    pub(super) key: ChunkKey,
}

impl Ord for Hit {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cosine
            .total_cmp(&other.cosine)
            .then(other.key.cmp(&self.key))
    }
}

impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Hit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Hit {}

/// The best `k` of all hits offered.
#[derive(Debug)]
pub(super) struct Best {
    k: usize,
    /// Worst on top.
    heap: BinaryHeap<Reverse<Hit>>,
    /// Cosine of the worst once there are `k`; below it nothing needs the heap.
    floor: f32,
}

impl Best {
    pub(super) fn new(k: usize) -> Self {
        let floor = if k == 0 {
            f32::INFINITY
        } else {
            f32::NEG_INFINITY
        };
        Self {
            k,
            heap: BinaryHeap::new(),
            floor,
        }
    }

    pub(super) fn offer(&mut self, cosine: f32, key: ChunkKey) {
        if cosine < self.floor || self.k == 0 {
            return;
        }
        self.heap.push(Reverse(Hit { cosine, key }));
        if self.heap.len() > self.k {
            self.heap.pop();
        }
        if self.heap.len() == self.k {
            self.floor = self
                .heap
                .peek()
                .map_or(f32::NEG_INFINITY, |worst| worst.0.cosine);
        }
    }

    /// Best first.
    pub(super) fn into_hits(self) -> Vec<(ChunkKey, f32)> {
        self.heap
            .into_sorted_vec()
            .into_iter()
            .map(|Reverse(hit)| (hit.key, hit.cosine))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Few distinct cosines, so that ties are common.
        #[test]
        fn best_is_the_head_of_the_sorted_list(
            cosines in prop::collection::vec(-3_i8..3, 0..60),
            k in 0_usize..70,
        ) {
            let mut sorted: Vec<(ChunkKey, f32)> =
                (1..).zip(&cosines).map(|(key, cosine)| (key, f32::from(*cosine) / 3.0)).collect();
            let mut best = Best::new(k);
            sorted.iter().rev().for_each(|(key, cosine)| best.offer(*cosine, *key));
            sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            sorted.truncate(k);
            prop_assert_eq!(best.into_hits(), sorted);
        }
    }
}
