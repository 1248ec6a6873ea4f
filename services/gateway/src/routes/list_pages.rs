//! `GET /api/v1/documents/{id}/pages?after=&limit=&missing=&text=`: a document's page ledger, and
//! the pages as Markdown.

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::contract::{DocumentId, FileHash, ListPages};

use crate::app::App;
use crate::document_pages::{DocumentPages, PageText};
use crate::error::ApiError;
use crate::extract::{Document, Params};

/// Pages given when no limit is asked for: with their text, and without.
const USUAL: (u32, u32) = (20, 100);
/// Pages given at most.
const MOST: (u32, u32) = (100, 500);
/// After so many bytes of text the rest is left for the next request.
const BYTES: usize = 4 * 1024 * 1024;

/// Which pages.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "WhichPages")]
pub(crate) struct Wanted {
    /// Only those after this number: `next` of the answer before.
    after: u32,
    /// At most so many, 1 to 100, or to 500 without text; 20 or 100 when 0 or left out.
    limit: u32,
    /// Only pages that could not be read.
    missing: bool,
    /// `false` leaves the texts out: the ledger alone.
    text: bool,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            after: 0,
            limit: 0,
            missing: false,
            text: true,
        }
    }
}

impl Wanted {
    fn limit(&self) -> u32 {
        let of = |(with_text, without): (u32, u32)| if self.text { with_text } else { without };
        match self.limit {
            0 => of(USUAL),
            limit => limit.min(of(MOST)),
        }
    }
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
    /// All pages that match.
    total: u32,
}

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("list_pages")
        .tag("documents")
        .summary("A document's page ledger, and the pages as Markdown")
        .description(
            "Where each page stands in the document, how it was read, what may be wrong with it \
             or why it could not be read, the chunks that stand on it, and its text. The pages \
             are of the version that can be found now.",
        )
}

/// Pages after the cursor.
pub(crate) async fn list(
    State(app): State<App>,
    Document(id): Document,
    Params(wanted): Params<Wanted>,
) -> Result<Json<Listing>, ApiError> {
    let request = ListPages {
        document: id.clone(),
        after: wanted.after,
        limit: wanted.limit(),
        missing: wanted.missing,
    };
    let mut document = DocumentPages::open(&app, &request).await?;
    let title = document.title().await?;
    let (mut pages, mut bytes, mut next) = (Vec::new(), 0, document.list.next);
    let mut listed = std::mem::take(&mut document.list.pages)
        .into_iter()
        .peekable();
    while let Some(page) = listed.next() {
        let page = if wanted.text {
            document.text(page).await?
        } else {
            PageText::without_text(page)
        };
        bytes += page.bytes();
        if bytes >= BYTES && listed.peek().is_some() {
            next = Some(page.number());
            pages.push(page);
            break;
        }
        pages.push(page);
    }
    Ok(Json(Listing {
        document_id: id,
        file_hash: document.version(),
        title,
        notes: document.view.notes,
        pages,
        next,
        total: document.list.total,
    }))
}
