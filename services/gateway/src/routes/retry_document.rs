//! `POST /api/v1/documents/{id}/retry`: does the work of one document again.

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use shared::contract::subject::call;
use shared::contract::{Retried, Retry};

use crate::app::App;
use crate::error::ApiError;
use crate::extract::Document;

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("retry_document")
        .tag("documents")
        .summary("Does the work of one document again")
}

/// The document, queued again.
pub(crate) async fn retry(
    State(app): State<App>,
    Document(id): Document,
) -> Result<Json<Retried>, ApiError> {
    Ok(Json(
        app.call(call::CATALOG_RETRY, &Retry::Document(id)).await?,
    ))
}
