//! Documents and questions in the BEIR layout. What is judged and how is `ibid eval`'s own.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A document to be found.
#[derive(Debug, Clone, Deserialize)]
pub struct Document {
    /// Its id in the judgements.
    #[serde(rename = "_id")]
    pub id: String,
    /// Its title; may be empty.
    #[serde(default)]
    pub title: String,
    /// Its text; may be empty.
    #[serde(default)]
    pub text: String,
}

/// A question.
#[derive(Debug, Clone, Deserialize)]
pub struct Query {
    /// Its id in the judgements.
    #[serde(rename = "_id")]
    pub id: String,
    /// As asked.
    pub text: String,
}

/// The documents of the set in `folder`.
///
/// # Errors
/// The file is missing or does not decode.
pub fn documents(folder: &Path) -> Result<Vec<Document>> {
    lines(&folder.join("corpus.jsonl"))
}

/// Its questions.
///
/// # Errors
/// The file is missing or does not decode.
pub fn queries(folder: &Path) -> Result<Vec<Query>> {
    lines(&folder.join("queries.jsonl"))
}

/// One value per line that is not blank.
///
/// # Errors
/// The file is missing or does not decode.
pub fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = std::fs::read_to_string(path);
    text.with_context(|| format!("reading `{}`", path.display()))?
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).with_context(|| format!("line `{line}`")))
        .collect()
}
