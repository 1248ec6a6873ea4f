//! What can go wrong in the indexer, and what whoever asked is told.

use std::path::PathBuf;

use shared::contract::{DocumentId, ErrorBody, ErrorCode};

/// An error of the catalog.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The file could not be opened or made.
    #[error("catalog `{path}` could not be opened")]
    Open {
        /// The database file.
        path: PathBuf,
        /// Why.
        #[source]
        source: rusqlite::Error,
    },
    /// A later version wrote the file.
    #[error(
        "catalog `{path}` has schema {found} and this program knows {known}; use the newer program"
    )]
    Newer {
        /// The database file.
        path: PathBuf,
        /// Schema in the file.
        found: i64,
        /// Latest schema of this program.
        known: i64,
    },
    /// A statement failed, or a stored value is not what it should be.
    #[error("catalog statement failed")]
    Sqlite(#[from] rusqlite::Error),
    /// A value does not encode.
    #[error("catalog value does not encode")]
    Encode(#[from] serde_json::Error),
    /// No such document.
    #[error("no document has the id `{0}`; `ibid list` shows the ids")]
    NotFound(DocumentId),
    /// A cursor that no answer gave.
    #[error("`{0}` is not a cursor; pass `next` of the page before")]
    Cursor(String),
    /// The thread that worked on the catalog died.
    #[error("catalog work was cut short")]
    Cut,
}

/// The error and its causes in one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        text.push_str(": ");
        text.push_str(&source.to_string());
        cause = source.source();
    }
    text
}

impl From<CatalogError> for ErrorBody {
    fn from(error: CatalogError) -> Self {
        match error {
            CatalogError::NotFound(id) => Self::new(
                ErrorCode::NotFound,
                format!("no document has the id `{id}`"),
                "`ibid list` shows the ids",
            ),
            CatalogError::Cursor(cursor) => Self::new(
                ErrorCode::BadRequest,
                format!("`{cursor}` is not a cursor"),
                "pass `next` of the page before",
            ),
            other => {
                tracing::error!(error = chain(&other), "the catalog failed");
                Self::new(
                    ErrorCode::Internal,
                    "the catalog could not do that",
                    "look at the indexer's log; `ibid fsck` checks the stores",
                )
            }
        }
    }
}
