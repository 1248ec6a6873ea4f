//! Snapshots: the whole state in one folder that is either complete or not there.
//!
//! `{root}/snapshot-{number}/` holds flat little-endian arrays and a manifest:
//!
//! | file | what |
//! |---|---|
//! | `vectors.f32` | unit vectors, slot after slot |
//! | `keys.i64` | chunk key of every slot, 0 for a removed one |
//! | `graph.u32` | entry, number of levels, then per level: rows, neighbours, and the arrays of [`Level`]; only with a graph |
//! | `manifest.json` | sequence, model, dimension, length and SHA-256 of each file |
//! | `manifest.sha256` | SHA-256 of the manifest |
//!
//! The format is ours, so `hnsw_rs`'s own dump and loader, which ends the process on bad data, are
//! not needed. Every byte is checked against its hash before it is used.

mod read;
mod write;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::VectorError;
use super::graph::Graph;
use super::slots::Slots;

pub(super) use self::read::read;
pub(super) use self::write::write;

/// Raise it when the files change.
const FORMAT: u32 = 1;

const VECTORS: &str = "vectors.f32";
const KEYS: &str = "keys.i64";
const GRAPH: &str = "graph.u32";
const MANIFEST: &str = "manifest.json";
const MANIFEST_HASH: &str = "manifest.sha256";

/// A snapshot is written under this name and renamed when complete.
const UNFINISHED: &str = "unfinished";

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    format: u32,
    sequence: u64,
    model: String,
    dimension: usize,
    /// Slots, removed ones included.
    count: usize,
    files: BTreeMap<String, FileRecord>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileRecord {
    bytes: u64,
    sha256: String,
}

/// What a snapshot is made of.
pub(super) struct Content<'a> {
    pub(super) sequence: u64,
    pub(super) model: &'a str,
    pub(super) slots: &'a Slots,
    /// Leave removed vectors out, which renumbers the slots: no graph then.
    pub(super) live_only: bool,
    pub(super) graph: Option<&'a Graph>,
}

/// What a snapshot gave back.
pub(super) struct Loaded {
    pub(super) sequence: u64,
    pub(super) slots: Slots,
    pub(super) graph: Option<Graph>,
}

pub(super) fn path_of(root: &Path, number: u64) -> PathBuf {
    root.join(format!("snapshot-{number:010}"))
}

/// Numbers of the snapshots in `root`, newest first.
pub(super) fn numbers(root: &Path) -> Result<Vec<u64>, VectorError> {
    let mut numbers: Vec<u64> = entries(root)?
        .iter()
        .filter_map(|path| {
            path.file_name()?
                .to_str()?
                .strip_prefix("snapshot-")?
                .parse()
                .ok()
        })
        .collect();
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    Ok(numbers)
}

/// Removes everything in `root` but snapshot `keep`.
pub(super) fn remove_others(root: &Path, keep: Option<u64>) -> Result<(), VectorError> {
    let keep = keep.map(|number| path_of(root, number));
    for path in entries(root)? {
        if Some(&path) == keep.as_ref() {
            continue;
        }
        let removed = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        removed.map_err(|source| VectorError::File {
            action: "remove",
            path,
            source,
        })?;
    }
    Ok(())
}

fn entries(root: &Path) -> Result<Vec<PathBuf>, VectorError> {
    let listed = || -> io::Result<Vec<PathBuf>> {
        fs::read_dir(root)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect()
    };
    listed().map_err(|source| VectorError::File {
        action: "list",
        path: root.to_owned(),
        source,
    })
}
