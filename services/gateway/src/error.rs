//! What can go wrong: at the start, and with a request.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use aide::OperationOutput;
use aide::generate::GenContext;
use aide::openapi::{Operation, Response as ApiResponse, StatusCode as OpenApiStatus};
use axum::Json;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use shared::blobs::BlobError;
use shared::contract::{ErrorBody, ErrorCode};

use crate::http_status::Code;
use crate::report::ErrorReply;

/// Why the gateway does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A token that could be guessed.
    #[error(
        "the token of {origin} could be guessed; give it at least {least} characters, none of them \
         a space, or leave it out"
    )]
    WeakToken {
        /// The setting or file it stands in.
        origin: String,
        /// Characters it needs.
        least: usize,
    },
    /// A limit under which no file is taken in.
    #[error("`gateway.max_upload_mib` is 0, so that no file would be taken in; use 1 or more")]
    NoUploads,
    /// The token file cannot be made or read.
    #[error("cannot use `{}`; check that the data folder can be written", .path.display())]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The token file can be read by others.
    #[error("others can read `{0}` (mode {mode:o}); run: chmod 600 {0}", .path.display())]
    TokenFileOpen {
        /// The file.
        path: PathBuf,
        /// Its rights.
        mode: u32,
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
            "the data folder could not be read or written",
            "check the space and the rights on its disk, then try again",
            &error,
        )
    }
}

impl OperationOutput for ApiError {
    type Inner = ErrorReply;

    fn operation_response(ctx: &mut GenContext, operation: &mut Operation) -> Option<ApiResponse> {
        let mut response = Json::<ErrorReply>::operation_response(ctx, operation)?;
        "An error. With 429 and 503 the header `Retry-After` says how many seconds to wait."
            .clone_into(&mut response.description);
        Some(response)
    }

    fn inferred_responses(
        ctx: &mut GenContext,
        operation: &mut Operation,
    ) -> Vec<(Option<OpenApiStatus>, ApiResponse)> {
        let response = Self::operation_response(ctx, operation);
        response
            .map(|response| (None, response))
            .into_iter()
            .collect()
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
        if self.code == Code::Unauthorized {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self);
        response
    }
}
