//! Whether all stores agree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A disagreement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FsckFinding {
    /// The store it was found in: `catalog`, `keyword`, `vector`, `blobs`, `streams`.
    pub store: String,
    /// What is wrong, in plain words; ids, never text.
    pub problem: String,
    /// What mends it.
    pub remedy: String,
}

/// Everything that was looked at, and what was wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FsckReport {
    /// Empty when all stores agree.
    pub findings: Vec<FsckFinding>,
    /// Documents looked at.
    pub documents: u64,
    /// Chunks looked at.
    pub chunks: u64,
    /// Blobs looked at.
    pub blobs: u64,
}
