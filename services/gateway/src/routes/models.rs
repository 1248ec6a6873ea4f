//! `GET /api/v1/models`: which language models may answer.

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use shared::contract::GeneratorList;
use shared::contract::subject::call;

use crate::app::App;
use crate::error::ApiError;

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("list_models")
        .tag("questions")
        .summary("Which language models may answer")
}

/// All models, the default one first.
pub(crate) async fn list(State(app): State<App>) -> Result<Json<GeneratorList>, ApiError> {
    Ok(Json(app.call(call::QUERY_GENERATORS, &()).await?))
}
