//! What can be set. Section `indexer`.

use serde::{Deserialize, Serialize};

/// Settings of the indexer. The model, which decides the pipeline, stands in section `model`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Documents that are worked on at once, in all stages together.
    pub documents_in_flight: usize,
    /// Seconds without any sign of life after which a document is handed out again.
    pub lease_secs: u64,
    /// Batches of vectors taken in at once.
    pub batches_in_flight: usize,
    /// Searches answered at once, per engine; more are refused as busy.
    pub searches_at_once: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            documents_in_flight: 32,
            lease_secs: 20,
            batches_in_flight: 8,
            searches_at_once: 32,
        }
    }
}
