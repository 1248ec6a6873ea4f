//! What can go wrong: at the start, and with a request.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use shared::blobs::BlobError;
use shared::contract::{ErrorBody, ErrorCode};

use crate::http_status::Code;

/// Why the gateway does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An address that others can reach.
    #[error(
        "`gateway.address` is `{address}`, which other machines can reach, and there is no login; \
         set it to `127.0.0.1`"
    )]
    NotLoopback {
        /// As set.
        address: IpAddr,
    },
    /// The port cannot be listened on.
    #[error(
        "cannot listen on `{address}`; end the program that uses the port, or set `gateway.port` \
         (`IBID_GATEWAY__PORT`) to another, or to 0 for any"
    )]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The port could not be told.
    #[error("cannot write `{}`; check that the data folder can be written", .path.display())]
    PortFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// What a killed gateway left cannot be removed.
    #[error("cannot clear `{}`; check that the data folder can be written", .path.display())]
    Sweep {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is no room for uploads.
    #[error("no folder for uploads")]
    Staging(#[from] BlobError),
}

/// A request that failed. As a response it has status and headers only; [`crate::report`] writes
/// the body, because only there the trace id is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// For programs.
    pub code: Code,
    /// What went wrong, for people.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
    /// What the log should know and the caller need not.
    pub cause: Option<String>,
}

impl ApiError {
    /// An error with all that the caller is told.
    pub fn new(
        code: impl Into<Code>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            remedy: remedy.into(),
            cause: None,
        }
    }

    /// A request that is wrong in itself.
    pub fn bad_request(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(ErrorCode::BadRequest, message, remedy)
    }

    /// Something that broke on our side; the cause goes to the log only.
    pub fn internal(
        message: impl Into<String>,
        remedy: impl Into<String>,
        cause: &(dyn std::error::Error + 'static),
    ) -> Self {
        Self {
            cause: Some(chain(cause)),
            ..Self::new(ErrorCode::Internal, message, remedy)
        }
    }
}

/// An error and its causes in one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

impl From<ErrorBody> for ApiError {
    fn from(error: ErrorBody) -> Self {
        Self::new(error.code, error.message, error.remedy)
    }
}

impl From<BlobError> for ApiError {
    fn from(error: BlobError) -> Self {
        Self::internal(
            "the original could not be stored",
            "check that the disk of the data folder has space, then add the document again",
            &error,
        )
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        if let Some(seconds) = self.code.retry_after() {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(self);
        response
    }
}
