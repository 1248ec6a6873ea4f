//! Bytes of an upload on their way to the blob store.
//!
//! A thread of its own writes and hashes; the connection waits for it whenever it is sixteen
//! pieces behind, so an upload never lies in memory.

use std::future::Future;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use axum::extract::multipart::{Field, MultipartError};
use axum::http::StatusCode;
use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use shared::blobs::{BlobError, Blobs, original_key};
use shared::contract::{ErrorCode, Sha256Hex};
use shared::format::HEAD_BYTES;
use tempfile::{NamedTempFile, TempPath};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::error::ApiError;
use crate::http_status::Code;

/// Pieces between connection and disk; hyper's pieces have at most some 400 KiB.
const PIECES: usize = 16;
/// How much of a refused file is still read.
const READ_ON_BYTES: u64 = 64 * 1024 * 1024;

/// What an upload may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of the file.
    pub bytes: u64,
    /// The longest pause between two pieces.
    pub pause: Duration,
}

/// A file that has arrived whole. Its bytes go when it is dropped, unless stored.
#[derive(Debug)]
pub struct Staged {
    file: TempPath,
    /// The hash of its bytes.
    pub content: Sha256Hex,
    /// Their number.
    pub bytes: u64,
}

impl Staged {
    /// Puts the bytes into the blob store; can be done again.
    ///
    /// # Errors
    /// When the disk refuses.
    pub async fn store(&self, blobs: &Blobs) -> Result<(), ApiError> {
        // The store moves what it is given; a second link keeps the bytes at hand.
        let link = self.file.with_extension("link");
        let (from, to) = (self.file.to_path_buf(), link.clone());
        let linked = tokio::task::spawn_blocking(move || std::fs::hard_link(from, to)).await;
        match linked {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(cannot_write(&error)),
            Err(error) => return Err(cannot_write(&error)),
        }
        // Gone after the move; left, and removed here, when the move failed.
        let link = TempPath::try_from_path(link).map_err(|error| cannot_write(&error))?;
        Ok(blobs.put_file(&self.key(), &link).await?)
    }

    /// Whether the blob store has the bytes.
    ///
    /// # Errors
    /// When the disk refuses.
    pub async fn is_stored(&self, blobs: &Blobs) -> Result<bool, BlobError> {
        blobs.exists(&self.key()).await
    }

    fn key(&self) -> String {
        original_key(&self.content)
    }
}

/// Receives a file into `staging`. `check` sees its first bytes as soon as they are there, and
/// what it refuses is not written on.
///
/// # Errors
/// What `check` says; a file over the limit, a pause too long, a broken connection, a disk that
/// refuses.
pub async fn receive<T>(
    field: &mut Field<'_>,
    staging: &Path,
    limits: Limits,
    check: impl Fn(&[u8]) -> Result<T, ApiError>,
) -> Result<(Staged, T), ApiError> {
    let (pieces, taken) = mpsc::channel(PIECES);
    let folder = staging.to_owned();
    let writer = tokio::task::spawn_blocking(move || write(&folder, taken));
    let mut head = Head::default();
    let mut checked = None;
    let mut bytes = 0_u64;
    // Any return before the end drops `pieces`; the writer then ends, and its file goes.
    while let Some(piece) = next_piece(field, limits.pause).await? {
        bytes += piece.len() as u64;
        if bytes > limits.bytes {
            return Err(too_large(limits.bytes));
        }
        head.add(&piece);
        if checked.is_none() && head.is_full() {
            checked = Some(check(&head.0)?);
        }
        if pieces.send(piece).await.is_err() {
            // The writer has failed; it says below why.
            break;
        }
    }
    drop(pieces);
    let (file, digest) = match writer.await {
        Ok(Ok(written)) => written,
        Ok(Err(error)) => return Err(cannot_write(&error)),
        Err(error) => return Err(cannot_write(&error)),
    };
    let checked = match checked {
        Some(checked) => checked,
        None => check(&head.0)?,
    };
    Ok((
        Staged {
            file,
            content: Sha256Hex::from_digest(digest),
            bytes,
        },
        checked,
    ))
}

/// The first bytes of a file.
#[derive(Default)]
struct Head(Vec<u8>);

impl Head {
    fn is_full(&self) -> bool {
        self.0.len() >= HEAD_BYTES
    }

    fn add(&mut self, piece: &[u8]) {
        let wanted = HEAD_BYTES.saturating_sub(self.0.len());
        self.0.extend(piece.iter().take(wanted));
    }
}

/// The next piece of a field.
///
/// # Errors
/// A pause longer than `pause`, or a broken connection.
pub async fn next_piece(field: &mut Field<'_>, pause: Duration) -> Result<Option<Bytes>, ApiError> {
    in_time(pause, field.chunk()).await
}

/// Waits for a part of the form, but no longer than `pause`.
///
/// # Errors
/// As [`next_piece`].
pub async fn in_time<T>(
    pause: Duration,
    part: impl Future<Output = Result<T, MultipartError>>,
) -> Result<T, ApiError> {
    match timeout(pause, part).await {
        Ok(Ok(part)) => Ok(part),
        Ok(Err(error)) => Err(refuse(&error)),
        Err(_elapsed) => Err(ApiError::new(
            Code::TooSlow,
            format!("the upload paused for more than {} s", pause.as_secs()),
            "send the file again",
        )),
    }
}

/// Reads the rest of a refused file, because a browser that is still sending hears no answer.
/// `false` when the rest is too long or the connection is broken.
pub async fn read_on(field: &mut Field<'_>, pause: Duration) -> bool {
    let mut left = READ_ON_BYTES;
    loop {
        match next_piece(field, pause).await {
            Ok(None) => return true,
            Err(_broken) => return false,
            Ok(Some(piece)) => match left.checked_sub(piece.len() as u64) {
                Some(rest) => left = rest,
                None => return false,
            },
        }
    }
}

/// Runs on a thread that may block.
fn write(folder: &Path, mut pieces: mpsc::Receiver<Bytes>) -> io::Result<(TempPath, [u8; 32])> {
    let mut file = NamedTempFile::with_prefix_in("upload-", folder)?;
    let mut hasher = Sha256::new();
    while let Some(piece) = pieces.blocking_recv() {
        hasher.update(&piece);
        file.write_all(&piece)?;
    }
    file.flush()?;
    Ok((file.into_temp_path(), hasher.finalize().into()))
}

/// Removes what a killed gateway left in `staging`; nothing else writes there.
///
/// # Errors
/// When the folder cannot be read.
pub fn sweep(staging: &Path) -> io::Result<usize> {
    let mut swept = 0;
    for entry in std::fs::read_dir(staging)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("upload-") {
            std::fs::remove_file(entry.path())?;
            swept += 1;
        }
    }
    Ok(swept)
}

/// An error of the form itself.
fn refuse(error: &MultipartError) -> ApiError {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return ApiError::new(ErrorCode::TooLarge, error.body_text(), "send less at once");
    }
    ApiError::bad_request(
        format!("the upload broke off or is no form: {}", error.body_text()),
        "send the file again",
    )
}

fn too_large(limit: u64) -> ApiError {
    ApiError::new(
        ErrorCode::TooLarge,
        format!("the file has more than {} MiB", limit / (1024 * 1024)),
        "split the document, or raise `gateway.max_upload_mib`",
    )
}

fn cannot_write(cause: &(dyn std::error::Error + 'static)) -> ApiError {
    ApiError::internal(
        "the file could not be written to the data folder",
        "check the disk's space and permissions, then add it again",
        cause,
    )
}
