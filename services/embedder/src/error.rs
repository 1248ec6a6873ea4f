//! What can go wrong: importing a model, opening it, encoding with it.

use std::io;
use std::path::{Path, PathBuf};

use shared::contract::ModelId;
use shared::settings::SettingsError;

use crate::engine::ServerError;

/// Why a model folder could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("cannot read `{path}`")]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write `{path}`")]
    Write { path: PathBuf, source: io::Error },
    #[error("`{path}` is not the JSON that a sentence-transformers folder has there")]
    Json {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("`{path}` is not a safetensors file")]
    Weights {
        path: PathBuf,
        source: safetensors::SafeTensorError,
    },
    #[error("the weights have no tensor `{name}`; the folder is not of the BERT family")]
    MissingTensor { name: String },
    #[error("tensor `{name}` has shape {found:?} where `config.json` asks for {wanted:?}")]
    Shape {
        name: String,
        found: Vec<usize>,
        wanted: Vec<usize>,
    },
    #[error("{what} `{found}` is not supported; {remedy}")]
    Unsupported {
        what: &'static str,
        found: String,
        remedy: &'static str,
    },
    #[error(
        "`{name}` does not name a model; give the target folder a name of letters, digits, `.`, `_` or `-`"
    )]
    Name { name: String },
    #[error(
        "`{path}` is not a tokenizer; it must be a `tokenizer.json` of the Hugging Face format"
    )]
    Tokenizer {
        path: PathBuf,
        source: tokenizers::Error,
    },
    #[error("the tokenizer fails on the document prompt `{prompt}`")]
    Prompt {
        prompt: String,
        source: tokenizers::Error,
    },
}

impl ImportError {
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }

    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }
}

/// Why an imported model could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error(
        "cannot read `{path}`; run `ibid setup`, or `ibid model import` for a model of your own"
    )]
    Read { path: PathBuf, source: io::Error },
    #[error("`{path}` is not a model card; import the model again with `ibid model import`")]
    Card {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error(
        "the folder of model `{model}` has no graph of that precision; set `model.precision` to the other"
    )]
    Precision { model: ModelId },
    #[error(
        "`{path}` is not the file that was imported; import the model again with `ibid model import`"
    )]
    Changed { path: PathBuf },
    #[error("`{path}` is not a tokenizer; import the model again with `ibid model import`")]
    Tokenizer {
        path: PathBuf,
        source: tokenizers::Error,
    },
    #[error("the model's name does not serve")]
    Name(#[from] SettingsError),
}

/// Why texts could not be turned into vectors.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    #[error("cannot load ONNX Runtime from `{path}`: {reason}; run `ibid setup`")]
    Runtime { path: PathBuf, reason: String },
    #[error("onnx runtime failed while {doing}")]
    Onnx {
        doing: &'static str,
        source: ort::Error,
    },
    #[error("the graph `{path}` has no {what}; import the model again with `ibid model import`")]
    Graph { path: PathBuf, what: &'static str },
    #[error("the encoder gave {found} values where {wanted} belong")]
    Output { found: usize, wanted: usize },
    #[error("a text cannot be split into tokens")]
    Tokens { source: tokenizers::Error },
    #[error("the encoder's thread could not be started")]
    Thread { source: io::Error },
    #[error("the encoder failed on the batch this text was in: {reason}")]
    Batch { reason: String },
    #[error("text {index} has {tokens} tokens where {longest} fit")]
    TooLong {
        index: usize,
        tokens: usize,
        longest: usize,
    },
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error("the embedder ends while the server is away")]
    Draining,
    #[error("the encoder has stopped")]
    Stopped,
}
