//! Opening the index folder: checked, or replaced by an empty one with the reason.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tantivy::directory::error::LockError;
use tantivy::directory::{Directory, INDEX_WRITER_LOCK, MmapDirectory};
use tantivy::indexer::IndexWriterOptions;
use tantivy::schema::Schema;
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, TantivyError};

use super::super::analysis::FORMAT;
use super::{KeywordError, Opened};

/// Postings held in memory before they go to a segment, in bytes; tantivy's least is 15 MB.
const WRITER_MEMORY_BYTES: usize = 20_000_000;

/// What a commit carries besides its documents: they and the position are durable together.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Commit {
    format: u32,
    sequence: u64,
}

impl Commit {
    pub(super) fn at(sequence: u64) -> Self {
        Self {
            format: FORMAT,
            sequence,
        }
    }

    /// As text; two numbers, so that it cannot fail.
    pub(super) fn to_payload(&self) -> String {
        format!(
            r#"{{"format":{},"sequence":{}}}"#,
            self.format, self.sequence
        )
    }
}

pub(super) struct Found {
    pub(super) index: Index,
    pub(super) reader: IndexReader,
    pub(super) writer: IndexWriter,
    pub(super) opened: Opened,
}

pub(super) fn open(folder: &Path, schema: &Schema) -> Result<Found, KeywordError> {
    fs::create_dir_all(folder).map_err(|source| folder_error(folder, source))?;
    // Nothing is judged, let alone replaced, while another process writes it.
    let lock = MmapDirectory::open(folder)
        .map_err(|error| KeywordError::Engine {
            action: "open",
            source: error.into(),
        })?
        .acquire_lock(&INDEX_WRITER_LOCK)
        .map_err(|error| lock_error(folder, error))?;
    let existing = existing(folder, schema);
    drop(lock);
    match existing {
        Ok((index, sequence)) => found(folder, index, Opened::Ready { sequence }),
        Err(reason) => {
            empty(folder).map_err(|source| folder_error(folder, source))?;
            let engine = |source| KeywordError::Engine {
                action: "create",
                source,
            };
            let index = Index::create_in_dir(folder, schema.clone()).map_err(engine)?;
            found(folder, index, Opened::Fresh { reason })
        }
    }
}

/// The index in `folder` with its sequence, or why it cannot be used.
fn existing(folder: &Path, schema: &Schema) -> Result<(Index, u64), String> {
    if !folder.join("meta.json").exists() {
        return Err("there is none yet".to_owned());
    }
    let because = |error: TantivyError| format!("the old one does not open: {error}");
    let directory = MmapDirectory::open(folder).map_err(|error| because(error.into()))?;
    let index = Index::open(directory).map_err(because)?;
    if index.schema() != *schema {
        return Err("the old one has other fields".to_owned());
    }
    let damaged = index.validate_checksum().map_err(because)?;
    if !damaged.is_empty() {
        return Err(format!("the old one has {} damaged files", damaged.len()));
    }
    let Some(payload) = index.load_metas().map_err(because)?.payload else {
        return Err("nothing was ever committed to the old one".to_owned());
    };
    let commit: Commit = serde_json::from_str(&payload)
        .map_err(|error| format!("the old one has no readable sequence: {error}"))?;
    if commit.format != FORMAT {
        return Err(format!(
            "the old one has format {} but {FORMAT} is needed",
            commit.format
        ));
    }
    Ok((index, commit.sequence))
}

fn found(folder: &Path, index: Index, opened: Opened) -> Result<Found, KeywordError> {
    let engine = |source| KeywordError::Engine {
        action: "open",
        source,
    };
    let writer = writer(&index, folder)?;
    // What a killed process left half written is nobody's; words of removed chunks may be in it.
    writer.garbage_collect_files().wait().map_err(engine)?;
    let reader = index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .try_into()
        .map_err(engine)?;
    Ok(Found {
        index,
        reader,
        writer,
        opened,
    })
}

/// A writer with one indexing and one merging thread, which inherit the caller's priority.
pub(super) fn writer(index: &Index, folder: &Path) -> Result<IndexWriter, KeywordError> {
    let options = IndexWriterOptions::builder()
        .num_worker_threads(1)
        .memory_budget_per_thread(WRITER_MEMORY_BYTES)
        .num_merge_threads(1)
        .build();
    index
        .writer_with_options(options)
        .map_err(|source| match source {
            TantivyError::LockFailure(error, _) => lock_error(folder, error),
            source => KeywordError::Engine {
                action: "open",
                source,
            },
        })
}

fn lock_error(folder: &Path, error: LockError) -> KeywordError {
    match error {
        LockError::LockBusy => KeywordError::Locked {
            path: folder.to_owned(),
        },
        error @ LockError::IoError(_) => KeywordError::Engine {
            action: "lock",
            source: TantivyError::LockFailure(error, None),
        },
    }
}

/// Removes what is in the folder, not the folder: it may be a mount point.
fn empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn folder_error(folder: &Path, source: io::Error) -> KeywordError {
    KeywordError::Folder {
        path: folder.to_owned(),
        source,
    }
}
