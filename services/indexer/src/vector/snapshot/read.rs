//! Reading a snapshot: every byte is checked first.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::super::ChunkKey;
use super::super::graph::{Graph, Level};
use super::super::mapped::Mapped;
use super::super::slots::Slots;
use super::{FORMAT, FileRecord, GRAPH, KEYS, Loaded, MANIFEST, MANIFEST_HASH, Manifest, VECTORS};

/// Reads the snapshot in `folder`, made with `model` at `dimension`, or says why it cannot be used.
pub(in super::super) fn read(
    folder: &Path,
    model: &str,
    dimension: usize,
) -> Result<Loaded, String> {
    let manifest = manifest(folder)?;
    if manifest.format != FORMAT {
        return Err(format!(
            "it has format {} but {FORMAT} is needed",
            manifest.format
        ));
    }
    if manifest.model != model || manifest.dimension != dimension {
        return Err(format!(
            "it holds vectors of `{}` ({}) but `{model}` ({dimension}) is set",
            manifest.model, manifest.dimension
        ));
    }
    for (name, expected) in &manifest.files {
        let found = record(&folder.join(name)).map_err(|error| format!("`{name}`: {error}"))?;
        if found != *expected {
            return Err(format!("`{name}` is damaged"));
        }
    }
    let unreadable = |name: &str, error: io::Error| format!("`{name}`: {error}");
    let keys: Vec<ChunkKey> =
        numbers(&folder.join(KEYS)).map_err(|error| unreadable(KEYS, error))?;
    let vectors =
        Mapped::open(&folder.join(VECTORS)).map_err(|error| unreadable(VECTORS, error))?;
    let slots = Slots::from_snapshot(dimension, vectors, keys)
        .filter(|slots| slots.len() == manifest.count)
        .ok_or("its keys and vectors do not fit together")?;
    let graph = if manifest.files.contains_key(GRAPH) {
        let words = numbers(&folder.join(GRAPH)).map_err(|error| unreadable(GRAPH, error))?;
        let graph = graph(&words).filter(|graph| graph.nodes() as usize <= slots.len());
        Some(graph.ok_or("its graph does not fit its vectors")?)
    } else {
        None
    };
    Ok(Loaded {
        sequence: manifest.sequence,
        slots,
        graph,
    })
}

fn manifest(folder: &Path) -> Result<Manifest, String> {
    let read = |name| fs::read(folder.join(name)).map_err(|error| format!("`{name}`: {error}"));
    let bytes = read(MANIFEST)?;
    if hex::encode(Sha256::digest(&bytes)).into_bytes() != read(MANIFEST_HASH)? {
        return Err(format!("`{MANIFEST}` is damaged"));
    }
    serde_json::from_slice(&bytes).map_err(|error| format!("`{MANIFEST}`: {error}"))
}

fn record(path: &Path) -> io::Result<FileRecord> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut bytes = 0;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let length = file.read(&mut buffer)?;
        let Some(read) = buffer.get(..length).filter(|read| !read.is_empty()) else {
            break;
        };
        hash.update(read);
        bytes += length as u64;
    }
    Ok(FileRecord {
        bytes,
        sha256: hex::encode(hash.finalize()),
    })
}

fn numbers<T: bytemuck::Pod>(path: &Path) -> io::Result<Vec<T>> {
    let mut file = File::open(path)?;
    let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    if !bytes.is_multiple_of(size_of::<T>()) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "it does not hold whole numbers",
        ));
    }
    let mut numbers = vec![T::zeroed(); bytes / size_of::<T>()];
    file.read_exact(bytemuck::cast_slice_mut(&mut numbers))?;
    Ok(numbers)
}

/// The graph in `words`, as [`super`] describes it.
fn graph(words: &[u32]) -> Option<Graph> {
    let (&[entry, level_count], mut rest) = words.split_first_chunk()?;
    let mut levels = Vec::new();
    for _ in 0..level_count {
        let (&[rows, edges], arrays) = rest.split_first_chunk()?;
        let (nodes, arrays) = arrays.split_at_checked(rows as usize)?;
        let (offsets, arrays) = arrays.split_at_checked(rows as usize + 1)?;
        let (neighbours, after) = arrays.split_at_checked(edges as usize)?;
        levels.push(Level {
            nodes: nodes.to_vec(),
            offsets: offsets.to_vec(),
            neighbours: neighbours.to_vec(),
        });
        rest = after;
    }
    let nodes = u32::try_from(levels.first()?.nodes.len()).ok()?;
    if rest.is_empty() {
        Graph::new(nodes, entry, levels)
    } else {
        None
    }
}
