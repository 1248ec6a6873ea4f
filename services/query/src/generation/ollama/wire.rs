//! Ollama's messages, as far as they are read. Its versions leave out what they do not know.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `GET /api/tags`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Tags {
    #[serde(default)]
    pub(super) models: Option<Vec<Tagged>>,
}

/// A model in a list. `name` and `model` are the same.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tagged {
    pub(super) name: String,
    /// With the server's own offset, so that texts compare as times do.
    pub(super) modified_at: String,
    pub(super) size: u64,
    pub(super) details: Details,
    pub(super) capabilities: Option<Vec<String>>,
    pub(super) remote_host: String,
    pub(super) remote_model: String,
}

/// What a model is made of.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Details {
    pub(super) family: String,
    pub(super) families: Option<Vec<String>>,
    pub(super) context_length: Option<u32>,
}

/// `GET /api/ps`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Running {
    #[serde(default)]
    pub(super) models: Option<Vec<Loaded>>,
}

/// A model in memory.
#[derive(Debug, Deserialize)]
pub(super) struct Loaded {
    pub(super) name: String,
}

/// `POST /api/show`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Shown {
    pub(super) details: Details,
    model_info: Option<Map<String, Value>>,
    pub(super) capabilities: Option<Vec<String>>,
    pub(crate) remote_host: String,
    remote_model: String,
}

impl Tagged {
    pub(super) fn is_remote(&self) -> bool {
        !self.remote_host.is_empty() || !self.remote_model.is_empty()
    }
}

impl Shown {
    pub(crate) fn is_remote(&self) -> bool {
        !self.remote_host.is_empty() || !self.remote_model.is_empty()
    }

    pub(super) fn thinks(&self) -> bool {
        let mut capabilities = self.capabilities.iter().flatten();
        capabilities.any(|capability| capability == "thinking")
    }

    /// Tokens it was trained for: `{architecture}.context_length`.
    pub(super) fn window(&self) -> Option<u32> {
        let info = self.model_info.as_ref()?;
        let architecture = info.get("general.architecture")?.as_str()?;
        let tokens = info.get(&format!("{architecture}.context_length"))?;
        u32::try_from(tokens.as_u64()?).ok()
    }
}

/// `POST /api/chat`.
#[derive(Debug, Serialize)]
pub(super) struct ChatRequest<'a> {
    pub(super) model: &'a str,
    pub(super) messages: Vec<ChatMessage<'a>>,
    pub(super) stream: bool,
    /// Only for a model that thinks, which it does unless told not to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) think: Option<bool>,
    pub(super) keep_alive: &'static str,
    pub(super) options: Options,
}

/// A message to the model.
#[derive(Debug, Serialize)]
pub(super) struct ChatMessage<'a> {
    pub(super) role: &'static str,
    pub(super) content: &'a str,
}

/// What a model is run with.
#[derive(Debug, Serialize)]
pub(super) struct Options {
    pub(super) num_ctx: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) num_gpu: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) num_predict: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f32>,
}

/// A line of the answer to it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ChatLine {
    pub(super) message: Option<Said>,
    pub(super) done: bool,
    pub(super) done_reason: String,
    pub(super) error: Option<Value>,
    pub(super) remote_host: String,
    pub(super) prompt_eval_count: Option<u32>,
    pub(super) eval_count: Option<u32>,
    /// Nanoseconds.
    pub(super) eval_duration: Option<u64>,
}

/// What the model says in a line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Said {
    pub(super) content: Option<String>,
    pub(super) thinking: Option<String>,
}
