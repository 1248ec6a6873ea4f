//! Matrix products, with weights kept in the form that this processor is quick with.
//!
//! Candle has fast kernels for some of GGUF's forms only, and on x86 the fastest of them want
//! rows of a multiple of 256 numbers. Measured with a matrix of 1,536 × 576 as in SmolLM2-135M
//! (Xeon with AVX-512, one thread, best of 20), for 256 tokens of a prompt and one of an answer:
//! `Q4_1` as stored 116 ms and 0.41 ms, as bytes 30 ms and 0.10 ms, as bytes in filled rows 6.9 ms
//! and 0.04 ms, as 32-bit numbers 20 ms and 0.28 ms.

use std::sync::Arc;

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{Device, Module, Result, Tensor};

/// Numbers in a block of the kernels for whole rows.
const BLOCK: usize = 256;

/// What the processor has for products of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Processor {
    /// x86 that multiplies and adds bytes in one step.
    Vnni,
    /// Everything else.
    Other,
    /// Any, when memory is too short for a form that is larger than the file's.
    Sparing,
}

impl Processor {
    /// This one.
    pub(in super::super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let wide =
                is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
            if wide || (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("avxvnni")) {
                return Self::Vnni;
            }
        }
        Self::Other
    }
}

/// How weights are kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Form {
    /// As in the file.
    Stored,
    /// As bytes with a scale per 32, in rows filled up with zeros to whole blocks.
    Bytes,
    /// As 32-bit numbers.
    Floats,
}

impl Form {
    /// The form for rows of `length` numbers that are stored as `stored`.
    pub(in super::super) fn of(stored: GgmlDType, length: usize, processor: Processor) -> Self {
        use GgmlDType as Stored;
        match stored {
            Stored::F32 | Stored::F16 | Stored::BF16 => Self::Floats,
            _ if processor == Processor::Sparing => Self::Stored,
            Stored::Q8_0 if length.is_multiple_of(BLOCK) => Self::Stored,
            Stored::Q4_0 | Stored::Q8_0 if processor == Processor::Other => Self::Stored,
            Stored::Q4_0
            | Stored::Q4_1
            | Stored::Q5_0
            | Stored::Q5_1
            | Stored::Q8_0
            | Stored::Q8_1 => Self::Bytes,
            // The forms with blocks of 256.
            _ => Self::Stored,
        }
    }

    /// Bytes in memory per number: the form itself and the copy that candle's fast kernels lay
    /// out for themselves.
    pub(in super::super) fn bytes_per_number(self, stored: GgmlDType) -> f64 {
        let own = match self {
            Self::Stored => stored.type_size() as f64 / stored.block_size() as f64,
            Self::Bytes => 34.0 / 32.0,
            Self::Floats => return 4.0,
        };
        let laid_out = match (self, stored) {
            // One layout for vectors and one for matrices, where the processor has kernels.
            (Self::Stored, GgmlDType::Q4K) => 0.75 + 1.25,
            (Self::Stored, GgmlDType::Q6K) => 1.25,
            (Self::Stored, GgmlDType::Q8_0) | (Self::Bytes, _) => own,
            (Self::Stored | Self::Floats, _) => 0.0,
        };
        own + laid_out
    }
}

/// Rows of numbers that are taken to the next whole block.
fn filled_length(length: usize, processor: Processor) -> usize {
    match processor {
        Processor::Vnni => length.next_multiple_of(BLOCK),
        Processor::Other | Processor::Sparing => length,
    }
}

/// A matrix, and a vector that is added.
pub(super) struct Linear {
    weights: QMatMul,
    /// Length of a row, filled up.
    length: usize,
    bias: Option<Tensor>,
}

impl Linear {
    /// Brings `weights` of shape `[out, in]` into the form for `processor`.
    pub(super) fn new(weights: Arc<QTensor>, processor: Processor) -> Result<Self> {
        let (_, row) = weights.shape().dims2()?;
        let form = Form::of(weights.dtype(), row, processor);
        let mut length = row;
        let weights = match form {
            Form::Stored => QMatMul::QTensor(weights),
            Form::Floats => QMatMul::Tensor(weights.dequantize(&Device::Cpu)?),
            Form::Bytes => {
                length = filled_length(row, processor);
                let numbers = weights.dequantize(&Device::Cpu)?;
                let filled = numbers.pad_with_zeros(1, 0, length - row)?;
                let bytes = QTensor::quantize(&filled, GgmlDType::Q8_0)?;
                QMatMul::QTensor(Arc::new(bytes))
            }
        };
        Ok(Self {
            weights,
            length,
            bias: None,
        })
    }

    /// The same with a vector to add.
    pub(super) fn with_bias(mut self, bias: Option<&QTensor>) -> Result<Self> {
        self.bias = bias.map(|bias| bias.dequantize(&Device::Cpu)).transpose()?;
        Ok(self)
    }

    /// The products of `[tokens, in]`: `[tokens, out]`.
    pub(super) fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let missing = self.length.saturating_sub(input.dim(1)?);
        let output = match missing {
            0 => self.weights.forward(input)?,
            _ => self
                .weights
                .forward(&input.pad_with_zeros(1, 0, missing)?.contiguous()?)?,
        };
        match &self.bias {
            Some(bias) => output.broadcast_add(bias),
            None => Ok(output),
        }
    }
}
