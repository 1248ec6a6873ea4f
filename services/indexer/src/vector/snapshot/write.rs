//! Writing a snapshot.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::super::slots::TOMBSTONE;
use super::super::{ChunkKey, VectorError};
use super::{
    Content, FORMAT, FileRecord, GRAPH, KEYS, MANIFEST, MANIFEST_HASH, Manifest, UNFINISHED,
    VECTORS, path_of,
};

/// Writes snapshot `number` and returns the keys of its slots. When it returns, the snapshot is
/// complete and flushed; when it fails, there is none of that number.
///
/// # Errors
/// When a file cannot be written.
pub(in super::super) fn write(
    root: &Path,
    number: u64,
    content: &Content<'_>,
) -> Result<Vec<ChunkKey>, VectorError> {
    let folder = root.join(UNFINISHED);
    let on_disk = |action, path: &Path, result: io::Result<()>| {
        result.map_err(|source| VectorError::File {
            action,
            path: path.to_owned(),
            source,
        })
    };
    if folder.exists() {
        on_disk("remove", &folder, fs::remove_dir_all(&folder))?;
    }
    on_disk("create", &folder, fs::create_dir(&folder))?;

    let kept = kept(content);
    let keys: Vec<ChunkKey> = kept.iter().map(|(_, key)| *key).collect();
    let mut files = BTreeMap::new();
    let mut add = |name: &str, fill: &mut dyn FnMut(&mut Hashed) -> io::Result<()>| {
        let path = folder.join(name);
        let record = Hashed::write(&path, fill).map_err(|source| VectorError::File {
            action: "write",
            path,
            source,
        })?;
        files.insert(name.to_owned(), record);
        Ok::<(), VectorError>(())
    };
    add(VECTORS, &mut |file| {
        kept.iter().try_for_each(|(slot, _)| {
            file.write_all(bytemuck::cast_slice(content.slots.vector(*slot)))
        })
    })?;
    add(KEYS, &mut |file| {
        file.write_all(bytemuck::cast_slice(&keys))
    })?;
    if let Some(graph) = content.graph.filter(|_| !content.live_only) {
        add(GRAPH, &mut |file| {
            file.words(&[graph.entry(), count(graph.levels().len())?])?;
            for level in graph.levels() {
                file.words(&[count(level.nodes.len())?, count(level.neighbours.len())?])?;
                file.words(&level.nodes)?;
                file.words(&level.offsets)?;
                file.words(&level.neighbours)?;
            }
            Ok(())
        })?;
    }
    let manifest = serde_json::to_vec_pretty(&Manifest {
        format: FORMAT,
        sequence: content.sequence,
        model: content.model.to_owned(),
        dimension: content.slots.dimension(),
        count: keys.len(),
        files,
    })?;
    for (name, bytes) in [
        (MANIFEST, manifest.as_slice()),
        (
            MANIFEST_HASH,
            hex::encode(Sha256::digest(&manifest)).as_bytes(),
        ),
    ] {
        let path = folder.join(name);
        let written = Hashed::write(&path, &mut |file| file.write_all(bytes));
        on_disk("write", &path, written.map(drop))?;
    }

    on_disk("flush", &folder, flush_folder(&folder))?;
    let complete = path_of(root, number);
    on_disk("rename", &folder, fs::rename(&folder, &complete))?;
    on_disk("flush", root, flush_folder(root))?;
    Ok(keys)
}

/// The slots to write, with their keys.
fn kept(content: &Content<'_>) -> Vec<(u32, ChunkKey)> {
    (0_u32..)
        .zip(content.slots.keys().iter().copied())
        .filter(|(_, key)| !content.live_only || *key != TOMBSTONE)
        .collect()
}

fn count(length: usize) -> io::Result<u32> {
    u32::try_from(length).map_err(io::Error::other)
}

fn flush_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// A file that is hashed as it is written.
struct Hashed {
    file: BufWriter<File>,
    hash: Sha256,
    bytes: u64,
}

impl Hashed {
    /// Creates `path`, lets `fill` write it and flushes it to disk.
    fn write(
        path: &Path,
        fill: &mut dyn FnMut(&mut Self) -> io::Result<()>,
    ) -> io::Result<FileRecord> {
        let file = BufWriter::with_capacity(1 << 18, File::create_new(path)?);
        let mut hashed = Self {
            file,
            hash: Sha256::new(),
            bytes: 0,
        };
        fill(&mut hashed)?;
        hashed
            .file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()?;
        Ok(FileRecord {
            bytes: hashed.bytes,
            sha256: hex::encode(hashed.hash.finalize()),
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    fn words(&mut self, words: &[u32]) -> io::Result<()> {
        self.write_all(bytemuck::cast_slice(words))
    }
}
