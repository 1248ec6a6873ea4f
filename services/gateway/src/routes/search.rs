//! `POST /api/v1/search`: the passages that fit a question.

use axum::Json;
use axum::extract::State;
use shared::contract::subject::call;
use shared::contract::{Question, SearchReply};

use crate::app::App;
use crate::error::ApiError;
use crate::extract::Body;

/// Passages, best first.
pub(crate) async fn search(
    State(app): State<App>,
    Body(question): Body<Question>,
) -> Result<Json<SearchReply>, ApiError> {
    Ok(Json(app.call(call::QUERY_SEARCH, &question).await?))
}
