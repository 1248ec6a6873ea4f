//! The texts that wait, ordered by length.

use std::collections::BTreeMap;

/// Of a batch's computed tokens at least three in four are text rather than padding.
const TEXT: usize = 3;
const OF: usize = 4;

/// Waiting items with their lengths in tokens.
///
/// A batch is the oldest item and those next to it in length, so lengths in a batch are alike and
/// nothing waits for ever.
pub(super) struct Queue<T> {
    by_length: BTreeMap<(usize, u64), T>,
    lengths: BTreeMap<u64, usize>,
    pushed: u64,
}

/// What a batch amounts to.
#[derive(Clone, Copy, Default)]
struct Extent {
    items: usize,
    tokens: usize,
    longest: usize,
}

impl Extent {
    fn with(self, length: usize) -> Self {
        Self {
            items: self.items + 1,
            tokens: self.tokens + length,
            longest: self.longest.max(length),
        }
    }

    fn padded(self) -> usize {
        self.items * self.longest
    }

    fn fits(self, budget: usize) -> bool {
        self.padded() <= budget && self.padded() * TEXT <= self.tokens * OF
    }
}

impl<T> Queue<T> {
    pub(super) fn new() -> Self {
        Self {
            by_length: BTreeMap::new(),
            lengths: BTreeMap::new(),
            pushed: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_length.is_empty()
    }

    pub(super) fn push(&mut self, length: usize, item: T) {
        self.by_length.insert((length, self.pushed), item);
        self.lengths.insert(self.pushed, length);
        self.pushed += 1;
    }

    /// Takes the oldest item and its neighbours in length, as many as make at most `budget`
    /// tokens, padding included. One item is always taken, empty queue apart.
    pub(super) fn take(&mut self, budget: usize) -> Vec<T> {
        let mut batch = Vec::new();
        let Some((age, length)) = self.lengths.first_key_value() else {
            return batch;
        };
        let start = (*length, *age);
        let mut extent = Extent::default();
        let mut next = Some(start);
        while let Some(key) = next {
            extent = extent.with(key.0);
            batch.extend(self.remove(key));
            next = self.neighbour(start, extent, budget);
        }
        batch
    }

    /// The item nearest in length to `start` that still fits a batch of `extent`.
    fn neighbour(
        &self,
        start: (usize, u64),
        extent: Extent,
        budget: usize,
    ) -> Option<(usize, u64)> {
        let shorter = self.by_length.range(..start).next_back();
        let longer = self.by_length.range(start..).next();
        [shorter, longer]
            .into_iter()
            .flatten()
            .map(|(key, _)| *key)
            .filter(|(length, _)| extent.with(*length).fits(budget))
            .min_by_key(|(length, _)| length.abs_diff(start.0))
    }

    fn remove(&mut self, key: (usize, u64)) -> Option<T> {
        self.lengths.remove(&key.1);
        self.by_length.remove(&key)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn batches_are_within_budget_alike_in_length_and_lose_nothing(
            lengths in prop::collection::vec(1_usize..300, 0..80),
            budget in 1_usize..1000,
        ) {
            let mut queue = Queue::new();
            for (index, length) in lengths.iter().enumerate() {
                queue.push(*length, index);
            }
            let mut left: Vec<usize> = (0..lengths.len()).collect();
            while !queue.is_empty() {
                let batch = queue.take(budget);
                prop_assert_eq!(batch.first(), left.first(), "the oldest is in the batch");
                let longest = batch.iter().map(|index| lengths[*index]).max().unwrap_or_default();
                let tokens: usize = batch.iter().map(|index| lengths[*index]).sum();
                let padded = longest * batch.len();
                prop_assert!(batch.len() == 1 || padded <= budget);
                prop_assert!(padded * TEXT <= tokens * OF, "{} of {} are text", tokens, padded);
                for index in batch {
                    let found = left.iter().position(|other| *other == index);
                    prop_assert!(found.is_some(), "{} came twice", index);
                    left.remove(found.unwrap_or_default());
                }
            }
            prop_assert!(left.is_empty(), "{:?} were lost", left);
            prop_assert!(queue.take(budget).is_empty());
        }
    }

    #[test]
    fn neighbours_in_length_come_along() {
        #[track_caller]
        fn check(lengths: &[usize], budget: usize, expect: &[&[usize]]) {
            let mut queue = Queue::new();
            for length in lengths {
                queue.push(*length, *length);
            }
            let mut batches = Vec::new();
            while !queue.is_empty() {
                batches.push(queue.take(budget));
            }
            assert_eq!(batches, expect);
        }
        check(
            &[10, 200, 11, 190, 9, 205],
            1000,
            &[&[10, 9, 11], &[200, 205, 190]],
        );
        check(
            &[10, 200, 11, 190, 9, 205],
            400,
            &[&[10, 9, 11], &[200, 190], &[205]],
        );
        check(&[500, 20], 100, &[&[500], &[20]]);
        check(&[5, 5, 5, 5], 10, &[&[5, 5], &[5, 5]]);
        check(&[], 10, &[]);
    }
}
