//! What can go wrong while chunking.

use std::path::PathBuf;

/// An error of the chunker.
#[derive(Debug, thiserror::Error)]
pub enum ChunkError {
    /// Every page is blank.
    #[error("the document has no text; if it is a scan, it needs OCR first")]
    NoText,
    /// A page that spans cannot address.
    #[error("page {page} has {bytes} bytes but a span reaches 4 GiB at most; split the document")]
    PageTooLarge {
        /// The page's number.
        page: u32,
        /// Its size.
        bytes: usize,
    },
    /// The tokenizer refused a text.
    #[error("could not count tokens; the tokenizer file may be damaged, run `ibid setup`")]
    Tokenize(#[source] tokenizers::Error),
    /// A model file that cannot be read.
    #[error("could not read the model file `{path}`; run `ibid setup`")]
    ModelFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A window too small to hold heading, overlap and text.
    #[error(
        "the model's window is {window} tokens but at least {least} are needed; use another model"
    )]
    WindowTooSmall {
        /// The window.
        window: u32,
        /// The least that works.
        least: u32,
    },
}
