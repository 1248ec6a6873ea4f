//! Originals and Markdown pages, as plain files under the data folder.
//!
//! A write that returned is on disk: files and folders are synced before it does. A reader never
//! sees a half-written blob.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt as _;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt as _};

use crate::contract::Sha256Hex;

/// Why a blob could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// Nothing has this key.
    #[error("no blob `{key}`; run `ibid fsck` to see what is missing")]
    NotFound {
        /// The key.
        key: String,
    },
    /// The store could not be opened.
    #[error("cannot open the blob store at `{}`; check that the folder can be written", .path.display())]
    Open {
        /// Its folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Reading or writing failed.
    #[error("could not {action} blob `{key}`; check disk space and permissions")]
    Access {
        /// What was being done.
        action: &'static str,
        /// The key.
        key: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// The key of an original: `originals/{sha256}`.
pub fn original_key(content: &Sha256Hex) -> String {
    format!("originals/{content}")
}

/// The blob store. Cheap to clone.
#[derive(Clone)]
pub struct Blobs {
    store: Arc<LocalFileSystem>,
    root: PathBuf,
}

impl Blobs {
    /// Opens the store below `root`, which is made if need be.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn open(root: &Path) -> Result<Self, BlobError> {
        let open = || -> Result<_, Box<dyn std::error::Error + Send + Sync>> {
            std::fs::create_dir_all(root)?;
            let store = LocalFileSystem::new_with_prefix(root)?.with_fsync(true);
            Ok(store)
        };
        let store = open().map_err(|source| BlobError::Open {
            path: root.to_owned(),
            source,
        })?;
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        Ok(Self {
            store: Arc::new(store),
            root,
        })
    }

    /// Writes a blob whole; an existing one is replaced.
    ///
    /// # Errors
    /// When the disk refuses.
    pub async fn put(&self, key: &str, bytes: Bytes) -> Result<(), BlobError> {
        self.store
            .put(&Key::from(key), bytes.into())
            .await
            .map(|_| ())
            .map_err(|error| access("write", key, error))
    }

    /// Moves the finished file `from` in as a blob; it must lie on the same file system.
    ///
    /// # Errors
    /// When the disk refuses.
    pub async fn put_file(&self, key: &str, from: &Path) -> Result<(), BlobError> {
        let (target, from) = (self.local_path(key), from.to_owned());
        let moved = tokio::task::spawn_blocking(move || -> std::io::Result<()> {
            let folder = target.parent().unwrap_or(&target);
            std::fs::File::open(&from)?.sync_all()?;
            std::fs::create_dir_all(folder)?;
            std::fs::rename(&from, &target)?;
            std::fs::File::open(folder)?.sync_all()
        })
        .await;
        match moved {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(access("write", key, error)),
            Err(error) => Err(access("write", key, error)),
        }
    }

    /// Reads a blob whole.
    ///
    /// # Errors
    /// [`BlobError::NotFound`], or when the disk refuses.
    pub async fn get(&self, key: &str) -> Result<Bytes, BlobError> {
        let read = async { self.store.get(&Key::from(key)).await?.bytes().await };
        read.await.map_err(|error| access("read", key, error))
    }

    /// Whether a blob is there.
    ///
    /// # Errors
    /// When the disk refuses.
    pub async fn exists(&self, key: &str) -> Result<bool, BlobError> {
        match self.store.head(&Key::from(key)).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(access("look for", key, error)),
        }
    }

    /// Removes a blob; one that is not there is fine.
    ///
    /// # Errors
    /// When the disk refuses.
    pub async fn delete(&self, key: &str) -> Result<(), BlobError> {
        match self.store.delete(&Key::from(key)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(access("delete", key, error)),
        }
    }

    /// Removes the folder `prefix` with every blob in it and tells how many there were.
    ///
    /// # Errors
    /// When the disk refuses; some may be gone by then.
    pub async fn delete_prefix(&self, prefix: &str) -> Result<u64, BlobError> {
        let keys = self.list(prefix).await?;
        for key in &keys {
            self.delete(key).await?;
        }
        // Fails when a blob was put meanwhile, and then it should stay.
        tokio::fs::remove_dir(self.local_path(prefix)).await.ok();
        Ok(keys.len() as u64)
    }

    /// The keys below `prefix`, sorted.
    ///
    /// # Errors
    /// When the disk refuses.
    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, BlobError> {
        let mut keys: Vec<String> = self
            .store
            .list(Some(&Key::from(prefix)))
            .map_ok(|object| object.location.to_string())
            .try_collect()
            .await
            .map_err(|error| access("list", prefix, error))?;
        keys.sort();
        Ok(keys)
    }

    /// The file that holds, or would hold, a blob.
    pub fn local_path(&self, key: &str) -> PathBuf {
        self.root.join(key)
    }

    /// A folder on the store's file system for files that [`Blobs::put_file`] will take in.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn staging(&self) -> Result<PathBuf, BlobError> {
        let folder = self.root.join("staging");
        std::fs::create_dir_all(&folder).map_err(|error| BlobError::Open {
            path: folder.clone(),
            source: error.into(),
        })?;
        Ok(folder)
    }
}

fn access(
    action: &'static str,
    key: &str,
    error: impl std::error::Error + Send + Sync + 'static,
) -> BlobError {
    let error: Box<dyn std::error::Error + Send + Sync> = error.into();
    if let Some(object_store::Error::NotFound { .. }) = error.downcast_ref() {
        return BlobError::NotFound {
            key: key.to_owned(),
        };
    }
    BlobError::Access {
        action,
        key: key.to_owned(),
        source: error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_blob_is_written_replaced_listed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(folder.path()).unwrap();
        blobs
            .put("markdown/a-p1/page_0001.md", Bytes::from_static(b"one"))
            .await
            .unwrap();
        blobs
            .put("markdown/a-p1/page_0001.md", Bytes::from_static(b"two"))
            .await
            .unwrap();
        blobs
            .put("markdown/ab-p1/page_0001.md", Bytes::from_static(b"other"))
            .await
            .unwrap();
        let staged = blobs.staging().unwrap().join("upload");
        std::fs::write(&staged, b"bytes").unwrap();
        blobs.put_file("originals/x", &staged).await.unwrap();

        assert_eq!(
            blobs.get("markdown/a-p1/page_0001.md").await.unwrap(),
            "two"
        );
        assert_eq!(blobs.get("originals/x").await.unwrap(), "bytes");
        assert!(!staged.exists());
        assert_eq!(blobs.delete_prefix("markdown/a-p1").await.unwrap(), 1);
        assert!(!blobs.local_path("markdown/a-p1").exists());
        assert!(blobs.exists("markdown/ab-p1/page_0001.md").await.unwrap());
        assert!(!blobs.exists("markdown/a-p1/page_0001.md").await.unwrap());
        blobs.delete("originals/never").await.unwrap();
        assert!(matches!(
            blobs.get("originals/never").await,
            Err(BlobError::NotFound { key }) if key == "originals/never"
        ));
    }
}
