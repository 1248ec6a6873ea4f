//! Errors between services: a closed set of codes with message and remedy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why something failed, for programs. The HTTP status of each is in the gateway, in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request itself is wrong.
    BadRequest,
    /// Nothing has this id.
    NotFound,
    /// The format is not read.
    UnsupportedFormat,
    /// The document has no text that could be read.
    NoText,
    /// The document is damaged.
    Damaged,
    /// The document is locked by a password.
    PasswordNeeded,
    /// The document took more memory, output or time than it may.
    OverLimit,
    /// A larger body than allowed.
    TooLarge,
    /// Work of another pipeline than the stage's own.
    PipelineMismatch,
    /// A message that does not decode.
    BadMessage,
    /// The work was tried too often; the process may have died each time.
    TooManyAttempts,
    /// A service this needs does not answer.
    Unavailable,
    /// Too much at once; try again later.
    Busy,
    /// The time allowed has passed.
    Deadline,
    /// Something broke on our side.
    Internal,
    /// A code of a later version.
    #[serde(other)]
    Unknown,
}

/// An error as told to whoever asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{message}; {remedy}")]
pub struct ErrorBody {
    /// For programs.
    pub code: ErrorCode,
    /// What went wrong, for people; never document text.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl ErrorBody {
    /// An error of `code`.
    pub fn new(code: ErrorCode, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            remedy: remedy.into(),
        }
    }
}

/// The body of every reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reply<T> {
    /// It worked.
    Ok(T),
    /// It did not.
    Error(ErrorBody),
}

impl<T> From<Reply<T>> for Result<T, ErrorBody> {
    fn from(reply: Reply<T>) -> Self {
        match reply {
            Reply::Ok(value) => Ok(value),
            Reply::Error(error) => Err(error),
        }
    }
}

impl<T> From<Result<T, ErrorBody>> for Reply<T> {
    fn from(result: Result<T, ErrorBody>) -> Self {
        match result {
            Ok(value) => Self::Ok(value),
            Err(error) => Self::Error(error),
        }
    }
}
