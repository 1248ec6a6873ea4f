//! `GET /api/v1/documents/{id}/original`: the file as it was added.
//!
//! It is saved, never shown: an HTML file that this server showed could speak to the API as the
//! page does. No cache keeps it, so that a deleted document is gone.

use std::io::{ErrorKind, SeekFrom};

use aide::transform::TransformOperation;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use shared::blobs::original_key;
use shared::contract::subject::call;
use shared::contract::{DocumentView, ErrorCode};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio_util::io::ReaderStream;

use crate::app::App;
use crate::disposition::attachment;
use crate::error::ApiError;
use crate::extract::Document;
use crate::http_status::Code;
use crate::openapi::FileBytes;
use crate::range::Wanted;

/// Bytes read at once.
const PIECE: usize = 64 * 1024;

/// Whoever shows it nonetheless gives it no rights.
const POLICY: &str = "default-src 'none'; sandbox";

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("get_original")
        .tag("documents")
        .summary("The file as it was added")
        .description(
            "To be saved, not shown. One range of bytes may be asked for with the header `Range`.",
        )
        .response::<200, FileBytes>()
        .response_with::<206, FileBytes, _>(|response| {
            response.description("The bytes that `Range` asked for.")
        })
}

/// The bytes, streamed.
pub(crate) async fn get(
    State(app): State<App>,
    Document(id): Document,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let view: DocumentView = app.call(call::CATALOG_GET, &id).await?;
    let path = app.blobs.local_path(&original_key(&view.content));
    let (file, length) = match open(path).await {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(ApiError::new(
                ErrorCode::NotFound,
                format!("the original of `{}` is gone", view.name),
                "run `ibid fsck`, unless the document was deleted just now",
            ));
        }
        Err(error) => return Err(unreadable(&error)),
    };
    let tag = format!("\"{}\"", view.content);
    match wanted(&headers, &tag, length) {
        Wanted::Nothing => Ok(no_such_range(length)),
        Wanted::Whole => send(file, &view, &tag, None, length).await,
        Wanted::Part { first, last } => send(file, &view, &tag, Some((first, last)), length).await,
    }
}

async fn open(path: std::path::PathBuf) -> std::io::Result<(File, u64)> {
    let file = File::open(path).await?;
    let length = file.metadata().await?.len();
    Ok((file, length))
}

/// The range, unless it is meant for another version of the file.
fn wanted(headers: &HeaderMap, tag: &str, length: u64) -> Wanted {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if text(header::IF_RANGE).is_some_and(|version| version != tag) {
        return Wanted::Whole;
    }
    Wanted::of(text(header::RANGE), length)
}

async fn send(
    mut file: File,
    view: &DocumentView,
    tag: &str,
    part: Option<(u64, u64)>,
    length: u64,
) -> Result<Response, ApiError> {
    let (first, bytes) = match part {
        Some((first, last)) => (first, last - first + 1),
        None => (0, length),
    };
    if first > 0 {
        file.seek(SeekFrom::Start(first))
            .await
            .map_err(|error| unreadable(&error))?;
    }
    let body = Body::from_stream(ReaderStream::with_capacity(file.take(bytes), PIECE));
    let mut response = body.into_response();
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    set(header::CONTENT_TYPE, "application/octet-stream");
    set(header::CONTENT_DISPOSITION, &attachment(&view.name));
    set(header::CONTENT_LENGTH, &bytes.to_string());
    set(header::ACCEPT_RANGES, "bytes");
    set(header::ETAG, tag);
    set(header::CACHE_CONTROL, "no-store");
    set(header::CONTENT_SECURITY_POLICY, POLICY);
    if let Some((first, last)) = part {
        set(
            header::CONTENT_RANGE,
            &format!("bytes {first}-{last}/{length}"),
        );
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    Ok(response)
}

fn no_such_range(length: u64) -> Response {
    let error = ApiError::new(
        Code::NoSuchRange,
        format!("the file has {length} bytes and none of those asked for"),
        "ask for others, or leave out the header `Range`",
    );
    let mut response = error.into_response();
    if let Ok(value) = HeaderValue::from_str(&format!("bytes */{length}")) {
        response.headers_mut().insert(header::CONTENT_RANGE, value);
    }
    response
}

fn unreadable(error: &std::io::Error) -> ApiError {
    ApiError::internal(
        "the original could not be read",
        "check the rights on the data folder",
        error,
    )
}
