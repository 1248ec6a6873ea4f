//! The HTTP status of every error code, in one place.

use axum::http::StatusCode;
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
        }
    }
}

impl Code {
    /// The status of a response with this code.
    pub fn status(self) -> StatusCode {
        match self {
            Self::Contract(code) => of_contract(code),
            Self::ForeignHost => StatusCode::MISDIRECTED_REQUEST,
            Self::ForeignOrigin => StatusCode::FORBIDDEN,
            Self::NoSuchRoute => StatusCode::NOT_FOUND,
            Self::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::WrongMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
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

    #[track_caller]
    fn check(code: impl Into<Code>, status: u16, name: &str, retry_after: Option<u32>) {
        let code = code.into();
        assert_eq!(code.status().as_u16(), status, "{name}");
        assert_eq!(serde_json::to_value(code).unwrap(), name);
        assert_eq!(code.retry_after(), retry_after, "{name}");
    }

    #[test]
    fn every_code_has_its_status_and_name() {
        check(ErrorCode::BadRequest, 400, "bad_request", None);
        check(ErrorCode::NotFound, 404, "not_found", None);
        check(
            ErrorCode::UnsupportedFormat,
            415,
            "unsupported_format",
            None,
        );
        check(ErrorCode::NoText, 422, "no_text", None);
        check(ErrorCode::Damaged, 422, "damaged", None);
        check(ErrorCode::PasswordNeeded, 422, "password_needed", None);
        check(ErrorCode::OverLimit, 422, "over_limit", None);
        check(ErrorCode::TooLarge, 413, "too_large", None);
        check(ErrorCode::PipelineMismatch, 409, "pipeline_mismatch", None);
        check(ErrorCode::TooManyAttempts, 409, "too_many_attempts", None);
        check(ErrorCode::BadMessage, 502, "bad_message", None);
        check(ErrorCode::Unavailable, 503, "unavailable", Some(2));
        check(ErrorCode::Busy, 429, "busy", Some(1));
        check(ErrorCode::Deadline, 504, "deadline", None);
        check(ErrorCode::Internal, 500, "internal", None);
        check(ErrorCode::Unknown, 500, "unknown", None);
        check(Code::ForeignHost, 421, "foreign_host", None);
        check(Code::ForeignOrigin, 403, "foreign_origin", None);
        check(Code::NoSuchRoute, 404, "no_such_route", None);
        check(Code::WrongMethod, 405, "wrong_method", None);
        check(Code::WrongMediaType, 415, "wrong_media_type", None);
    }
}
