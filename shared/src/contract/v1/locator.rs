//! Where a page of text stands in its document. A page number is never invented.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The place of a page, in the document's own terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Locator {
    /// A PDF page.
    PdfPage {
        /// Counted from 1.
        physical: u32,
        /// The number printed on it, when the file says so and it differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
    /// A slide, from 1.
    Slide {
        /// Counted from 1.
        number: u32,
    },
    /// A part of a sheet.
    Sheet {
        /// The sheet's name.
        name: String,
        /// First and last row, from 1.
        rows: (u32, u32),
    },
    /// A message of a mailbox, from 1.
    Message {
        /// Counted from 1.
        number: u32,
    },
    /// A part of a document or book, by its own name.
    Part {
        /// The part's name.
        name: String,
    },
    /// A file within a container.
    Entry {
        /// Path within the container.
        path: String,
        /// Where in that file.
        inner: Box<Locator>,
    },
    /// A section of a text without pages.
    Section {
        /// The section's heading.
        heading: String,
    },
    /// A block of a text without pages or headings, from 1.
    Block {
        /// Counted from 1.
        number: u32,
    },
}

impl Locator {
    /// `p.4`, `slide 3`, `Prices rows 2–40`; `None` where the document has no such place.
    pub fn short(&self) -> Option<String> {
        match self {
            Self::PdfPage {
                physical,
                label: Some(label),
            } if *label != physical.to_string() => Some(format!("p.{label} ({physical})")),
            Self::PdfPage { physical, .. } => Some(format!("p.{physical}")),
            Self::Slide { number } => Some(format!("slide {number}")),
            Self::Sheet {
                name,
                rows: (first, last),
            } => Some(format!("{name} rows {first}–{last}")),
            Self::Message { number } => Some(format!("message {number}")),
            Self::Part { name } => Some(name.clone()),
            Self::Entry { path, inner } => Some(inner.within(path)),
            Self::Section { .. } | Self::Block { .. } => None,
        }
    }

    /// As it is cited within the document or file `name`: `handbook.pdf, p.4`,
    /// `mail.eml › invoice.pdf, p.2`; `name` alone where there is no more to tell.
    pub fn within(&self, name: &str) -> String {
        match self {
            Self::Entry { path, inner } => format!("{name} › {}", inner.within(path)),
            other => match other.short() {
                Some(short) => format!("{name}, {short}"),
                None => name.to_owned(),
            },
        }
    }
}
