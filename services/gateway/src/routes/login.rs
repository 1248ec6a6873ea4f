//! `POST /api/v1/login`: the token for a cookie, so that the page need not keep it.

use aide::transform::TransformOperation;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::asked::Login;
use crate::error::ApiError;
use crate::extract::Body;
use crate::openapi;

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    openapi::open(operation)
        .id("login")
        .tag("access")
        .summary("The token for a cookie")
        .description("Where no token is needed, any is taken and no cookie is set.")
        .response_with::<204, (), _>(|response| {
            response.description("Logged in; `Set-Cookie` has the session, which holds 30 days.")
        })
}

/// 204 with the cookie of a new session.
pub(crate) async fn login(
    State(app): State<App>,
    Body(login): Body<Login>,
) -> Result<Response, ApiError> {
    let done = StatusCode::NO_CONTENT;
    Ok(match app.door.log_in(login.token.reveal()).await? {
        Some(cookie) => (done, [(header::SET_COOKIE, cookie)]).into_response(),
        None => done.into_response(),
    })
}
