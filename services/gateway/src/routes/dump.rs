//! `GET /api/v1/dump?after=`: everything visible, page by page, for export and for tests.

use axum::Json;
use axum::extract::State;
use shared::contract::subject::call;
use shared::contract::{DumpPage, DumpRequest};

use crate::app::App;
use crate::error::ApiError;
use crate::extract::Params;

/// The rows after the cursor.
pub(crate) async fn dump(
    State(app): State<App>,
    Params(request): Params<DumpRequest>,
) -> Result<Json<DumpPage>, ApiError> {
    Ok(Json(app.slow_call(call::CATALOG_DUMP, &request).await?))
}
