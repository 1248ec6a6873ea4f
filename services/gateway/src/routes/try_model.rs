//! `POST /api/v1/models/try`: has a language model make one token.

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use shared::contract::GeneratorTried;
use shared::contract::subject::call;

use crate::app::App;
use crate::asked::TryModel;
use crate::error::ApiError;
use crate::extract::Body;

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("try_model")
        .tag("questions")
        .summary("Has a language model make one token")
        .description("A model that is not in memory is loaded first, which takes its time.")
}

/// How long its first token took.
pub(crate) async fn try_model(
    State(app): State<App>,
    Body(model): Body<TryModel>,
) -> Result<Json<GeneratorTried>, ApiError> {
    let within = app.deadlines.try_call;
    Ok(Json(
        app.bus.call(call::QUERY_TRY, &model.id, within).await?,
    ))
}
