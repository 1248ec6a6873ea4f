//! From text to token ids.

use std::path::Path;

use shared::contract::ModelSight;
use tokenizers::Tokenizer;

use crate::error::{EncodeError, ModelError};
use crate::model::{ModelCard, Prompts};

/// What tokenizers call what they do not know.
const UNKNOWN: [&str; 2] = ["[UNK]", "<unk>"];

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

    /// How the vocabulary covers `text`, its prompt not counted; all 0 when the tokenizer fails.
    /// Tokens without letter or digit are left out: punctuation is known to every model.
    pub fn sight(&self, text: &str) -> ModelSight {
        let Ok(encoded) = self.tokenizer.encode(text, false) else {
            return ModelSight::default();
        };
        let is_worded = |text: &str| text.contains(char::is_alphanumeric);
        let unknown = UNKNOWN
            .iter()
            .find_map(|token| self.tokenizer.token_to_id(token));
        let mut sight = ModelSight {
            words: count(text.split_whitespace().filter(|word| is_worded(word))),
            ..ModelSight::default()
        };
        for (id, (start, end)) in encoded.get_ids().iter().zip(encoded.get_offsets()) {
            if text.get(*start..*end).is_some_and(is_worded) {
                sight.tokens += 1;
                sight.unknown += u32::from(Some(*id) == unknown);
            }
        }
        sight
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

fn count(items: impl Iterator) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}
