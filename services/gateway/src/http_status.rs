//! The HTTP status of every error code, in one place.

use std::borrow::Cow;

use axum::http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use shared::contract::ErrorCode;

/// Why a request failed: a code of the contract, or a refusal that only HTTP knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// A code of the contract.
    Contract(ErrorCode),
    /// The `Host` header names another host than this one.
    ForeignHost,
    /// The request comes from a page of another origin.
    ForeignOrigin,
    /// No route has this path.
    NoSuchRoute,
    /// The route has no such method.
    WrongMethod,
    /// The body is not JSON by its content type.
    WrongMediaType,
    /// Neither the token nor a session of its holder.
    Unauthorized,
    /// The body came too slowly.
    TooSlow,
    /// No such bytes in the file.
    NoSuchRange,
}

impl From<ErrorCode> for Code {
    fn from(code: ErrorCode) -> Self {
        Self::Contract(code)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Contract(code) => code.serialize(serializer),
            Self::ForeignHost => serializer.serialize_str("foreign_host"),
            Self::ForeignOrigin => serializer.serialize_str("foreign_origin"),
            Self::NoSuchRoute => serializer.serialize_str("no_such_route"),
            Self::WrongMethod => serializer.serialize_str("wrong_method"),
            Self::WrongMediaType => serializer.serialize_str("wrong_media_type"),
            Self::Unauthorized => serializer.serialize_str("unauthorized"),
            Self::TooSlow => serializer.serialize_str("too_slow"),
            Self::NoSuchRange => serializer.serialize_str("no_such_range"),
        }
    }
}

impl JsonSchema for Code {
    fn schema_name() -> Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Why a request failed, for programs.",
            "type": "string",
            "enum": Self::ALL,
        })
    }
}

impl Code {
    /// All of them.
    pub const ALL: [Self; 24] = [
        Self::Contract(ErrorCode::BadRequest),
        Self::Contract(ErrorCode::NotFound),
        Self::Contract(ErrorCode::UnsupportedFormat),
        Self::Contract(ErrorCode::NoText),
        Self::Contract(ErrorCode::Damaged),
        Self::Contract(ErrorCode::PasswordNeeded),
        Self::Contract(ErrorCode::OverLimit),
        Self::Contract(ErrorCode::TooLarge),
        Self::Contract(ErrorCode::PipelineMismatch),
        Self::Contract(ErrorCode::BadMessage),
        Self::Contract(ErrorCode::TooManyAttempts),
        Self::Contract(ErrorCode::Unavailable),
        Self::Contract(ErrorCode::Busy),
        Self::Contract(ErrorCode::Deadline),
        Self::Contract(ErrorCode::Internal),
        Self::Contract(ErrorCode::Unknown),
        Self::ForeignHost,
        Self::ForeignOrigin,
        Self::NoSuchRoute,
        Self::WrongMethod,
        Self::WrongMediaType,
        Self::Unauthorized,
        Self::TooSlow,
        Self::NoSuchRange,
    ];

    /// The status of a response with this code.
    pub fn status(self) -> StatusCode {
        match self {
            Self::Contract(code) => of_contract(code),
            Self::ForeignHost => StatusCode::MISDIRECTED_REQUEST,
            Self::ForeignOrigin => StatusCode::FORBIDDEN,
            Self::NoSuchRoute => StatusCode::NOT_FOUND,
            Self::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::WrongMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::NoSuchRange => StatusCode::RANGE_NOT_SATISFIABLE,
        }
    }

    /// Seconds after which trying again makes sense, for the `Retry-After` header.
    pub fn retry_after(self) -> Option<u32> {
        match self {
            Self::Contract(ErrorCode::Busy) => Some(1),
            Self::Contract(ErrorCode::Unavailable) => Some(2),
            _ => None,
        }
    }

    /// Whether the cause is on our side and belongs into the log.
    pub fn is_ours(self) -> bool {
        self.status().is_server_error()
    }
}

fn of_contract(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::BadRequest => StatusCode::BAD_REQUEST,
        ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::UnsupportedFormat => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorCode::NoText
        | ErrorCode::Damaged
        | ErrorCode::PasswordNeeded
        | ErrorCode::OverLimit => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::PipelineMismatch | ErrorCode::TooManyAttempts => StatusCode::CONFLICT,
        ErrorCode::BadMessage => StatusCode::BAD_GATEWAY,
        ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::Busy => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::Deadline => StatusCode::GATEWAY_TIMEOUT,
        ErrorCode::Internal | ErrorCode::Unknown => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_status_and_name() {
        let expect = [
            (400, "bad_request", None),
            (404, "not_found", None),
            (415, "unsupported_format", None),
            (422, "no_text", None),
            (422, "damaged", None),
            (422, "password_needed", None),
            (422, "over_limit", None),
            (413, "too_large", None),
            (409, "pipeline_mismatch", None),
            (502, "bad_message", None),
            (409, "too_many_attempts", None),
            (503, "unavailable", Some(2)),
            (429, "busy", Some(1)),
            (504, "deadline", None),
            (500, "internal", None),
            (500, "unknown", None),
            (421, "foreign_host", None),
            (403, "foreign_origin", None),
            (404, "no_such_route", None),
            (405, "wrong_method", None),
            (415, "wrong_media_type", None),
            (401, "unauthorized", None),
            (408, "too_slow", None),
            (416, "no_such_range", None),
        ];
        for (code, (status, name, retry_after)) in Code::ALL.into_iter().zip(expect) {
            assert_eq!(code.status().as_u16(), status, "{name}");
            assert_eq!(serde_json::to_value(code).unwrap(), name);
            assert_eq!(code.retry_after(), retry_after, "{name}");
        }
    }
}
