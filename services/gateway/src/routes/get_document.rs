//! `GET /api/v1/documents/{id}`: one document with its page ledger.

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use shared::contract::DocumentView;
use shared::contract::subject::call;

use crate::app::App;
use crate::error::ApiError;
use crate::extract::Document;

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("get_document")
        .tag("documents")
        .summary("One document with its page ledger")
}

/// The document.
pub(crate) async fn get(
    State(app): State<App>,
    Document(id): Document,
) -> Result<Json<DocumentView>, ApiError> {
    Ok(Json(app.call(call::CATALOG_GET, &id).await?))
}
