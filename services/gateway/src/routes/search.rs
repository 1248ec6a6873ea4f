//! `POST /api/v1/search`: the passages that fit a question.

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use shared::contract::subject::call;
use shared::contract::{Question, SearchReply};

use crate::app::App;
use crate::asked::AskedQuestion;
use crate::error::ApiError;
use crate::extract::Body;

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("search")
        .tag("questions")
        .summary("The passages that fit a question")
}

/// Passages, best first.
pub(crate) async fn search(
    State(app): State<App>,
    Body(asked): Body<AskedQuestion>,
) -> Result<Json<SearchReply>, ApiError> {
    let question = Question::from(asked);
    Ok(Json(app.call(call::QUERY_SEARCH, &question).await?))
}
