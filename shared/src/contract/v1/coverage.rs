//! How much of a document could be read.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Of a document that is only partly readable: how many of its pages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Pages that were read; fewer than `pages`.
    pub readable: u32,
    /// All its pages.
    pub pages: u32,
}

impl Coverage {
    /// The coverage of a document of `pages` pages of which `missing` could not be read; `None`
    /// when it is whole.
    pub fn of(pages: u32, missing: u32) -> Option<Self> {
        (missing > 0).then(|| Self {
            readable: pages.saturating_sub(missing),
            pages,
        })
    }
}

/// `113 of 311 pages`.
impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.pages == 1 { "page" } else { "pages" };
        write!(f, "{} of {} {noun}", self.readable, self.pages)
    }
}
