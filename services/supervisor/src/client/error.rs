//! Why the gateway did not give what was asked.

use shared::contract::{ErrorBody, ErrorCode};
use shared::settings::variable;

use super::find::URL;
use crate::error::Complaint;

/// Why the gateway did not give what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// It does not answer.
    #[error("the gateway does not answer")]
    Unreachable(#[source] reqwest::Error),
    /// The Ibid it belonged to has ended.
    #[error("Ibid has ended")]
    Ended,
    /// It asks for a token, and ours is missing or another.
    #[error("the gateway asks for a token")]
    Token,
    /// It answered with an error.
    #[error("{0}")]
    Said(ErrorBody),
    /// It answered something else than it should.
    #[error("the gateway's answer is not understood: {0}")]
    Strange(String),
    /// The file to send cannot be read.
    #[error("cannot read the file: {0}")]
    File(std::io::Error),
}

impl ClientError {
    /// Whether the same request may work a little later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Said(error) => {
                matches!(
                    error.code,
                    ErrorCode::Busy | ErrorCode::Unavailable | ErrorCode::Deadline
                )
            }
            Self::Ended | Self::Token | Self::Strange(_) | Self::File(_) => false,
        }
    }

    /// The error as told by the gateway, or in its manner.
    pub fn into_body(self) -> ErrorBody {
        match self {
            Self::Said(error) => error,
            Self::Unreachable(error) => unreachable(&error),
            Self::Ended => ErrorBody::new(
                ErrorCode::Unavailable,
                "Ibid has ended",
                "start it again with `ibid up`; what was handed over goes on by itself then",
            ),
            Self::Token => ErrorBody::new(
                ErrorCode::BadRequest,
                "the gateway asks for a token, and the one given is missing or another",
                "set IBID_TOKEN to its token; `ibid link`, run where the gateway runs, shows it",
            ),
            Self::Strange(answer) => ErrorBody::new(
                ErrorCode::Internal,
                format!("the gateway's answer is not understood: {answer}"),
                "use the same version of `ibid` for `up` and for this command",
            ),
            Self::File(error) => ErrorBody::new(
                ErrorCode::BadRequest,
                format!("cannot be read: {error}"),
                "check the file and its permissions",
            ),
        }
    }
}

/// Who does not answer, and since when.
fn unreachable(error: &reqwest::Error) -> ErrorBody {
    let at = error.url().map(|url| url.origin().ascii_serialization());
    let at = at.map(|at| format!(" at `{at}`")).unwrap_or_default();
    let what = if error.is_connect() {
        format!("the gateway does not answer{at}")
    } else if error.is_timeout() {
        format!("the gateway did not answer in time{at}")
    } else {
        format!("the connection to the gateway{at} broke off")
    };
    let remedy = match variable(URL) {
        Some(_) => "check that Ibid runs there, or correct IBID_URL",
        None => "try again in a moment; see the log of `ibid up`, or start it again",
    };
    ErrorBody::new(ErrorCode::Unavailable, what, remedy)
}

impl From<ClientError> for Complaint {
    fn from(error: ClientError) -> Self {
        error.into_body().into()
    }
}
