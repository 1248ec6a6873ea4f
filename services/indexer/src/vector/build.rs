//! Building the graph with `hnsw_rs` and copying it into flat arrays.

use std::ops::Range;
use std::sync::Arc;

use hnsw_rs::anndists::dist::distances::Distance;
use hnsw_rs::hnsw::{Hnsw, Point};
use rayon::ThreadPool;
use rayon::prelude::*;

use super::VectorError;
use super::graph::{Graph, Level};
use super::kernel::dot;

/// Neighbours per node on the upper levels; twice as many on the ground (M in the paper).
const NEIGHBOURS: usize = 16;

/// Candidates looked at when a node is added (efConstruction in the paper).
const EF_CONSTRUCTION: usize = 200;

/// Levels at most; with M = 16 even 2^32 nodes need 8.
const MOST_LEVELS: usize = 16;

/// Vectors per step; between steps the pool does other work and the build can be given up.
const STEP: u32 = 512;

/// Nodes added one after another before others come in parallel: those that arrive in an empty
/// graph at the same time would not see each other.
const SERIAL_START: u32 = 64;

/// Distance of unit vectors: 1 - cosine, not below 0.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OneMinusCosine;

impl Distance<f32> for OneMinusCosine {
    fn eval(&self, a: &[f32], b: &[f32]) -> f32 {
        (1.0 - dot(a, b)).max(0.0)
    }
}

type Nodes<'a> = Vec<Arc<Point<'a, f32>>>;

/// Builds the graph over slots `0..nodes` on `pool`. `read` gives the vectors of a range of slots,
/// one after another, or `None` to give up, which `Ok(None)` answers.
///
/// # Errors
/// When `hnsw_rs` returns something that is not a graph over these slots.
pub(super) fn build(
    pool: &ThreadPool,
    nodes: u32,
    dimension: usize,
    read: impl Fn(Range<u32>) -> Option<Vec<f32>>,
) -> Result<Option<Graph>, VectorError> {
    let hnsw = Hnsw::new(
        NEIGHBOURS,
        nodes as usize,
        MOST_LEVELS,
        EF_CONSTRUCTION,
        OneMinusCosine,
    );
    let mut from = 0;
    while from < nodes {
        let step = if from == 0 { SERIAL_START } else { STEP };
        let to = nodes.min(from.saturating_add(step));
        let Some(vectors) = read(from..to) else {
            return Ok(None);
        };
        let with_slot = (from as usize..).zip(vectors.chunks_exact(dimension));
        if from == 0 {
            with_slot.for_each(|(slot, vector)| hnsw.insert_slice((vector, slot)));
        } else {
            let step: Vec<(&[f32], usize)> =
                with_slot.map(|(slot, vector)| (vector, slot)).collect();
            pool.install(|| hnsw.parallel_insert_slice(&step));
        }
        from = to;
    }
    // Its destructor uses rayon too.
    let graph = pool.install(move || flatten(&hnsw, nodes));
    graph.map(Some).ok_or_else(|| VectorError::Build {
        reason: format!("`hnsw_rs` gave no sound graph over {nodes} vectors"),
    })
}

fn flatten(hnsw: &Hnsw<'_, f32, OneMinusCosine>, nodes: u32) -> Option<Graph> {
    if hnsw.get_nb_point() != nodes as usize || nodes == 0 {
        return None;
    }
    let mut points: Nodes<'_> = hnsw.get_point_indexation().into_iter().collect();
    points.sort_unstable_by_key(|point| point.get_origin_id());
    let is_whole = points
        .iter()
        .map(|point| point.get_origin_id())
        .eq(0..nodes as usize);
    if !is_whole {
        return None;
    }
    let top = points.iter().map(|point| point.get_point_id().0).max()?;
    let highest = points
        .iter()
        .position(|point| point.get_point_id().0 == top)?;
    let entry = u32::try_from(highest).ok()?;
    let mut levels = Vec::with_capacity(usize::from(top) + 1);
    for level in 0..=top {
        let on_level = |point: &&Arc<Point<'_, f32>>| point.get_point_id().0 >= level;
        let (slots, mut lists): (Vec<u32>, Vec<Vec<u32>>) = points
            .iter()
            .filter(on_level)
            .map(|point| neighbours(point, level))
            .unzip();
        if level == 0 {
            connect(&points, entry, &mut lists);
        }
        levels.push(Level::from_lists(slots, &lists));
    }
    Graph::new(nodes, entry, levels)
}

/// A point's slot and the slots of its neighbours on `level`. `hnsw_rs` also keeps links to points
/// that are not on the level; they lead nowhere there and are left out.
fn neighbours(point: &Point<'_, f32>, level: u8) -> (u32, Vec<u32>) {
    let slot = |id: usize| u32::try_from(id).unwrap_or(u32::MAX);
    let lists = point.get_neighborhood_id();
    let list = lists
        .get(usize::from(level))
        .map(Vec::as_slice)
        .unwrap_or_default();
    let kept = list
        .iter()
        .filter(|near| near.p_id.0 >= level && near.d_id != point.get_origin_id());
    (
        slot(point.get_origin_id()),
        kept.map(|near| slot(near.d_id)).collect(),
    )
}

/// Makes every node reachable on the ground level. `hnsw_rs` drops the farthest neighbour of a full
/// node, which can cut a cluster off; each part that is cut off gets a link, both ways, with the
/// nearest node that can be reached.
fn connect(points: &Nodes<'_>, entry: u32, lists: &mut [Vec<u32>]) {
    let mut reached = vec![false; lists.len()];
    reach(entry, lists, &mut reached);
    let mut parts = 0_usize;
    for cut_off in 0_u32.. {
        match reached.get(cut_off as usize) {
            None => break,
            Some(true) => continue,
            Some(false) => {}
        }
        let Some(from) = points.get(cut_off as usize) else {
            break;
        };
        let nearest = points
            .par_iter()
            .zip(reached.par_iter())
            .filter(|(_, reached)| **reached)
            .map(|(point, _)| (dot(from.get_v(), point.get_v()), point.get_origin_id()))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let Some(near) = nearest.and_then(|(_, id)| u32::try_from(id).ok()) else {
            break;
        };
        for (a, b) in [(near, cut_off), (cut_off, near)] {
            if let Some(list) = lists.get_mut(a as usize).filter(|list| !list.contains(&b)) {
                list.push(b);
            }
        }
        reach(cut_off, lists, &mut reached);
        parts += 1;
    }
    tracing::debug!(
        parts,
        nodes = lists.len(),
        "linked the parts of the graph that were cut off"
    );
}

/// Marks what can be reached from `start`.
fn reach(start: u32, lists: &[Vec<u32>], reached: &mut [bool]) {
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        let Some(seen) = reached.get_mut(node as usize).filter(|seen| !**seen) else {
            continue;
        };
        *seen = true;
        open.extend(lists.get(node as usize).into_iter().flatten());
    }
}
