//! `DELETE /api/v1/documents/{id}`: removes a document and gives the receipt.

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use shared::contract::DeletionReceipt;
use shared::contract::subject::call;

use crate::app::App;
use crate::error::ApiError;
use crate::extract::Document;

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("delete_document")
        .tag("documents")
        .summary("Removes a document and gives the receipt")
        .description("When each store no longer shows it, and when it no longer holds it.")
}

/// The receipt; every store is purged first, which takes its time.
pub(crate) async fn delete(
    State(app): State<App>,
    Document(id): Document,
) -> Result<Json<DeletionReceipt>, ApiError> {
    Ok(Json(app.slow_call(call::CATALOG_DELETE, &id).await?))
}
