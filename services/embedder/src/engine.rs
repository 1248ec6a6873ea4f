//! What makes vectors of texts: a model that runs here, or one on a server.

mod local;
mod remote;

use async_trait::async_trait;
use shared::contract::{DocumentId, EncoderDescription, ModelId, ModelSight};

pub use self::local::Local;
pub use self::remote::{Remote, ServerError, Waits};
use crate::error::EncodeError;

/// What chunks must have been made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeFor {
    /// The model.
    pub model: ModelId,
    /// The window they were cut for, in tokens.
    pub window: u32,
    /// SHA-256 (hex) of the tokenizer file they were counted with.
    pub tokenizer_hash: String,
}

impl MadeFor {
    fn describe(&self, dimension: u32) -> EncoderDescription {
        EncoderDescription {
            model: self.model.clone(),
            dimension,
            window: self.window,
            tokenizer_hash: self.tokenizer_hash.clone(),
        }
    }
}

/// Makes vectors of unit length. Questions never wait for chunks.
#[async_trait]
pub trait Engine: Send + Sync + 'static {
    /// What the chunks it takes must have been made for.
    fn made_for(&self) -> &MadeFor;

    /// What it runs, as told to other services.
    ///
    /// # Errors
    /// While it is not known how long its vectors are.
    fn describe(&self) -> Result<EncoderDescription, EncodeError>;

    /// One vector per text of `document`, in order, under the model's document prompt. Documents
    /// take turns, so that a small one does not wait for a large one. Waits for as long as a
    /// server is away.
    ///
    /// # Errors
    /// When one of the texts cannot be embedded; all are without vectors then.
    async fn embed_chunks(
        &self,
        document: &DocumentId,
        texts: Vec<String>,
    ) -> Result<Vec<Vec<f32>>, EncodeError>;

    /// The vector of a question under the model's query prompt; what is too long is cut.
    ///
    /// # Errors
    /// When it cannot be embedded now.
    async fn embed_question(&self, text: String) -> Result<Vec<f32>, EncodeError>;

    /// What the model's vocabulary has of `text`; all 0 where that is not known.
    fn sight(&self, _text: &str) -> ModelSight {
        ModelSight::default()
    }
}
