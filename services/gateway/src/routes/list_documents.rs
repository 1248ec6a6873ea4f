//! `GET /api/v1/documents?collection=&state=&after=&limit=`: documents, in the order they came.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use shared::contract::subject::call;
use shared::contract::{CollectionName, DocumentPage, DocumentState, ListDocuments};

use crate::app::App;
use crate::error::ApiError;
use crate::extract::Params;

/// What can be asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Wanted {
    collection: Option<CollectionName>,
    state: Option<DocumentState>,
    after: Option<String>,
    limit: u32,
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
