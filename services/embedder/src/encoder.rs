//! Turning token ids into vectors.

mod onnx;
mod pool;
mod runtime;

use shared::contract::EncoderDescription;

pub use self::onnx::{OnnxEncoder, SessionOptions};
pub(crate) use self::pool::to_unit_length;
pub use self::runtime::Runtime;
use crate::error::EncodeError;

/// Something that computes embeddings of token ids in this process.
pub trait Encoder: Send + 'static {
    /// What it runs and what it takes.
    fn describe(&self) -> EncoderDescription;

    /// One vector of unit length per text, in order. A text is its token ids, special tokens
    /// included, at least one and at most the window; an empty batch gives no vectors.
    ///
    /// # Errors
    /// When the computation fails; the whole batch is without vectors then.
    fn encode(&mut self, batch: &[&[u32]]) -> Result<Vec<Vec<f32>>, EncodeError>;
}
