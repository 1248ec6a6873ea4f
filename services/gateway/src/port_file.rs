//! Tells the port that was taken: `run/gateway.port` in the data folder.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::error::StartError;

/// The file, removed when dropped unless another gateway has written it since.
#[derive(Debug)]
pub struct PortFile {
    path: PathBuf,
    text: String,
}

impl PortFile {
    /// The file's path below the data folder.
    pub fn path(data: &Path) -> PathBuf {
        data.join("run").join("gateway.port")
    }

    /// Writes `port`; a reader sees the old file or the new one, never a part.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write(data: &Path, port: u16) -> Result<Self, StartError> {
        let path = Self::path(data);
        let text = format!("{port}\n");
        replace(&path, &text).map_err(|source| StartError::PortFile {
            path: path.clone(),
            source,
        })?;
        Ok(Self { path, text })
    }
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

impl Drop for PortFile {
    fn drop(&mut self) {
        let ours = std::fs::read_to_string(&self.path).is_ok_and(|text| text == self.text);
        if ours && let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, "the port file stays");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_replaced_and_removed_only_by_its_owner() {
        let data = tempfile::tempdir().unwrap();
        let path = PortFile::path(data.path());
        let first = PortFile::write(data.path(), 1234).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1234\n");
        let second = PortFile::write(data.path(), 99).unwrap();
        drop(first);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "99\n");
        drop(second);
        assert!(!path.exists());
    }
}
