//! `GET /api/v1/openapi.json`: this API, described for programs.

use aide::transform::TransformOperation;
use axum::Extension;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use crate::error::ApiError;
use crate::openapi::Description;

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("openapi")
        .tag("state")
        .summary("This API, described in OpenAPI 3.1")
        .response::<200, axum::Json<Value>>()
        .default_response::<ApiError>()
}

/// The description.
pub(crate) async fn openapi(Extension(description): Extension<Description>) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, description.0).into_response()
}
