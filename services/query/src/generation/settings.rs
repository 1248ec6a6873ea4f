//! What can be set. Section `generation`.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use shared::contract::Provider;

/// Who answers when a question does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// Ollama if it answers, else the OpenAI-compatible server if one is set, else no server.
    Auto,
    /// Always Ollama.
    Ollama,
    /// Always the OpenAI-compatible server.
    OpenAi,
    /// Always the model in a file.
    Builtin,
    /// Always quotations.
    Extractive,
}

impl Choice {
    /// The one provider chosen; `None` for [`Choice::Auto`].
    pub fn provider(self) -> Option<Provider> {
        match self {
            Self::Auto => None,
            Self::Ollama => Some(Provider::Ollama),
            Self::OpenAi => Some(Provider::OpenAi),
            Self::Builtin => Some(Provider::Builtin),
            Self::Extractive => Some(Provider::Extractive),
        }
    }
}

/// Settings of what writes the answers.
#[derive(Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GenerationSettings {
    /// `auto`, `ollama`, `openai`, `builtin` or `extractive`.
    pub provider: Choice,
    /// The model by the provider's own name; empty for the provider's first.
    pub model: String,
    /// Where Ollama is.
    pub ollama_url: String,
    /// Where an OpenAI-compatible server is, such as `http://127.0.0.1:1234/v1`; empty for none.
    pub openai_url: String,
    /// The key that server asks for; empty when it asks for none.
    pub openai_key: String,
    /// A GGUF file to run in this service, or the name of one under `generators/` of the assets;
    /// empty for none.
    pub builtin_model: String,
    /// Sampling temperature, 0 to 2.
    pub temperature: f32,
    /// Most tokens of an answer.
    pub answer_tokens: u32,
    /// Most tokens of the passages in a prompt.
    pub context_tokens: u32,
    /// Earlier turns in a prompt.
    pub history_turns: u32,
    /// Layers that Ollama puts on the graphics processor (`num_gpu`); below 0 for its own choice.
    pub gpu_layers: i32,
    /// Longest wait for the first token, loading the model included, in seconds.
    pub first_token_secs: u64,
    /// Longest pause between two tokens, in seconds.
    pub token_pause_secs: u64,
}

impl Default for GenerationSettings {
    fn default() -> Self {
        Self {
            provider: Choice::Auto,
            model: String::new(),
            ollama_url: "http://127.0.0.1:11434".to_owned(),
            openai_url: String::new(),
            openai_key: String::new(),
            builtin_model: String::new(),
            temperature: 0.2,
            answer_tokens: 256,
            context_tokens: 3_000,
            history_turns: 6,
            gpu_layers: -1,
            first_token_secs: 120,
            token_pause_secs: 30,
        }
    }
}

/// Settings that cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`generation.{key}` is {value}; use {remedy}")]
pub struct GenerationSettingsError {
    key: &'static str,
    value: String,
    remedy: &'static str,
}

impl GenerationSettings {
    /// These settings, once they hold.
    ///
    /// # Errors
    /// A number outside its range.
    pub fn checked(self) -> Result<Self, GenerationSettingsError> {
        let wrong = |key, value: &dyn std::fmt::Display, remedy| {
            Err(GenerationSettingsError {
                key,
                value: value.to_string(),
                remedy,
            })
        };
        if !(0.0..=2.0).contains(&self.temperature) {
            return wrong("temperature", &self.temperature, "a number from 0 to 2");
        }
        if !(1..=32_768).contains(&self.answer_tokens) {
            return wrong("answer_tokens", &self.answer_tokens, "1 to 32768");
        }
        if !(100..=1_000_000).contains(&self.context_tokens) {
            return wrong("context_tokens", &self.context_tokens, "100 to 1000000");
        }
        Ok(self)
    }

    pub(crate) fn first_token(&self) -> Duration {
        Duration::from_secs(self.first_token_secs.max(1))
    }

    pub(crate) fn token_pause(&self) -> Duration {
        Duration::from_secs(self.token_pause_secs.max(1))
    }
}
