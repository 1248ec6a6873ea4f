//! The vectors and their keys, by slot: a number that a vector keeps until the next compaction.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use super::ChunkKey;
use super::exact::Best;
use super::kernel::dot;
use super::mapped::Mapped;

/// Key of a slot whose vector is removed: a tombstone. Row ids are over 0.
pub(super) const TOMBSTONE: ChunkKey = 0;

/// Most vectors: slots are `u32`, and one value is kept free.
pub(super) const MOST_SLOTS: usize = u32::MAX as usize - 1;

/// Slots `0..sealed` lie in the last snapshot's file, the rest in memory.
#[derive(Debug)]
pub(super) struct Slots {
    dimension: usize,
    sealed: Option<Mapped>,
    tail: Vec<f32>,
    keys: Vec<ChunkKey>,
    slot_of: HashMap<ChunkKey, u32>,
}

impl Slots {
    /// No vectors. `dimension` is at least 1.
    pub(super) fn new(dimension: usize) -> Self {
        Self {
            dimension: dimension.max(1),
            sealed: None,
            tail: Vec::new(),
            keys: Vec::new(),
            slot_of: HashMap::new(),
        }
    }

    /// The slots of a snapshot; `None` when its parts do not fit together.
    pub(super) fn from_snapshot(
        dimension: usize,
        vectors: Mapped,
        keys: Vec<ChunkKey>,
    ) -> Option<Self> {
        let mut slots = Self::new(dimension);
        if keys.len() > MOST_SLOTS || vectors.floats().len() != keys.len() * slots.dimension {
            return None;
        }
        for (slot, key) in (0_u32..).zip(&keys) {
            let is_new = *key == TOMBSTONE || slots.slot_of.insert(*key, slot).is_none();
            if *key < TOMBSTONE || !is_new {
                return None;
            }
        }
        slots.sealed = Some(vectors);
        slots.keys = keys;
        Some(slots)
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of slots, tombstones included.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Number of vectors that can be found.
    pub(super) fn live(&self) -> usize {
        self.slot_of.len()
    }

    /// Number of tombstones.
    pub(super) fn dead(&self) -> usize {
        self.keys.len() - self.slot_of.len()
    }

    /// Keys of all slots; [`TOMBSTONE`] where removed.
    pub(super) fn keys(&self) -> &[ChunkKey] {
        &self.keys
    }

    /// Whether `slot` can be found, and its key.
    pub(super) fn live_key(&self, slot: u32) -> Option<ChunkKey> {
        self.keys
            .get(slot as usize)
            .copied()
            .filter(|key| *key != TOMBSTONE)
    }

    pub(super) fn slot_of(&self, key: ChunkKey) -> Option<u32> {
        self.slot_of.get(&key).copied()
    }

    /// The vector in `slot`, also a removed one; empty beyond the last slot.
    pub(super) fn vector(&self, slot: u32) -> &[f32] {
        let sealed = self.sealed_floats();
        let from = slot as usize * self.dimension;
        let (floats, from) = match from.checked_sub(sealed.len()) {
            Some(from) => (self.tail.as_slice(), from),
            None => (sealed, from),
        };
        floats.get(from..from + self.dimension).unwrap_or_default()
    }

    /// Offers the slots in `range` that `keep` accepts.
    pub(super) fn scan(
        &self,
        range: Range<usize>,
        query: &[f32],
        best: &mut Best,
        keep: impl Fn(ChunkKey) -> bool,
    ) {
        let sealed = self.sealed_floats();
        let vectors = sealed
            .chunks_exact(self.dimension)
            .chain(self.tail.chunks_exact(self.dimension));
        let wanted = vectors.zip(&self.keys).take(range.end).skip(range.start);
        for (vector, key) in wanted {
            if *key != TOMBSTONE && keep(*key) {
                best.offer(dot(query, vector), *key);
            }
        }
    }

    /// Adds `vector` or replaces it. `false` when it was already there, bit for bit.
    pub(super) fn upsert(&mut self, key: ChunkKey, vector: &[f32]) -> bool {
        if self
            .slot_of(key)
            .is_some_and(|slot| self.vector(slot) == vector)
        {
            return false;
        }
        self.remove(key);
        // The caller has refused what exceeds `MOST_SLOTS`.
        let Ok(slot) = u32::try_from(self.keys.len()) else {
            return false;
        };
        self.tail.extend_from_slice(vector);
        self.keys.push(key);
        self.slot_of.insert(key, slot);
        true
    }

    /// Leaves a tombstone. `false` when there was nothing.
    pub(super) fn remove(&mut self, key: ChunkKey) -> bool {
        let Entry::Occupied(entry) = self.slot_of.entry(key) else {
            return false;
        };
        if let Some(slot_key) = self.keys.get_mut(entry.remove() as usize) {
            *slot_key = TOMBSTONE;
        }
        true
    }

    fn sealed_floats(&self) -> &[f32] {
        self.sealed.as_ref().map(Mapped::floats).unwrap_or_default()
    }
}
