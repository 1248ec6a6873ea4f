//! `GET /` and `GET /assets/{name}`: the page.

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use shared::contract::ErrorCode;

use crate::error::ApiError;
use crate::page::{self, Asset, find};

/// The page.
pub(crate) async fn index() -> Response {
    send(page::index())
}

/// A file of the page.
pub(crate) async fn asset(Path(name): Path<String>) -> Result<Response, ApiError> {
    find(&name)
        .map(send)
        .ok_or_else(|| ApiError::new(ErrorCode::NotFound, "the page has no such file", "open `/`"))
}

fn send(asset: Asset) -> Response {
    // A new version of the program must not meet an old one's script.
    let headers = [
        (header::CONTENT_TYPE, asset.media_type),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, asset.text).into_response()
}
