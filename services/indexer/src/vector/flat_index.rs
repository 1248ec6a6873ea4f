//! The vector index as a whole: state, locking, snapshots and the graph that is built aside.

mod graph_builder;
mod plan;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};
use rayon::ThreadPool;

use self::plan::Plan;
use super::exact::Best;
use super::graph::{Graph, Visited};
use super::mapped::Mapped;
use super::slots::{MOST_SLOTS, Slots};
use super::snapshot::{self, Content};
use super::{AllowedChunks, ChunkKey, Opened, VectorChanges, VectorError, VectorIndex, kernel};

/// Share of removed vectors over which a snapshot drops them even if a graph leads through them.
const MOST_DEAD: f64 = 0.3;

/// What the index holds and when it needs a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorSettings {
    /// Model the vectors come from; another one in the snapshot means a rebuild.
    pub model: String,
    /// Components per vector.
    pub dimension: usize,
    /// Vectors up to which no graph is built: a scan of 100,000 × 384 takes about 10 ms.
    pub exact_limit: usize,
}

impl VectorSettings {
    /// The usual settings for a model.
    pub fn new(model: impl Into<String>, dimension: usize) -> Self {
        Self {
            model: model.into(),
            dimension,
            exact_limit: 100_000,
        }
    }
}

/// A vector index in one folder.
pub struct FlatIndex {
    inner: Arc<Inner>,
}

struct Inner {
    folder: PathBuf,
    settings: VectorSettings,
    pool: Arc<ThreadPool>,
    /// Held by whatever changes the state, across a whole snapshot too, so that a change never
    /// queues for the state's lock and makes searches wait behind it. Holds the number of the
    /// newest snapshot.
    writing: Mutex<Option<u64>>,
    state: RwLock<State>,
    visited: Mutex<Vec<Visited>>,
    /// Held while a graph is built.
    building: Mutex<()>,
    closing: AtomicBool,
}

struct State {
    sequence: u64,
    slots: Slots,
    graph: Option<Arc<Graph>>,
    /// Raised whenever slots get other numbers: a graph built over the old ones is thrown away.
    numbering: u64,
    /// Whether the newest snapshot lacks something.
    is_dirty: bool,
}

impl State {
    fn empty(dimension: usize) -> Self {
        Self {
            sequence: 0,
            slots: Slots::new(dimension),
            graph: None,
            numbering: 0,
            is_dirty: true,
        }
    }

    /// Slots the graph covers.
    fn graph_nodes(&self) -> usize {
        self.graph
            .as_ref()
            .map_or(0, |graph| graph.nodes() as usize)
    }
}

impl FlatIndex {
    /// Opens the newest whole snapshot in `folder`. When there is none, the index starts empty at
    /// sequence 0 and the answer says why: the caller then fills it from the catalog. Bulk work
    /// (graph building) runs on `pool`.
    ///
    /// # Errors
    /// When the folder cannot be made, listed or cleaned.
    pub fn open(
        folder: &Path,
        settings: VectorSettings,
        pool: Arc<ThreadPool>,
    ) -> Result<(Self, Opened), VectorError> {
        fs::create_dir_all(folder).map_err(|source| VectorError::File {
            action: "create",
            path: folder.to_owned(),
            source,
        })?;
        let mut reason = "there is none yet".to_owned();
        let mut state = State::empty(settings.dimension);
        let mut newest = None;
        for number in snapshot::numbers(folder)? {
            let path = snapshot::path_of(folder, number);
            match snapshot::read(&path, &settings.model, settings.dimension) {
                Ok(loaded) => {
                    state.sequence = loaded.sequence;
                    state.slots = loaded.slots;
                    state.graph = loaded.graph.map(Arc::new);
                    state.is_dirty = false;
                    newest = Some(number);
                    break;
                }
                Err(why) => reason = format!("snapshot {number} cannot be used: {why}"),
            }
        }
        snapshot::remove_others(folder, newest)?;
        let opened = match newest {
            Some(_) => Opened::Ready {
                sequence: state.sequence,
            },
            None => Opened::Fresh { reason },
        };
        let inner = Arc::new(Inner {
            folder: folder.to_owned(),
            settings,
            pool,
            writing: Mutex::new(newest),
            state: RwLock::new(state),
            visited: Mutex::default(),
            building: Mutex::default(),
            closing: AtomicBool::new(false),
        });
        inner.build_if_due();
        Ok((Self { inner }, opened))
    }

