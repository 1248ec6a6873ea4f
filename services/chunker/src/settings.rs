//! What can be set. Section `chunker`.

use serde::{Deserialize, Serialize};

/// Settings of the chunker. The model, and with it tokenizer and window, stands in section
/// `model`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Documents chunked at once.
    pub documents_in_flight: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            documents_in_flight: 2,
        }
    }
}
