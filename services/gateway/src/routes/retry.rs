//! `POST /api/v1/retry`: does the work of one or of all failed documents again.

use axum::Json;
use axum::extract::State;
use shared::contract::subject::call;
use shared::contract::{Retried, Retry};

use crate::app::App;
use crate::error::ApiError;
use crate::extract::Body;

/// The documents that were queued again.
pub(crate) async fn retry(
    State(app): State<App>,
    Body(which): Body<Retry>,
) -> Result<Json<Retried>, ApiError> {
    Ok(Json(app.slow_call(call::CATALOG_RETRY, &which).await?))
}
