//! `GET /api/v1/fsck`: whether all stores agree.

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use shared::contract::FsckReport;
use shared::contract::subject::call;

use crate::app::App;
use crate::error::ApiError;

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("fsck")
        .tag("state")
        .summary("Whether all stores agree")
}

/// The report; reading everything takes its time.
pub(crate) async fn fsck(State(app): State<App>) -> Result<Json<FsckReport>, ApiError> {
    Ok(Json(app.slow_call(call::CATALOG_FSCK, &()).await?))
}
