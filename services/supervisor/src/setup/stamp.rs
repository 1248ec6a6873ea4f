//! What has been hashed before. A file with the size and time of its stamp is not hashed again,
//! so that a start does not read 140 MB.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::pins::PinnedFile;
use crate::files::write_durably;

const STAMPS: &str = "verified.json";

/// The stamps of one assets folder, by path below it.
#[derive(Debug, Default)]
pub struct Stamps {
    folder: PathBuf,
    by_path: BTreeMap<PathBuf, Stamp>,
    changed: bool,
}

/// A file as it was when it was hashed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    sha256: String,
    bytes: u64,
    modified_ns: u64,
}

impl Stamps {
    /// The stamps in `folder`; none when the file is missing or does not read, which only costs
    /// the time to hash again.
    pub fn load(folder: &Path) -> Self {
        let by_path = fs::read(folder.join(STAMPS))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        Self {
            folder: folder.to_owned(),
            by_path,
            changed: false,
        }
    }

    /// Writes what has changed since [`Self::load`].
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn save(&mut self) -> io::Result<()> {
        if self.changed {
            let bytes = serde_json::to_vec_pretty(&self.by_path)?;
            write_durably(&self.folder.join(STAMPS), 0o644, |file| {
                file.write_all(&bytes)
            })?;
            self.changed = false;
        }
        Ok(())
    }

    /// Whether the file at `path` below the folder is there and is the pinned one, by its stamp
    /// if it has one, else by its hash.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn holds(&mut self, path: &Path, pinned: &PinnedFile) -> io::Result<bool> {
        Ok(self.hash(path)?.is_some_and(|hash| pinned.allows(&hash)))
    }

    /// Like [`Self::holds`], but always reads the file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn holds_by_hash(&mut self, path: &Path, pinned: &PinnedFile) -> io::Result<bool> {
        self.by_path.remove(path);
        self.holds(path, pinned)
    }

    /// The hash of the file at `path` below the folder; `None` when it is not there.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn hash(&mut self, path: &Path) -> io::Result<Option<String>> {
        let full = self.folder.join(path);
        let metadata = match fs::metadata(&full) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let (bytes, modified_ns) = (metadata.len(), modified_ns(&metadata));
        if let Some(stamp) = self.by_path.get(path)
            && (stamp.bytes, stamp.modified_ns) == (bytes, modified_ns)
        {
            return Ok(Some(stamp.sha256.clone()));
        }
        let sha256 = hash_of(&mut fs::File::open(&full)?)?;
        let stamp = Stamp {
            sha256: sha256.clone(),
            bytes,
            modified_ns,
        };
        self.by_path.insert(path.to_owned(), stamp);
        self.changed = true;
        Ok(Some(sha256))
    }

    /// A free note kept with the stamps: which source a derived folder was made from.
    pub fn note(&self, key: &Path) -> Option<&str> {
        self.by_path.get(key).map(|stamp| stamp.sha256.as_str())
    }

    /// Sets the note of `key`.
    pub fn set_note(&mut self, key: &Path, value: String) {
        let stamp = Stamp {
            sha256: value,
            bytes: 0,
            modified_ns: 0,
        };
        self.by_path.insert(key.to_owned(), stamp);
        self.changed = true;
    }
}

/// The SHA-256 of all that `reader` gives, in lower-case hex.
///
/// # Errors
/// When reading fails.
pub fn hash_of(reader: &mut impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(reader, &mut hasher)?;
    Ok(hex::encode(hasher.finalize()))
}

fn modified_ns(metadata: &fs::Metadata) -> u64 {
    metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .and_then(|since| u64::try_from(since.as_nanos()).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned(content: &[u8]) -> PinnedFile {
        PinnedFile {
            inside: "a".to_owned(),
            path: "a".into(),
            sha256: vec![hash_of(&mut &content[..]).unwrap()],
            executable: false,
        }
    }

    #[test]
    fn a_changed_file_is_hashed_again_and_an_unchanged_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (path, pin) = (Path::new("a"), pinned(b"good"));
        let mut stamps = Stamps::load(folder.path());
        assert!(!stamps.holds(path, &pin).unwrap());

        fs::write(folder.path().join("a"), b"good").unwrap();
        assert!(stamps.holds(path, &pin).unwrap());
        stamps.save().unwrap();

        // Other bytes under the same size and time: the stamp is believed, the full check is not
        // fooled.
        let modified = fs::metadata(folder.path().join("a"))
            .unwrap()
            .modified()
            .unwrap();
        fs::write(folder.path().join("a"), b"evil").unwrap();
        let file = fs::File::options()
            .write(true)
            .open(folder.path().join("a"))
            .unwrap();
        file.set_modified(modified).unwrap();
        let mut stamps = Stamps::load(folder.path());
        assert!(stamps.holds(path, &pin).unwrap());
        assert!(!stamps.holds_by_hash(path, &pin).unwrap());

        // Any other size or time is looked into.
        fs::write(folder.path().join("a"), b"longer").unwrap();
        assert!(!Stamps::load(folder.path()).holds(path, &pin).unwrap());
    }
}
