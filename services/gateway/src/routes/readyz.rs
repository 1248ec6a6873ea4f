//! `GET /readyz`: the services behind the gateway answer.

use std::time::Duration;

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use shared::contract::CatalogStatus;
use shared::contract::subject::call;

use crate::app::App;
use crate::error::ApiError;
use crate::openapi;

/// A probe is asked often and must fail soon.
const WITHIN: Duration = Duration::from_secs(2);

/// Says that documents can be taken in and asked.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Ready {
    /// Always `true`; an error says why not.
    ready: bool,
    /// The catalog's change sequence.
    sequence: u64,
}

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    openapi::open(operation)
        .id("readyz")
        .tag("state")
        .summary("Whether documents can be taken in and asked")
}

/// 200 once the catalog answers, else its error.
pub(crate) async fn readyz(State(app): State<App>) -> Result<Json<Ready>, ApiError> {
    let status: CatalogStatus = app.bus.call(call::CATALOG_STATUS, &(), WITHIN).await?;
    Ok(Json(Ready {
        ready: true,
        sequence: status.sequence,
    }))
}
