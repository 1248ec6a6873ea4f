//! Why no answer is written.

use std::time::Duration;

use shared::contract::{ErrorBody, ErrorCode};
use shared::http::HttpError;

/// Why a generator does not answer, or stopped. The text never has anything of a document or a
/// prompt in it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GenerateError {
    /// The settings do not allow the server.
    #[error(transparent)]
    Server(#[from] HttpError),
    /// The server does not answer.
    #[error("could not reach {server} at {url}")]
    Unreachable {
        /// `Ollama`, or what the settings name.
        server: &'static str,
        /// Its address.
        url: String,
        /// How to start it.
        remedy: String,
    },
    /// A provider that has no address.
    #[error("`{provider}` is not set up")]
    NotSet {
        /// Its name.
        provider: &'static str,
    },
    /// There is no such model.
    #[error("model `{model}` not found")]
    NoModel {
        /// As asked for.
        model: String,
        /// How to get it.
        remedy: String,
    },
    /// The provider has no model at all.
    #[error("{server} has no model that can answer")]
    NoModels {
        /// The provider.
        server: &'static str,
        /// How to get one.
        remedy: String,
    },
    /// The model would send the documents elsewhere.
    #[error("model `{model}` runs on another machine (`{host}`); nothing was sent")]
    Remote {
        /// As asked for.
        model: String,
        /// Where it runs.
        host: String,
    },
    /// The model is there but makes something else, such as vectors.
    #[error("model `{model}` does not write answers")]
    NoChat {
        /// As asked for.
        model: String,
    },
    /// The server asks for another key.
    #[error("{server} refused the key")]
    Key {
        /// Who.
        server: &'static str,
    },
    /// The model does not fit.
    #[error("model `{model}` needs {needed_mib} MiB of memory but {free_mib} MiB are free")]
    Memory {
        /// As asked for.
        model: String,
        /// What it takes.
        needed_mib: u64,
        /// What there is.
        free_mib: u64,
    },
    /// A prompt that leaves no room for an answer.
    #[error(
        "the question and its passages take {needed} tokens with the answer, but model `{model}` \
         reads {window}"
    )]
    Window {
        /// As asked for.
        model: String,
        /// Tokens of the prompt and the answer.
        needed: u32,
        /// Tokens of the window.
        window: u32,
    },
    /// A file that is no model, or none that can be run.
    #[error("model file `{file}` cannot be used: {reason}")]
    File {
        /// The file's name.
        file: String,
        /// Why not.
        reason: String,
    },
    /// Nothing came for too long.
    #[error("{server} was silent for {} seconds", .pause.as_secs())]
    Silent {
        /// Who.
        server: &'static str,
        /// How long was waited.
        pause: Duration,
        /// The setting that says how long.
        setting: &'static str,
    },
    /// The server refused, or gave up in the middle.
    #[error("{server} answered: {message}")]
    Said {
        /// Who.
        server: &'static str,
        /// Its own words, shortened.
        message: String,
    },
    /// The connection ended before the answer did.
    #[error("the answer of {server} broke off")]
    BrokeOff {
        /// Who.
        server: &'static str,
    },
    /// An answer that is against the protocol.
    #[error("the answer of {server} is not understood: {reason}")]
    Strange {
        /// Who.
        server: &'static str,
        /// Why not.
        reason: String,
    },
    /// Too many answers at once.
    #[error("{server} has all the answers it can work on")]
    Busy {
        /// Who.
        server: &'static str,
    },
}

impl GenerateError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Server(_)
            | Self::Remote { .. }
            | Self::NoChat { .. }
            | Self::Key { .. }
            | Self::Window { .. }
            | Self::File { .. }
            | Self::NotSet { .. } => ErrorCode::BadRequest,
            Self::NoModel { .. } => ErrorCode::NotFound,
            Self::Unreachable { .. }
            | Self::NoModels { .. }
            | Self::Memory { .. }
            | Self::Said { .. }
            | Self::BrokeOff { .. }
            | Self::Strange { .. } => ErrorCode::Unavailable,
            Self::Silent { .. } => ErrorCode::Deadline,
            Self::Busy { .. } => ErrorCode::Busy,
        }
    }

    fn remedy(&self) -> String {
        match self {
            Self::Server(_) => "see the settings".to_owned(),
            Self::Unreachable { remedy, .. }
            | Self::NoModel { remedy, .. }
            | Self::NoModels { remedy, .. } => remedy.clone(),
            Self::NotSet { provider } => format!("set `generation.{provider}_url`"),
            Self::NoChat { .. } => "choose one that `ibid models` lists".to_owned(),
            Self::Key { .. } => "set `generation.openai_key` to the key it asks for".to_owned(),
            Self::Remote { .. } => {
                "choose a model that runs on this machine; `ibid models` lists them".to_owned()
            }
            Self::Memory { .. } => "choose a smaller model, or end other programs".to_owned(),
            Self::Window { .. } => {
                "lower `generation.context_tokens`, or choose a model with a larger window"
                    .to_owned()
            }
            Self::File { .. } => {
                "set `generation.builtin_model` to a GGUF file of llama, qwen2, qwen3 or gemma3"
                    .to_owned()
            }
            Self::Silent { setting, .. } => {
                format!("ask again, or raise `{setting}` if the model is only slow")
            }
            Self::Said { .. } | Self::BrokeOff { .. } | Self::Strange { .. } => {
                "see the server's own log; `ibid doctor --generate` tries each model".to_owned()
            }
            Self::Busy { .. } => "ask again in a moment".to_owned(),
        }
    }
}

impl From<GenerateError> for ErrorBody {
    fn from(error: GenerateError) -> Self {
        match error {
            GenerateError::Server(error) => error.into(),
            error => Self::new(error.code(), error.to_string(), error.remedy()),
        }
    }
}
