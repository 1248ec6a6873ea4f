//! `GET /api/v1/documents/{id}`: one document with its page ledger.

use axum::Json;
use axum::extract::State;
use shared::contract::DocumentView;
use shared::contract::subject::call;

use crate::app::App;
use crate::error::ApiError;
use crate::extract::Document;

/// The document.
pub(crate) async fn get(
    State(app): State<App>,
    Document(id): Document,
) -> Result<Json<DocumentView>, ApiError> {
    Ok(Json(app.call(call::CATALOG_GET, &id).await?))
}
