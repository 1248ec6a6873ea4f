//! A deadline on every request that is neither a stream nor an upload.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use shared::contract::ErrorCode;

use crate::error::ApiError;

/// The layer that gives a request so long. Its calls have deadlines of their own, which say more;
/// this one holds for whatever they leave out.
pub async fn within(State(limit): State<Duration>, request: Request, next: Next) -> Response {
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_elapsed) => ApiError::new(
            ErrorCode::Deadline,
            format!("the request was not answered within {} s", limit.as_secs()),
            "try again; `ibid status` shows how busy the services are",
        )
        .into_response(),
    }
}
