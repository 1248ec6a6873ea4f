//! Reading requests, with errors in our own words.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use shared::contract::{DocumentId, ErrorCode};

use crate::error::ApiError;
use crate::http_status::Code;

/// Largest JSON body: a question of 8 KiB, escaped, with a filter of some hundred ids.
pub const JSON_BYTES: usize = 64 * 1024;

/// A JSON body.
pub struct Body<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(value)) => Ok(Self(value)),
            Err(rejection) => Err(refuse_json(&rejection)),
        }
    }
}

fn refuse_json(rejection: &JsonRejection) -> ApiError {
    match rejection {
        JsonRejection::MissingJsonContentType(_) => ApiError::new(
            Code::WrongMediaType,
            "the body is not marked as JSON",
            "send the header `content-type: application/json`",
        ),
        JsonRejection::BytesRejection(_) => ApiError::new(
            ErrorCode::TooLarge,
            format!("the body could not be read, or has more than {JSON_BYTES} bytes"),
            "ask a shorter question",
        ),
        other => ApiError::bad_request(
            format!("the body does not decode: {}", other.body_text()),
            "see docs/contracts.md for the request's shape",
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
            Err(rejection) => Err(ApiError::bad_request(
                format!("the query does not decode: {}", rejection.body_text()),
                "see docs/contracts.md for what can be asked",
            )),
        }
    }
}

/// The document a path names.
pub struct Document(pub DocumentId);

impl<S: Send + Sync> FromRequestParts<S> for Document {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let id = match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(id)) => id,
            Err(rejection) => {
                return Err(ApiError::bad_request(
                    rejection.body_text(),
                    "check the address",
                ));
            }
        };
        id.parse().map(Self).map_err(|error| {
            ApiError::bad_request(
                format!("{error}"),
                "take the id from `GET /api/v1/documents` or `ibid list`",
            )
        })
    }
}
