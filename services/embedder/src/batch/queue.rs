//! The texts that wait, ordered by length, with owners that take turns.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// Of a batch's computed tokens at least three in four are text rather than padding.
const TEXT: usize = 3;
const OF: usize = 4;

/// Whose an item is; owners take turns.
pub(super) type Owner = u64;

/// Waiting items with their lengths in tokens.
///
/// A batch is the oldest item of the owner whose turn it is, and those next to it in length,
/// whoever owns them. So lengths in a batch are alike, nothing waits for ever, and an owner of
/// little does not wait for an owner of much.
///
/// Three chunks behind eight messages of a large document waited 34.7 s without turns and 4.5 s
/// with them (all-MiniLM-L6-v2, two busy cores, the same total); 4.1 s of that are for one of the
/// eight to be done and make a place.
pub(super) struct Queue<T> {
    by_length: BTreeMap<(usize, u64), Waiting<T>>,
    /// Each owner's items by age, with their lengths; none without items.
    owners: HashMap<Owner, BTreeSet<(u64, usize)>>,
    turns: VecDeque<Owner>,
    pushed: u64,
}

struct Waiting<T> {
    owner: Owner,
    item: T,
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
            owners: HashMap::new(),
            turns: VecDeque::new(),
            pushed: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_length.is_empty()
    }

    pub(super) fn push(&mut self, owner: Owner, length: usize, item: T) {
        let age = self.pushed;
        self.pushed += 1;
        self.by_length
            .insert((length, age), Waiting { owner, item });
        let items = self.owners.entry(owner).or_default();
        if items.is_empty() {
            self.turns.push_back(owner);
        }
        items.insert((age, length));
    }

    /// Takes the oldest item of the next owner and its neighbours in length, as many as make at
    /// most `budget` tokens, padding included. One item is always taken, empty queue apart.
    pub(super) fn take(&mut self, budget: usize) -> Vec<T> {
        let mut batch = Vec::new();
        let Some(start) = self.next_start() else {
            return batch;
        };
        let mut extent = Extent::default();
        let mut next = Some(start);
        while let Some(key) = next {
            extent = extent.with(key.0);
            batch.extend(self.remove(key));
            next = self.neighbour(start, extent, budget);
        }
        batch
    }

    /// The oldest item of the owner whose turn it is; the owner's next turn comes last.
    fn next_start(&mut self) -> Option<(usize, u64)> {
        while let Some(owner) = self.turns.pop_front() {
            let oldest = self.owners.get(&owner).and_then(BTreeSet::first);
            if let Some((age, length)) = oldest.copied() {
                self.turns.push_back(owner);
                return Some((length, age));
            }
        }
        None
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
        let (length, age) = key;
        let Waiting { owner, item } = self.by_length.remove(&key)?;
        if let Some(items) = self.owners.get_mut(&owner) {
            items.remove(&(age, length));
            if items.is_empty() {
                self.owners.remove(&owner);
                self.turns.retain(|other| *other != owner);
            }
        }
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn batches_are_within_budget_alike_in_length_and_lose_nothing(
            items in prop::collection::vec((0_u64..4, 1_usize..300), 0..80),
            budget in 1_usize..1000,
        ) {
            let (owners, lengths): (Vec<u64>, Vec<usize>) = items.into_iter().unzip();
            let mut queue = Queue::new();
            for (index, length) in lengths.iter().enumerate() {
                queue.push(owners[index], *length, index);
            }
            let mut left: Vec<usize> = (0..lengths.len()).collect();
            let mut turns: Vec<u64> = Vec::new();
            while !queue.is_empty() {
                let batch = queue.take(budget);
                let first = batch[0];
                let mut of_owner = left.iter().filter(|other| owners[**other] == owners[first]);
                prop_assert_eq!(Some(&first), of_owner.next(), "its owner's oldest comes first");
                turns.push(owners[first]);
                // Between two turns of one owner, every other one that still waits has had one.
                if let [before @ .., last] = turns.as_slice()
                    && let Some(at) = before.iter().rposition(|owner| owner == last)
                {
                    let since = &before[at..];
                    let waits = left.iter().filter(|other| !batch.contains(other));
                    for owner in waits.map(|other| owners[*other]) {
                        prop_assert!(since.contains(&owner), "{} waits for {}", owner, last);
                    }
                }
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
                queue.push(0, *length, *length);
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

    #[test]
    fn an_owner_of_little_does_not_wait_for_an_owner_of_much() {
        let mut queue = Queue::new();
        for n in 0..100 {
            queue.push(1, 10, n);
        }
        assert_eq!(queue.take(20), [0, 1]);
        queue.push(2, 300, 1000);
        queue.push(3, 200, 2000);
        assert_eq!(queue.take(20), [2, 3], "whose turn had come");
        assert_eq!(queue.take(20), [1000]);
        assert_eq!(queue.take(20), [2000]);
        assert_eq!(queue.take(20), [4, 5]);
        assert_eq!(queue.take(20), [6, 7]);
    }
}
