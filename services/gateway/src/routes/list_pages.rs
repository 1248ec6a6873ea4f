//! `GET /api/v1/documents/{id}/pages?after=&limit=`: a document's pages as Markdown.

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::contract::{DocumentId, FileHash};

use crate::app::App;
use crate::document_pages::{PageText, ReadDocument};
use crate::error::ApiError;
use crate::extract::{Document, Params};

/// Pages given when no limit is asked for.
const USUAL: usize = 20;
/// Pages given at most.
const MOST: usize = 100;
/// After so many bytes of text the rest is left for the next request.
const BYTES: usize = 4 * 1024 * 1024;

/// Which pages.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "WhichPages")]
pub(crate) struct Wanted {
    /// Only those after this number: `next` of the answer before.
    after: u32,
    /// At most so many, 1 to 100; 20 when 0 or left out.
    limit: usize,
}

/// Some of a document's pages.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Pages")]
pub(crate) struct Listing {
    /// The document.
    document_id: DocumentId,
    /// The version whose pages these are.
    file_hash: FileHash,
    /// The document's own title, when it has one.
    title: Option<String>,
    /// What concerns the whole document, such as a reader that was not there.
    notes: Vec<String>,
    /// The pages, in order.
    pages: Vec<PageText>,
    /// For `after`; `null` on the last answer.
    next: Option<u32>,
    /// All pages of the document.
    total: usize,
}

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("list_pages")
        .tag("documents")
        .summary("A document's pages as Markdown")
        .description(
            "How each page was read, where it stands in the document, what may be wrong with it, \
             and its text.",
        )
}

/// Pages after the cursor.
pub(crate) async fn list(
    State(app): State<App>,
    Document(id): Document,
    Params(wanted): Params<Wanted>,
) -> Result<Json<Listing>, ApiError> {
    let document = ReadDocument::open(&app, &id).await?;
    let limit = match wanted.limit {
        0 => USUAL,
        limit => limit.min(MOST),
    };
    let records = &document.manifest.pages;
    let read = records.partition_point(|record| record.number <= wanted.after);
    let left = records.get(read..).unwrap_or_default();
    let mut pages = Vec::new();
    let mut bytes = 0;
    for record in left.iter().take(limit) {
        if bytes >= BYTES {
            break;
        }
        let page = document.text(record).await?;
        bytes += page.bytes();
        pages.push(page);
    }
    let next = match pages.len().checked_sub(1) {
        Some(last) if pages.len() < left.len() => left.get(last).map(|record| record.number),
        _ => None,
    };
    Ok(Json(Listing {
        document_id: id,
        file_hash: document.view.file_hash.clone(),
        title: document.manifest.title.clone(),
        notes: document.manifest.notes.clone(),
        pages,
        next,
        total: records.len(),
    }))
}
