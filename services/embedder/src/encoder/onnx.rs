//! The encoder that runs a model's graph in ONNX Runtime.

use std::borrow::Cow;
use std::sync::Arc;

use ort::session::builder::GraphOptimizationLevel;
use ort::session::{Session, SessionInputValue};
use ort::value::{TensorRef, ValueType};
use shared::contract::EncoderDescription;

use super::pool::pool;
use super::{Encoder, Runtime};
use crate::error::EncodeError;
use crate::model::Model;

/// How a session computes.
#[derive(Debug, Clone, Copy)]
pub struct SessionOptions {
    /// Threads of one batch, at least 1; the calling thread is one of them.
    pub threads: usize,
}

/// A model's graph in ONNX Runtime.
pub struct OnnxEncoder {
    session: Session,
    model: Arc<Model>,
    /// Graphs that a folder brought along mostly want token types, which are all 0.
    takes_types: bool,
    output: String,
}

impl OnnxEncoder {
    /// Loads `model`'s graph. Threads that ONNX Runtime starts have the caller's nice value.
    ///
    /// # Errors
    /// When the graph cannot be loaded or does not have an encoder's inputs and outputs.
    pub fn open(
        runtime: &Runtime,
        model: Arc<Model>,
        options: SessionOptions,
    ) -> Result<Self, EncodeError> {
        let session =
            open_session(runtime, &model, options).map_err(|source| EncodeError::Onnx {
                doing: "loading the graph",
                source,
            })?;
        let missing = |what| EncodeError::Graph {
            path: model.graph(),
            what,
        };
        let takes = |name: &str| session.inputs().iter().any(|input| input.name() == name);
        if !takes("input_ids") || !takes("attention_mask") {
            return Err(missing("inputs `input_ids` and `attention_mask`"));
        }
        let dimension = i64::try_from(model.card.dimension).unwrap_or(i64::MAX);
        let output = session
            .outputs()
            .iter()
            .find(|output| match output.dtype() {
                ValueType::Tensor { shape, .. } => {
                    shape.len() == 3
                        && shape
                            .last()
                            .is_some_and(|last| [dimension, -1].contains(last))
                }
                _ => false,
            })
            .map(|output| output.name().to_owned())
            .ok_or_else(|| missing("output of a vector per token"))?;
        Ok(Self {
            takes_types: takes("token_type_ids"),
            output,
            session,
            model,
        })
    }

    fn states(&mut self, batch: &[&[u32]], sequence: usize) -> ort::Result<Vec<Vec<f32>>> {
        let mut ids = vec![0_i64; batch.len() * sequence];
        let mut mask = vec![0_i64; batch.len() * sequence];
        let rows = ids
            .chunks_exact_mut(sequence)
            .zip(mask.chunks_exact_mut(sequence));
        for ((ids, mask), text) in rows.zip(batch) {
            for ((id, mask), token) in ids.iter_mut().zip(mask).zip(*text) {
                (*id, *mask) = (i64::from(*token), 1);
            }
        }
        let types = if self.takes_types {
            vec![0_i64; ids.len()]
        } else {
            Vec::new()
        };
        let shape = [batch.len(), sequence];
        let tensor = |values| -> ort::Result<SessionInputValue<'_>> {
            Ok(TensorRef::from_array_view((shape, values))?.into())
        };
        let mut inputs = vec![
            (Cow::Borrowed("input_ids"), tensor(ids.as_slice())?),
            (Cow::Borrowed("attention_mask"), tensor(mask.as_slice())?),
        ];
        if self.takes_types {
            inputs.push((Cow::Borrowed("token_type_ids"), tensor(types.as_slice())?));
        }
        let outputs = self.session.run(inputs)?;
        let Some(states) = outputs.get(&self.output) else {
            return Ok(Vec::new());
        };
        let (_, states) = states.try_extract_tensor::<f32>()?;
        let lengths: Vec<usize> = batch.iter().map(|text| text.len()).collect();
        let card = &self.model.card;
        if states.len() != batch.len() * sequence * card.dimension {
            return Ok(Vec::new());
        }
        Ok(pool(states, &lengths, card.dimension, card.pooling))
    }
}

impl Encoder for OnnxEncoder {
    fn describe(&self) -> EncoderDescription {
        self.model.describe()
    }

    fn encode(&mut self, batch: &[&[u32]]) -> Result<Vec<Vec<f32>>, EncodeError> {
        let sequence = batch
            .iter()
            .map(|text| text.len())
            .max()
            .unwrap_or_default();
        if sequence == 0 {
            return Ok(Vec::new());
        }
        let vectors = self
            .states(batch, sequence)
            .map_err(|source| EncodeError::Onnx {
                doing: "encoding a batch",
                source,
            })?;
        if vectors.len() == batch.len() {
            Ok(vectors)
        } else {
            Err(EncodeError::Output {
                found: vectors.len(),
                wanted: batch.len(),
            })
        }
    }
}

fn open_session(runtime: &Runtime, model: &Model, options: SessionOptions) -> ort::Result<Session> {
    Session::builder(runtime.environment())?
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_intra_threads(options.threads)?
        // Shapes change from batch to batch, so a planned layout of memory serves no second time.
        // What ONNX Runtime keeps between batches is little, as batches are capped by time: 4 MB
        // with two threads, for 3 % more speed.
        .with_memory_pattern(false)?
        // Waiting threads sleep: the processor is shared with parsers and searches.
        .with_intra_op_spinning(false)?
        .commit_from_file(model.graph())
}
