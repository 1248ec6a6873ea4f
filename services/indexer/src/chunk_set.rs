//! The key both indexes share, and a set of such keys for filtered searches.

use std::sync::Arc;

/// Key of a chunk in both indexes: the catalog's chunk row id, over 0 and never reused.
pub type ChunkKey = i64;

/// The chunks a search may return: what the catalog made of a filter.
///
/// Cheap to clone and to share. Holds the keys sorted and, when they lie close enough together
/// for it to cost no more than the list, a bitmap, which makes [`contains`](Self::contains) one
/// load instead of a binary search.
#[derive(Debug, Clone, Default)]
pub struct AllowedChunks {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    keys: Vec<ChunkKey>,
    first: ChunkKey,
    /// Bit `key - first`; empty when the keys lie too far apart.
    bits: Vec<u64>,
}

impl AllowedChunks {
    /// Number of chunks in the set.
    pub fn len(&self) -> usize {
        self.inner.keys.len()
    }

    /// Whether nothing may be returned.
    pub fn is_empty(&self) -> bool {
        self.inner.keys.is_empty()
    }

    /// The keys, ascending.
    pub fn keys(&self) -> &[ChunkKey] {
        &self.inner.keys
    }

    /// Whether `key` is in the set.
    pub fn contains(&self, key: ChunkKey) -> bool {
        let inner = &*self.inner;
        if inner.bits.is_empty() {
            return inner.keys.binary_search(&key).is_ok();
        }
        let Some(bit) = key
            .checked_sub(inner.first)
            .and_then(|bit| usize::try_from(bit).ok())
        else {
            return false;
        };
        inner
            .bits
            .get(bit / 64)
            .is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }
}

impl FromIterator<ChunkKey> for AllowedChunks {
    fn from_iter<I: IntoIterator<Item = ChunkKey>>(keys: I) -> Self {
        let mut keys: Vec<ChunkKey> = keys.into_iter().collect();
        keys.sort_unstable();
        keys.dedup();
        let first = keys.first().copied().unwrap_or_default();
        let span = keys.last().and_then(|last| last.checked_sub(first));
        // One word per key at most: the bitmap never outgrows the list.
        let words = span
            .and_then(|span| usize::try_from(span / 64 + 1).ok())
            .filter(|words| *words <= keys.len());
        let mut bits = vec![0_u64; words.unwrap_or_default()];
        if !bits.is_empty() {
            for key in &keys {
                let bit = usize::try_from(key - first).unwrap_or_default();
                if let Some(word) = bits.get_mut(bit / 64) {
                    *word |= 1 << (bit % 64);
                }
            }
        }
        Self {
            inner: Arc::new(Inner { keys, first, bits }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Dense and sparse sets answer as a plain set does.
        #[test]
        fn answers_as_a_plain_set(
            keys in prop::collection::vec(1_i64..5_000, 0..300),
            spread in prop::sample::select(vec![1_i64, 7, 1_000_003]),
            asked in prop::collection::vec(-3_i64..5_003, 0..200),
        ) {
            let plain: BTreeSet<i64> = keys.iter().map(|key| key * spread).collect();
            let set: AllowedChunks = keys.iter().map(|key| key * spread).collect();
            prop_assert_eq!(set.len(), plain.len());
            prop_assert_eq!(set.is_empty(), plain.is_empty());
            prop_assert!(set.keys().iter().eq(plain.iter()));
            for key in asked.iter().flat_map(|key| [*key, key * spread]).chain([i64::MIN, i64::MAX]) {
                prop_assert_eq!(set.contains(key), plain.contains(&key));
            }
        }
    }
}