    /// Builds the graph now, whatever the size, and waits for it.
    ///
    /// # Errors
    /// When `hnsw_rs` fails.
    pub fn build_graph(&self) -> Result<(), VectorError> {
        let _building = self.inner.building.lock();
        self.inner.build()
    }
}

impl Drop for FlatIndex {
    /// A build in the background gives up at its next step.
    fn drop(&mut self) {
        self.inner.closing.store(true, Ordering::Release);
    }
}

impl Inner {
    fn unit(&self, vector: &[f32], what: impl Fn() -> String) -> Result<Vec<f32>, VectorError> {
        let expected = self.settings.dimension;
        if vector.len() != expected {
            return Err(VectorError::Dimension {
                given: vector.len(),
                expected,
            });
        }
        kernel::unit(vector).ok_or_else(|| VectorError::NotFinite { what: what() })
    }

    fn search(
        &self,
        state: &State,
        query: &[f32],
        k: usize,
        allowed: Option<&AllowedChunks>,
    ) -> Vec<(ChunkKey, f32)> {
        let slots = &state.slots;
        let mut best = Best::new(k);
        let keep = |key| allowed.is_none_or(|allowed| allowed.contains(key));
        match Plan::choose(slots, state.graph.as_ref(), k, allowed) {
            Plan::Scan => slots.scan(0..slots.len(), query, &mut best, keep),
            Plan::PickAllowed(keys) => {
                for (key, slot) in keys
                    .iter()
                    .filter_map(|key| Some((*key, slots.slot_of(*key)?)))
                {
                    best.offer(kernel::dot(query, slots.vector(slot)), key);
                }
            }
            Plan::Graph { graph, ef } => {
                let mut visited = self.visited.lock().pop().unwrap_or_default();
                let cosine = |slot| kernel::dot(query, slots.vector(slot));
                let is_wanted = |slot| slots.live_key(slot).is_some_and(keep);
                for (slot, cosine) in graph.search(ef, &mut visited, cosine, is_wanted) {
                    if let Some(key) = slots.live_key(slot) {
                        best.offer(cosine, key);
                    }
                }
                self.visited.lock().push(visited);
                // What came after the graph was built.
                slots.scan(graph.nodes() as usize..slots.len(), query, &mut best, keep);
            }
        }
        best.into_hits()
    }

    /// Writes a snapshot if there is something to write and takes its file in place of the memory.
    fn snapshot(&self, drop_removed: bool) -> Result<(), VectorError> {
        let mut newest = self.writing.lock();
        let state = self.state.read();
        let dead = state.slots.dead();
        let is_over = dead as f64 > MOST_DEAD * state.slots.len() as f64;
        let is_free = state.graph.is_none() && !self.building.is_locked();
        let live_only = dead > 0 && (drop_removed || is_over || is_free);
        if !state.is_dirty && !live_only {
            return Ok(());
        }
        let number = newest.map_or(1, |newest| newest + 1);
        let content = Content {
            sequence: state.sequence,
            model: &self.settings.model,
            slots: &state.slots,
            live_only,
            graph: state.graph.as_deref(),
        };
        let keys = snapshot::write(&self.folder, number, &content)?;
        *newest = Some(number);
        drop(state);

        let path = snapshot::path_of(&self.folder, number).join("vectors.f32");
        let unreadable = |source| VectorError::File {
            action: "open",
            path: path.clone(),
            source,
        };
        let vectors = Mapped::open(&path).map_err(unreadable)?;
        let slots = Slots::from_snapshot(self.settings.dimension, vectors, keys)
            .ok_or_else(|| unreadable(std::io::ErrorKind::InvalidData.into()))?;
        // `writing` is held: nothing has changed since the snapshot was written.
        let mut state = self.state.write();
        state.slots = slots;
        state.is_dirty = false;
        if live_only {
            state.graph = None;
            state.numbering += 1;
        }
        drop(state);
        snapshot::remove_others(&self.folder, Some(number))
    }
}

