//! `GET /api/v1/dump?after=`: everything visible, page by page, for export and for tests.

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;
use shared::contract::subject::call;
use shared::contract::{DumpPage, DumpRequest};

use crate::app::App;
use crate::error::ApiError;
use crate::extract::Params;

/// Where to go on.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "WhichRows")]
pub(crate) struct Wanted {
    /// Only rows after this cursor: `next` of the answer before.
    after: Option<String>,
}

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("dump")
        .tag("state")
        .summary("Everything visible, page by page")
}

/// The rows after the cursor.
pub(crate) async fn dump(
    State(app): State<App>,
    Params(wanted): Params<Wanted>,
) -> Result<Json<DumpPage>, ApiError> {
    let request = DumpRequest {
        after: wanted.after,
    };
    Ok(Json(app.slow_call(call::CATALOG_DUMP, &request).await?))
}
