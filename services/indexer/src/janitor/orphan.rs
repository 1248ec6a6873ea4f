//! Blobs that nothing uses.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use shared::blobs::{Blobs, original_key};
use shared::contract::{FileHash, Sha256Hex};

use super::JanitorError;
use crate::catalog::{Catalog, Garbage};
use crate::error::CatalogError;

/// A blob, or a folder of pages, without a user.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Orphan {
    Original(Sha256Hex),
    Pages {
        file_hash: FileHash,
        parser: String,
    },
    /// A name that no service gives.
    Stranger(String),
}

/// What a look through the store found.
pub(crate) struct Found {
    pub blobs: Vec<Orphan>,
    /// Blobs looked at.
    pub seen: u64,
}

impl Orphan {
    /// The key, or the folder when it is one.
    pub(crate) fn folder_or_key(&self) -> String {
        match self {
            Self::Original(content) => original_key(content),
            Self::Pages { file_hash, parser } => {
                let pages = Garbage {
                    content: None,
                    file_hash: file_hash.clone(),
                    parser: parser.clone(),
                };
                pages.folder()
            }
            Self::Stranger(key) => key.clone(),
        }
    }

    /// Asks the catalog. A stranger has no user, but it is not ours to remove.
    pub(crate) async fn is_unused(&self, catalog: &Catalog) -> Result<bool, CatalogError> {
        match self.clone() {
            Self::Original(content) => catalog
                .run(move |catalog| catalog.uses_original(&content))
                .await
                .map(|used| !used),
            Self::Pages { file_hash, parser } => catalog
                .run(move |catalog| catalog.uses_pages(&file_hash, &parser))
                .await
                .map(|usage| !usage.pages),
            Self::Stranger(_) => Ok(false),
        }
    }
}

/// All blobs without a user; originals younger than `young` may belong to an upload under way.
pub(crate) async fn orphans(
    catalog: &Catalog,
    blobs: &Blobs,
    young: Duration,
) -> Result<Found, JanitorError> {
    let mut seen = 0;
    let mut candidates = BTreeSet::new();
    for key in blobs.list("originals").await? {
        seen += 1;
        candidates.insert(match key.strip_prefix("originals/").map(str::parse) {
            Some(Ok(content)) => Orphan::Original(content),
            _ => Orphan::Stranger(key),
        });
    }
    for key in blobs.list("markdown").await? {
        seen += 1;
        candidates.insert(pages_of(&key).unwrap_or(Orphan::Stranger(key)));
    }
    let mut found = Vec::new();
    for candidate in candidates {
        let is_stranger = matches!(candidate, Orphan::Stranger(_));
        if !is_stranger && !candidate.is_unused(catalog).await? {
            continue;
        }
        let is_original = matches!(candidate, Orphan::Original(_));
        if is_original && age(blobs, &candidate.folder_or_key()) < young {
            continue;
        }
        found.push(candidate);
    }
    Ok(Found { blobs: found, seen })
}

/// The folder of pages a key lies in: `markdown/{file_hash}-{parser}/…`.
fn pages_of(key: &str) -> Option<Orphan> {
    let (folder, _) = key.strip_prefix("markdown/")?.split_once('/')?;
    let (file_hash, parser) = folder.split_once('-')?;
    Some(Orphan::Pages {
        file_hash: file_hash.parse().ok()?,
        parser: parser.to_owned(),
    })
}

/// How old a blob is; as old as can be when that cannot be told.
fn age(blobs: &Blobs, key: &str) -> Duration {
    std::fs::metadata(blobs.local_path(key))
        .and_then(|metadata| metadata.modified())
        .map_or(Duration::MAX, |modified| {
            SystemTime::now()
                .duration_since(modified)
                .unwrap_or_default()
        })
}
