//! When a graph is built, and building it aside while searches and changes go on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use super::super::VectorError;
use super::super::build;
use super::{Inner, State};

/// A graph is built again once the vectors after it are over this share of it: they are scanned.
const MOST_TAIL: f64 = 0.25;

impl Inner {
    fn is_due(&self, state: &State) -> bool {
        let nodes = state.graph_nodes();
        let tail = state.slots.len() - nodes;
        state.slots.live() > self.settings.exact_limit && tail as f64 > MOST_TAIL * nodes as f64
    }

    /// Starts a build in the background when one is due and none runs.
    pub(super) fn build_if_due(self: &Arc<Self>) {
        if self.building.is_locked() || !self.is_due(&self.state.read()) {
            return;
        }
        let inner = Arc::clone(self);
        let work = move || {
            // Another thread may have come first.
            let Some(_building) = inner.building.try_lock() else {
                return;
            };
            // Again, when the slots were renumbered or many came meanwhile.
            while inner.is_due(&inner.state.read()) && !inner.closing.load(Ordering::Acquire) {
                // `hnsw_rs` panics when something is wrong with its graph.
                match catch_unwind(AssertUnwindSafe(|| inner.build())) {
                    Ok(Ok(())) => continue,
                    Ok(Err(error)) => tracing::warn!(%error, "no graph was built"),
                    Err(_) => tracing::warn!("building the graph panicked; searches stay exact"),
                }
                break;
            }
        };
        if let Err(error) = thread::Builder::new()
            .name("graph-build".to_owned())
            .spawn(work)
        {
            tracing::warn!(%error, "no thread to build the graph; searches stay exact");
        }
    }

    /// Builds a graph over the slots there are now and takes it into use, unless they have been
    /// renumbered or the index closed meanwhile. The caller holds `building`.
    pub(super) fn build(&self) -> Result<(), VectorError> {
        let started = Instant::now();
        let (numbering, nodes) = {
            let state = self.state.read();
            (
                state.numbering,
                u32::try_from(state.slots.len()).unwrap_or(u32::MAX),
            )
        };
        if nodes == 0 {
            return Ok(());
        }
        let graph = build::build(&self.pool, nodes, self.settings.dimension, |range| {
            let state = self.state.read();
            if state.numbering != numbering || self.closing.load(Ordering::Acquire) {
                return None;
            }
            Some(
                range
                    .flat_map(|slot| state.slots.vector(slot))
                    .copied()
                    .collect(),
            )
        })?;
        let _writing = self.writing.lock();
        let mut state = self.state.write();
        if let Some(graph) = graph.filter(|_| state.numbering == numbering) {
            state.graph = Some(Arc::new(graph));
            state.is_dirty = true;
            let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            tracing::info!(nodes, duration_ms, "the graph is in use");
        }
        Ok(())
    }
}
