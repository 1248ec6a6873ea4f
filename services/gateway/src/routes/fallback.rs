//! What no route takes.

use axum::http::{Method, Uri};

use crate::error::ApiError;
use crate::http_status::Code;

/// A path that means nothing.
pub(crate) async fn no_such_route(uri: Uri) -> ApiError {
    ApiError::new(
        Code::NoSuchRoute,
        format!("nothing is at `{}`", uri.path()),
        "open `/`, or see docs/api.md for the API",
    )
}

/// A method the path does not have.
pub(crate) async fn wrong_method(method: Method, uri: Uri) -> ApiError {
    ApiError::new(
        Code::WrongMethod,
        format!("`{}` has no method {method}", uri.path()),
        "see docs/api.md for the API",
    )
}
