//! Who writes the answer: language models behind one trait.
//!
//! A generator gets a finished [`Prompt`] and streams [`Piece`]s. It knows nothing of searching,
//! of citations' labels or of the bus; those are the caller's. Dropping the stream ends the work.

mod builtin;
mod cut;
mod error;
mod extractive;
mod generators;
mod lines;
mod ollama;
mod openai;
mod progress;
mod server;
mod settings;
mod words;

use async_trait::async_trait;
use futures::stream::BoxStream;
use shared::contract::{GeneratorView, Passage, Provider, TokenUsage};

pub use builtin::Builtin;
pub use error::GenerateError;
pub use extractive::Extractive;
pub use generators::{Candidate, Generators};
pub use ollama::Ollama;
pub use openai::OpenAi;
pub use settings::{Choice, GenerationSettings, GenerationSettingsError};

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The rules.
    System,
    /// The person who asks.
    User,
    /// The model, in an earlier turn.
    Assistant,
}

impl Role {
    /// Its name in chat protocols and chat templates.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: String,
}

/// All that a generator gets for one answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The question alone, as it can be understood without the earlier turns.
    pub question: String,
    /// The passages it may use, numbered from 1 in this order.
    pub passages: Vec<Passage>,
    /// Rules, earlier turns, and passages with the question, as a chat.
    pub messages: Vec<Message>,
    /// Tokens of all messages, estimated from above.
    pub tokens: u32,
    /// Most tokens of the answer.
    pub answer_tokens: u32,
    /// Sampling temperature, 0 and up; 0 always takes the likeliest token.
    pub temperature: f32,
}

/// Why a generator stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stop {
    /// The answer is whole.
    #[default]
    Finished,
    /// It has reached [`Prompt::answer_tokens`], or the end of the window.
    AtLimit,
}

/// One piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text of the model, in which `[n]` cites passage n.
    Text(String),
    /// A verbatim part of passage `number` (from 1), whose brackets cite nothing.
    Quote {
        /// The passage.
        number: u32,
        /// Its part.
        text: String,
    },
    /// The last piece, once.
    End {
        /// What was read and written, as far as the generator tells.
        usage: TokenUsage,
        /// Why it ended.
        stop: Stop,
        /// What people should know, such as a prompt that the model's window has cut.
        notes: Vec<String>,
    },
}

/// An answer as it comes: pieces, then [`Piece::End`], or an error as the last item.
pub type Pieces = BoxStream<'static, Result<Piece, GenerateError>>;

/// What is known of a model before it is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Tokens that prompt and answer may have together; `None` when not known.
    pub window_tokens: Option<u32>,
    /// Tokens of passages beyond which its answers take too long to begin; `None` for no such
    /// limit.
    pub context_tokens: Option<u32>,
}

/// Runs language models, or stands in for one. Every wait within has a deadline that counts from
/// the last sign of progress, never from the start.
#[async_trait]
pub trait Generator: Send + Sync {
    /// Which it is.
    fn provider(&self) -> Provider;

    /// All its models, refused ones with the reason.
    ///
    /// # Errors
    /// When it does not answer.
    async fn models(&self) -> Result<Vec<GeneratorView>, GenerateError>;

    /// The model that speaks when a question names none.
    ///
    /// # Errors
    /// When it does not answer, or has no model that may be used.
    async fn default_model(&self) -> Result<String, GenerateError>;

    /// Checks that `model` is there and may be given document text, and tells its limits.
    ///
    /// # Errors
    /// A model that is missing or refused, or a server that does not answer. Nothing of a
    /// document is sent before this has passed.
    async fn check(&self, model: &str) -> Result<Limits, GenerateError>;

    /// Loads `model`, so that the next question need not wait for it.
    ///
    /// # Errors
    /// As [`Generator::check`], or when it cannot be loaded.
    async fn warm(&self, model: &str) -> Result<(), GenerateError>;

    /// Asks `model`, which has been checked.
    ///
    /// # Errors
    /// When the answer does not begin; what fails later is the stream's last item.
    async fn generate(&self, model: &str, prompt: Prompt) -> Result<Pieces, GenerateError>;
}
