//! `POST /api/v1/logout`: has the browser forget its session.

use aide::transform::TransformOperation;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::ApiError;

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("logout")
        .tag("access")
        .summary("Has the browser forget its session")
        .response_with::<204, (), _>(|response| response.description("Logged out."))
}

/// 204 with a cookie that ends at once.
pub(crate) async fn logout(State(app): State<App>) -> Result<Response, ApiError> {
    let cookie = app.door.log_out();
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}
