//! A service's word on itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a running service is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// `parser`, `chunker`, …
    pub service: String,
    /// The process.
    pub pid: u32,
    /// The machine or container it runs on; empty from versions that did not tell.
    #[serde(default)]
    pub host: String,
    /// Its version.
    pub version: String,
    /// Whether it takes work.
    pub ready: bool,
    /// Messages or requests in hand.
    pub in_flight: u32,
    /// Milliseconds since it started.
    pub uptime_ms: u64,
    /// What people may want to know, such as `PDFium not found`.
    #[serde(default)]
    pub notes: Vec<String>,
}
