//! What a process has counted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The metrics of one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessMetrics {
    /// `parser`, `chunker`, …
    pub service: String,
    /// The process.
    pub pid: u32,
    /// The machine it runs on, or its container.
    pub host: String,
    /// In Prometheus' text format 0.0.4, without the labels `service` and `instance`: whoever
    /// gathers adds them.
    pub text: String,
}
