//! Which of a message's texts go into one request.

use std::collections::VecDeque;

/// Most texts in one request; some servers take no more.
const MOST_TEXTS: usize = 32;
/// Most bytes of text in one request; a single larger text goes alone.
const MOST_BYTES: usize = 256 * 1024;
/// A text is not cut to less than this, in bytes.
const LEAST_CUT: usize = 128;

/// A text that is to be embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Waiting {
    pub(super) bytes: usize,
    /// Where it stands among all texts.
    pub(super) index: usize,
}

/// Texts in order of length, and the vectors made so far.
pub(super) struct Order {
    left: VecDeque<Waiting>,
    vectors: Vec<Vec<f32>>,
}

impl Order {
    pub(super) fn new(texts: &[String]) -> Self {
        let texts_with_places = texts.iter().enumerate();
        let mut left: Vec<Waiting> = texts_with_places
            .map(|(index, text)| Waiting {
                bytes: text.len(),
                index,
            })
            .collect();
        // Servers that pad want texts of like length together.
        left.sort_unstable();
        Self {
            left: left.into(),
            vectors: vec![Vec::new(); texts.len()],
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.left.is_empty()
    }

    /// Takes texts of at most `budget` bytes in all, and at least one.
    pub(super) fn next(&mut self, budget: usize) -> Vec<Waiting> {
        let mut room = budget.min(MOST_BYTES);
        let mut batch = Vec::new();
        while let Some(text) = self.left.front().copied() {
            if batch.len() >= MOST_TEXTS || (text.bytes > room && !batch.is_empty()) {
                break;
            }
            room = room.saturating_sub(text.bytes);
            batch.push(text);
            self.left.pop_front();
        }
        batch
    }

    /// Takes the vectors of a batch.
    pub(super) fn done(&mut self, batch: &[Waiting], vectors: Vec<Vec<f32>>) {
        for (text, vector) in batch.iter().zip(vectors) {
            if let Some(place) = self.vectors.get_mut(text.index) {
                *place = vector;
            }
        }
    }

    /// Puts a batch that was not embedded back in front.
    pub(super) fn put_back(&mut self, batch: Vec<Waiting>) {
        for text in batch.into_iter().rev() {
            self.left.push_front(text);
        }
    }

    pub(super) fn into_vectors(self) -> Vec<Vec<f32>> {
        self.vectors
    }
}

/// The first half of a text that is too long for the model, on a character border; `None` for one
/// that no model can find too long.
pub(super) fn first_half(text: &str) -> Option<&str> {
    let half = text.len() / 2;
    (half >= LEAST_CUT)
        .then(|| text.get(..text.floor_char_boundary(half)))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_stay_within_bytes_and_count_and_lose_nothing() {
        #[track_caller]
        fn check(lengths: &[usize], budget: usize, expect: &[&[usize]]) {
            let texts: Vec<String> = lengths.iter().map(|length| "x".repeat(*length)).collect();
            let mut order = Order::new(&texts);
            let mut batches = Vec::new();
            while !order.is_done() {
                let batch = order.next(budget);
                let vectors = batch.iter().map(|text| vec![lengths[text.index] as f32]);
                order.done(&batch, vectors.collect());
                batches.push(batch.iter().map(|text| text.index).collect::<Vec<_>>());
            }
            assert_eq!(batches, expect);
            let expect: Vec<Vec<f32>> = lengths.iter().map(|length| vec![*length as f32]).collect();
            assert_eq!(order.into_vectors(), expect);
        }
        check(&[30, 10, 20], 30, &[&[1, 2], &[0]]);
        check(&[500, 20, 500], 100, &[&[1], &[0], &[2]]);
        check(&[5, 5], 1, &[&[0], &[1]]);
        check(&[MOST_BYTES, 7], usize::MAX, &[&[1], &[0]]);
        check(&[], 10, &[]);
        let many: Vec<usize> = (0..33).collect();
        check(&[1; 33], 100, &[&many[..32], &many[32..]]);
    }

    #[test]
    fn what_is_put_back_comes_first() {
        let texts = ["a", "bb", "ccc"].map(str::to_owned);
        let mut order = Order::new(&texts);
        let batch = order.next(3);
        assert_eq!(batch.len(), 2);
        order.put_back(batch.clone());
        assert_eq!(order.next(3), batch);
        assert_eq!(order.next(3).len(), 1);
        assert!(order.is_done());
    }

    #[test]
    fn halves_end_on_characters_and_come_to_an_end() {
        let text = "ü".repeat(1000);
        let mut part = text.as_str();
        let mut cuts = 0;
        while let Some(half) = first_half(part) {
            assert!(text.starts_with(half) && half.len() < part.len());
            part = half;
            cuts += 1;
        }
        assert_eq!((cuts, part.len()), (3, 250));
    }
}
