//! `GET /api/v1/documents?collection=&state=&after=&limit=`: documents, in the order they came.

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;
use shared::contract::subject::call;
use shared::contract::{CollectionName, DocumentPage, DocumentState, ListDocuments};

use crate::app::App;
use crate::error::ApiError;
use crate::extract::Params;

/// What can be asked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "WhichDocuments")]
pub(crate) struct Wanted {
    /// Only of this collection.
    collection: Option<CollectionName>,
    /// Only in this state.
    state: Option<DocumentState>,
    /// Only those after this cursor: `next` of the answer before.
    after: Option<String>,
    /// At most so many, 1 to 500; 100 when 0 or left out.
    limit: u32,
}

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("list_documents")
        .tag("documents")
        .summary("Documents, in the order they came")
}

/// A page of the listing.
pub(crate) async fn list(
    State(app): State<App>,
    Params(wanted): Params<Wanted>,
) -> Result<Json<DocumentPage>, ApiError> {
    let request = ListDocuments {
        collection: wanted.collection,
        state: wanted.state,
        ids: Vec::new(),
        after: wanted.after,
        limit: wanted.limit,
    };
    Ok(Json(app.call(call::CATALOG_LIST, &request).await?))
}