impl VectorIndex for FlatIndex {
    fn sequence(&self) -> u64 {
        self.inner.state.read().sequence
    }

    fn dimension(&self) -> usize {
        self.inner.settings.dimension
    }

    fn apply(&self, changes: &VectorChanges) -> Result<(), VectorError> {
        let inner = &self.inner;
        let mut keys = changes
            .upserts
            .iter()
            .map(|(key, _)| *key)
            .chain(changes.deletes.iter().copied());
        if let Some(key) = keys.find(|key| *key <= 0) {
            return Err(VectorError::Key { key });
        }
        let removed: HashSet<ChunkKey> = changes.deletes.iter().copied().collect();
        let units = changes
            .upserts
            .iter()
            .filter(|(key, _)| !removed.contains(key))
            .map(|(key, vector)| {
                Ok((
                    *key,
                    inner.unit(vector, || format!("the vector of chunk {key}"))?,
                ))
            })
            .collect::<Result<Vec<_>, VectorError>>()?;
        let writing = inner.writing.lock();
        let mut state = inner.state.write();
        if state.slots.len() + units.len() > MOST_SLOTS {
            return Err(VectorError::Full { limit: MOST_SLOTS });
        }
        let mut has_changed = changes.sequence > state.sequence;
        for key in removed {
            has_changed |= state.slots.remove(key);
        }
        for (key, unit) in units {
            has_changed |= state.slots.upsert(key, &unit);
        }
        state.is_dirty |= has_changed;
        state.sequence = state.sequence.max(changes.sequence);
        drop(state);
        drop(writing);
        inner.build_if_due();
        Ok(())
    }

    fn search(
        &self,
        query: &[f32],
        k: usize,
        allowed: Option<&AllowedChunks>,
    ) -> Result<Vec<(ChunkKey, f32)>, VectorError> {
        let query = self.inner.unit(query, || "the query".to_owned())?;
        let state = self.inner.state.read();
        Ok(self.inner.search(&state, &query, k, allowed))
    }

    fn keys(&self) -> Vec<ChunkKey> {
        let state = self.inner.state.read();
        let mut keys: Vec<ChunkKey> = state
            .slots
            .keys()
            .iter()
            .copied()
            .filter(|key| *key > 0)
            .collect();
        drop(state);
        keys.sort_unstable();
        keys
    }

    fn snapshot(&self) -> Result<(), VectorError> {
        self.inner.snapshot(false)?;
        self.inner.build_if_due();
        Ok(())
    }

    fn compact(&self) -> Result<(), VectorError> {
        self.inner.snapshot(true)?;
        self.inner.build_if_due();
        Ok(())
    }

    fn clear(&self) -> Result<(), VectorError> {
        let writing = self.inner.writing.lock();
        let mut state = self.inner.state.write();
        let numbering = state.numbering + 1;
        *state = State {
            numbering,
            ..State::empty(self.inner.settings.dimension)
        };
        drop(state);
        drop(writing);
        self.inner.snapshot(true)
    }

    fn describe(&self) -> String {
        let state = self.inner.state.read();
        match state.graph_nodes() {
            0 => "exact".to_owned(),
            nodes => format!("graph over {nodes}, tail {}", state.slots.len() - nodes),
        }
    }
}
