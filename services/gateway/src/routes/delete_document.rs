//! `DELETE /api/v1/documents/{id}`: removes a document and gives the receipt.

use axum::Json;
use axum::extract::State;
use shared::contract::DeletionReceipt;
use shared::contract::subject::call;

use crate::app::App;
use crate::error::ApiError;
use crate::extract::Document;

/// The receipt; every store is purged first, which takes its time.
pub(crate) async fn delete(
    State(app): State<App>,
    Document(id): Document,
) -> Result<Json<DeletionReceipt>, ApiError> {
    Ok(Json(app.slow_call(call::CATALOG_DELETE, &id).await?))
}
