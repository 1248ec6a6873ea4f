//! `POST /api/v1/retry`: reads one document, all failed or all outdated ones again.

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use shared::contract::subject::call;
use shared::contract::{Retried, Retry};

use crate::app::App;
use crate::error::ApiError;
use crate::extract::Body;

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("retry")
        .tag("documents")
        .summary("Reads one document, all failed or all outdated ones again")
        .description(
            "The body is `\"all_failed\"`, `\"outdated\"` (what an earlier version of the program \
             made), or `{\"document\": id}`.",
        )
}

/// The documents that were queued again.
pub(crate) async fn retry(
    State(app): State<App>,
    Body(which): Body<Retry>,
) -> Result<Json<Retried>, ApiError> {
    Ok(Json(app.slow_call(call::CATALOG_RETRY, &which).await?))
}
