//! Reading requests, with errors in our own words.

use aide::OperationInput;
use aide::generate::GenContext;
use aide::openapi::Operation;
use axum::Json;
use axum::body::Bytes;
use axum::extract::multipart::{Multipart, MultipartRejection};
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use shared::contract::{DocumentId, ErrorCode};
use tokio::time::timeout;

use crate::app::App;
use crate::error::ApiError;
use crate::http_status::Code;

/// Largest JSON body: a question of 8 KiB with the turns before it.
pub const JSON_BYTES: usize = 256 * 1024;

/// What axum puts before the reason; people need the reason.
const AXUM_SAYS: &str = "Failed to deserialize query string: ";

/// Where the shapes of requests are written down.
const SHAPES: &str = "see docs/api.md or `GET /api/v1/openapi.json` for its shape";

/// A JSON body.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        if !is_json(request.headers()) {
            return Err(ApiError::new(
                Code::WrongMediaType,
                "the body is not marked as JSON",
                "send the header `content-type: application/json`",
            ));
        }
        let within = app.deadlines.call;
        let bytes = match timeout(within, Bytes::from_request(request, app)).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(rejection)) => return Err(refuse_body(&rejection)),
            Err(_elapsed) => {
                return Err(ApiError::new(
                    Code::TooSlow,
                    format!("the body was not there within {} s", within.as_secs()),
                    "send it at once",
                ));
            }
        };
        serde_json::from_slice(&bytes).map(Self).map_err(|error| {
            ApiError::bad_request(format!("the body is not understood: {error}"), SHAPES)
        })
    }
}

impl<T: JsonSchema> OperationInput for Body<T> {
    fn operation_input(ctx: &mut GenContext, operation: &mut Operation) {
        Json::<T>::operation_input(ctx, operation);
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn refuse_body(rejection: &BytesRejection) -> ApiError {
    match rejection {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => {
            ApiError::new(
                ErrorCode::TooLarge,
                format!("the body has more than {JSON_BYTES} bytes"),
                "send less; of a conversation, leave out the earlier turns",
            )
        }
        other => ApiError::bad_request(
            format!("the body broke off: {}", other.body_text()),
            "send it again",
        ),
    }
}

/// The query string.
pub struct Params<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(rejection) => {
                let text = rejection.body_text();
                let why = text.strip_prefix(AXUM_SAYS).unwrap_or(&text);
                Err(ApiError::bad_request(
                    format!("the query is not understood: {why}"),
                    SHAPES,
                ))
            }
        }
    }
}

impl<T: JsonSchema> OperationInput for Params<T> {
    fn operation_input(ctx: &mut GenContext, operation: &mut Operation) {
        Query::<T>::operation_input(ctx, operation);
    }
}

/// The document a path names.
pub struct Document(pub DocumentId);

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct DocumentPath {
    /// The document.
    id: DocumentId,
}

impl<S: Send + Sync> FromRequestParts<S> for Document {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let id: String = path(parts, state).await?;
        document(&id).map(Self)
    }
}

impl OperationInput for Document {
    fn operation_input(ctx: &mut GenContext, operation: &mut Operation) {
        Path::<DocumentPath>::operation_input(ctx, operation);
    }
}

/// The document a path names, and a page of it.
pub struct PageOf {
    /// The document.
    pub document: DocumentId,
    /// The page's number, from 1.
    pub number: u32,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct PagePath {
    /// The document.
    id: DocumentId,
    /// The page's number, from 1.
    number: u32,
}

impl<S: Send + Sync> FromRequestParts<S> for PageOf {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let (id, number): (String, String) = path(parts, state).await?;
        let document = document(&id)?;
        let number = number.parse().map_err(|_not_a_number| {
            ApiError::bad_request(
                format!("`{}` is no page number", number.escape_debug()),
                "give a number from 1",
            )
        })?;
        Ok(Self { document, number })
    }
}

impl OperationInput for PageOf {
    fn operation_input(ctx: &mut GenContext, operation: &mut Operation) {
        Path::<PagePath>::operation_input(ctx, operation);
    }
}

async fn path<T, S>(parts: &mut Parts, state: &S) -> Result<T, ApiError>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    match Path::<T>::from_request_parts(parts, state).await {
        Ok(Path(value)) => Ok(value),
        Err(rejection) => Err(ApiError::bad_request(
            format!("the address is not understood: {}", rejection.body_text()),
            "check the address",
        )),
    }
}

fn document(id: &str) -> Result<DocumentId, ApiError> {
    id.parse().map_err(|error| {
        ApiError::bad_request(
            format!("{error}"),
            "take the id from `GET /api/v1/documents` or `ibid list`",
        )
    })
}

/// A multipart form.
pub struct Form(pub Multipart);

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct FormFields {
    /// The next file's path: absolute, or `upload://{collection}/{relative name}`; made of the
    /// file's own name when left out.
    path: Option<String>,
    /// The collection, `default` when left out.
    collection: Option<String>,
    /// `true` to do all work again even if nothing changed.
    force: Option<String>,
    /// When the next file was last written, as RFC 3339 or in milliseconds since 1970: its date for
    /// filters. When left out, that of its admission.
    modified: Option<String>,
    /// The password of the next file, if it is locked. It is kept sealed.
    #[schemars(extend("format" = "password"))]
    password: Option<String>,
    /// The file. More may follow, each with its own `path` and `modified` before it.
    #[schemars(extend("format" = "binary"))]
    file: String,
}

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        Multipart::from_request(request, state)
            .await
            .map(Self)
            .map_err(|_rejection: MultipartRejection| {
                ApiError::bad_request(
                    "the body is no form",
                    "send `multipart/form-data` with a field `file`, as `curl -F file=@PATH` does",
                )
            })
    }
}

impl OperationInput for Form {
    fn operation_input(ctx: &mut GenContext, operation: &mut Operation) {
        crate::openapi::set_form::<FormFields>(ctx, operation);
    }
}
