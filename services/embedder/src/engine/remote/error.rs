//! Why a server gives no vectors.

use std::time::Duration;

use shared::contract::{ErrorBody, ErrorCode};

/// Why a server gives no vectors. The text never has anything of a document in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// It has not been asked yet.
    #[error("{server} at {url} has not answered yet")]
    Starting {
        /// `Ollama`, or what else it is.
        server: &'static str,
        /// Its address.
        url: String,
    },
    /// It does not answer.
    #[error("could not reach {server} at {url}")]
    Unreachable {
        /// Who.
        server: &'static str,
        /// Its address.
        url: String,
        /// How to start it.
        remedy: String,
    },
    /// There is no such model.
    #[error("model `{model}` not found")]
    NoModel {
        /// As set.
        model: String,
        /// How to get it.
        remedy: String,
    },
    /// The model is not made for this.
    #[error("model `{model}` makes no vectors")]
    NoVectors {
        /// As set.
        model: String,
    },
    /// The model would send the documents elsewhere.
    #[error("model `{model}` runs on another machine (`{host}`); nothing was sent")]
    Remote {
        /// As set.
        model: String,
        /// Where it runs.
        host: String,
    },
    /// It asks for a key, or for another one.
    #[error("{server} does not accept the key")]
    Key {
        /// Who.
        server: &'static str,
    },
    /// It has enough to do.
    #[error("{server} is busy")]
    Busy {
        /// Who.
        server: &'static str,
    },
    /// The vectors are of another model than before.
    #[error("model `{model}` gives vectors of {found} dimensions where it gave {wanted}")]
    Dimension {
        /// As set.
        model: String,
        /// What came.
        found: usize,
        /// What came first.
        wanted: usize,
    },
    /// The vectors are too long for the bus.
    #[error("model `{model}` gives vectors of {found} dimensions but {most} are the most")]
    TooManyDimensions {
        /// As set.
        model: String,
        /// What came.
        found: usize,
        /// What goes.
        most: usize,
    },
    /// It was silent for too long.
    #[error("{server} was silent for {} seconds", .pause.as_secs_f32())]
    Silent {
        /// Who.
        server: &'static str,
        /// How long it was waited for.
        pause: Duration,
    },
    /// The connection ended too early.
    #[error("{server} ended the connection")]
    Broken {
        /// Who.
        server: &'static str,
    },
    /// It failed.
    #[error("{server} answered with status {status}{}", said(.words))]
    Failed {
        /// Who.
        server: &'static str,
        /// The HTTP status.
        status: u16,
        /// Its own words, where they cannot have text of a document in them.
        words: String,
    },
    /// It does not take a text.
    #[error("{server} refused a text with status {status}{}", said(.words))]
    Refused {
        /// Who.
        server: &'static str,
        /// The HTTP status.
        status: u16,
        /// As in [`ServerError::Failed`].
        words: String,
    },
    /// A text is longer than the model reads.
    #[error("a text is too long for model `{model}`")]
    TooLong {
        /// As set.
        model: String,
    },
    /// Its answer is against the protocol.
    #[error("the answer of {server} is not understood: {reason}")]
    Strange {
        /// Who.
        server: &'static str,
        /// Why not.
        reason: String,
    },
}

fn said(words: &str) -> String {
    if words.is_empty() {
        String::new()
    } else {
        format!(": {words}")
    }
}

impl ServerError {
    /// Whether nothing can be embedded until something changes at the server. Work waits for it.
    pub(super) fn is_away(&self) -> bool {
        match self {
            Self::Starting { .. }
            | Self::Unreachable { .. }
            | Self::NoModel { .. }
            | Self::NoVectors { .. }
            | Self::Remote { .. }
            | Self::Key { .. }
            | Self::Busy { .. }
            | Self::Dimension { .. }
            | Self::TooManyDimensions { .. } => true,
            Self::Silent { .. }
            | Self::Broken { .. }
            | Self::Failed { .. }
            | Self::Refused { .. }
            | Self::TooLong { .. }
            | Self::Strange { .. } => false,
        }
    }

    /// Whether the server should be looked at before more is sent. Some of this may be a text's
    /// doing, so the work that met it is tried again a limited number of times.
    pub(super) fn is_doubtful(&self) -> bool {
        matches!(
            self,
            Self::Silent { .. } | Self::Broken { .. } | Self::Failed { .. }
        )
    }

    /// Whether one of the texts is at fault.
    pub(crate) fn blames_a_text(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::TooLong { .. })
    }

    fn code(&self) -> ErrorCode {
        match self {
            Self::NoModel { .. } => ErrorCode::NotFound,
            Self::NoVectors { .. }
            | Self::Remote { .. }
            | Self::Refused { .. }
            | Self::TooLong { .. } => ErrorCode::BadRequest,
            Self::Busy { .. } => ErrorCode::Busy,
            Self::Dimension { .. } | Self::TooManyDimensions { .. } => ErrorCode::PipelineMismatch,
            Self::Silent { .. } => ErrorCode::Deadline,
            Self::Starting { .. }
            | Self::Unreachable { .. }
            | Self::Key { .. }
            | Self::Broken { .. }
            | Self::Failed { .. }
            | Self::Strange { .. } => ErrorCode::Unavailable,
        }
    }

    /// What to do about it.
    pub(super) fn remedy(&self) -> &str {
        match self {
            Self::Unreachable { remedy, .. } | Self::NoModel { remedy, .. } => remedy,
            Self::Starting { .. } => "wait a moment",
            Self::NoVectors { .. } => {
                "set `model.name` to an embedding model, such as `nomic-embed-text`"
            }
            Self::Remote { .. } => "set `model.name` to a model that runs on this machine",
            Self::Key { .. } => "set `model.key` to the server's key",
            Self::Busy { .. } => "wait a moment; other programs may use it",
            Self::Dimension { .. } => {
                "put the earlier model back, or give the new one a name of its own and set \
                 `model.name` to it"
            }
            Self::TooManyDimensions { .. } => "set `model.name` to a smaller model",
            Self::Silent { .. }
            | Self::Broken { .. }
            | Self::Failed { .. }
            | Self::Refused { .. }
            | Self::Strange { .. } => "see the server's own log",
            Self::TooLong { .. } => "lower `model.window_tokens`",
        }
    }
}

impl From<ServerError> for ErrorBody {
    fn from(error: ServerError) -> Self {
        Self::new(error.code(), error.to_string(), error.remedy())
    }
}
