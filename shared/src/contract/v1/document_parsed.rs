//! All pages of a document are accounted for: work for the chunker.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::work::Work;

/// The pages lie in the blob store; `pages.json` beside them is the [`super::PageManifest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentParsed {
    /// Whose work it is.
    pub work: Work,
    /// The blob folder: `markdown/{file_hash}-{parser}`.
    pub folder: String,
    /// Pages in the manifest, at least 1.
    pub pages: u32,
}
