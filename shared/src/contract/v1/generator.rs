//! Which language models may write an answer.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::failure::ErrorBody;

/// Who runs a language model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// The user's own Ollama.
    Ollama,
    /// Any server that speaks OpenAI's chat completions: Foundry Local, llama.cpp, LM Studio, vLLM.
    OpenAi,
    /// A GGUF file, run in the query service.
    Builtin,
    /// No model: the answer is made of quotations.
    Extractive,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ollama, Self::OpenAi, Self::Builtin, Self::Extractive];

    /// Its name in settings and ids.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ollama => "ollama",
            Self::OpenAi => "openai",
            Self::Builtin => "builtin",
            Self::Extractive => "extractive",
        }
    }
}

/// A provider and one of its models: `ollama/llama3.2:3b`, `openai/phi-4-mini`, `builtin/smollm2`,
/// `extractive`. A provider alone stands for its default model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct GeneratorId {
    /// Who runs it.
    pub provider: Provider,
    /// The model by the provider's own name; empty for its default, and for `extractive`.
    pub model: String,
}

/// A text that names no generator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` names no generator; use one that `ibid models` lists, such as `ollama/llama3.2`"
)]
pub struct GeneratorIdError {
    given: String,
}

impl GeneratorId {
    /// A model of `provider`.
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
        }
    }
}

impl fmt::Display for GeneratorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.provider.name())?;
        if !self.model.is_empty() {
            write!(f, "/{}", self.model)?;
        }
        Ok(())
    }
}

impl FromStr for GeneratorId {
    type Err = GeneratorIdError;

    fn from_str(text: &str) -> Result<Self, GeneratorIdError> {
        let (provider, model) = text.split_once('/').unwrap_or((text, ""));
        let error = || GeneratorIdError {
            given: text.escape_debug().to_string(),
        };
        let provider = Provider::ALL
            .into_iter()
            .find(|known| known.name() == provider)
            .ok_or_else(error)?;
        let plain = model.len() <= 200 && !model.contains(|c: char| c.is_control() || c == ' ');
        if !plain || (provider == Provider::Extractive && !model.is_empty()) {
            return Err(error());
        }
        Ok(Self::new(provider, model))
    }
}

impl TryFrom<String> for GeneratorId {
    type Error = GeneratorIdError;

    fn try_from(text: String) -> Result<Self, GeneratorIdError> {
        text.parse()
    }
}

impl From<GeneratorId> for String {
    fn from(id: GeneratorId) -> Self {
        id.to_string()
    }
}

/// One generator as shown to people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorView {
    /// What to choose it by.
    pub id: GeneratorId,
    /// Whether it speaks when a question names none.
    pub is_default: bool,
    /// Tokens of its context window, when known.
    #[serde(default)]
    pub window_tokens: Option<u32>,
    /// Bytes of its file, when known.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Whether it is in memory now, when known.
    #[serde(default)]
    pub loaded: Option<bool>,
    /// Why it may not be chosen, such as a model that runs on another machine.
    #[serde(default)]
    pub refused: Option<ErrorBody>,
}

/// All generators, the default one first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorList {
    /// Those there are.
    pub generators: Vec<GeneratorView>,
    /// What keeps a provider from being listed, with its name: an Ollama that does not answer.
    #[serde(default)]
    pub problems: Vec<(Provider, ErrorBody)>,
}

/// That a generator has made a token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorTried {
    /// Which spoke.
    pub id: GeneratorId,
    /// Milliseconds to its first token, loading included.
    pub first_token_ms: f64,
}
