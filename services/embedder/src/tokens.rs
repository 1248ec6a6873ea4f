//! From text to token ids.

use std::path::Path;

use tokenizers::Tokenizer;

use crate::error::{EncodeError, ModelError};
use crate::model::{ModelCard, Prompts};

/// The ids of one text, special tokens included.
pub type TokenIds = Vec<u32>;

/// A model's tokenizer with its prompts.
pub struct Tokens {
    tokenizer: Tokenizer,
    prompts: Prompts,
    longest: usize,
}

impl Tokens {
    pub(crate) fn open(path: &Path, card: &ModelCard) -> Result<Self, ModelError> {
        let error = |source| ModelError::Tokenizer {
            path: path.to_owned(),
            source,
        };
        let mut tokenizer = Tokenizer::from_file(path).map_err(error)?;
        // The file may carry a length to cut or to pad to; both are this crate's business.
        tokenizer
            .with_truncation(None)
            .map_err(error)?
            .with_padding(None);
        let prompt = tokenizer
            .encode_fast(card.prompts.document.as_str(), false)
            .map_err(error)?;
        let longest = card.window + prompt.len();
        Ok(Self {
            tokenizer,
            prompts: card.prompts.clone(),
            longest,
        })
    }

    /// Most ids the model takes at once: the window of chunks and the prompt before them.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The ids of a piece of a document, its prompt before it. Not cut.
    ///
    /// # Errors
    /// When the tokenizer fails on the text.
    pub fn document(&self, text: &str) -> Result<TokenIds, EncodeError> {
        self.encode(&self.prompts.document, text)
    }

    /// The ids of a question, its prompt before it; cut to what the model takes, last token kept.
    ///
    /// # Errors
    /// When the tokenizer fails on the text.
    pub fn question(&self, text: &str) -> Result<TokenIds, EncodeError> {
        let mut ids = self.encode(&self.prompts.query, text)?;
        if ids.len() > self.longest
            && let Some(last) = ids.last().copied()
        {
            ids.truncate(self.longest.saturating_sub(1));
            ids.push(last);
        }
        Ok(ids)
    }

    fn encode(&self, prompt: &str, text: &str) -> Result<TokenIds, EncodeError> {
        let encoded = if prompt.is_empty() {
            self.tokenizer.encode_fast(text, true)
        } else {
            self.tokenizer.encode_fast(format!("{prompt}{text}"), true)
        };
        let encoded = encoded.map_err(|source| EncodeError::Tokens { source })?;
        Ok(encoded.get_ids().to_vec())
    }
}
