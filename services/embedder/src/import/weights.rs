//! Tensors of a `model.safetensors`, by the names that Hugging Face's BERT gives them.

use std::path::Path;

use half::{bf16, f16};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::error::ImportError;

/// Some exports put the model under a name of its own.
const PREFIXES: [&str; 3] = ["", "bert.", "roberta."];

/// The weights of one folder.
pub(super) struct Weights<'a> {
    tensors: SafeTensors<'a>,
}

impl<'a> Weights<'a> {
    pub(super) fn parse(path: &Path, bytes: &'a [u8]) -> Result<Self, ImportError> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|source| ImportError::Weights {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self { tensors })
    }

    /// The tensor `name` of shape `dims`, row by row.
    pub(super) fn floats(&self, name: &str, dims: &[usize]) -> Result<Vec<f32>, ImportError> {
        let view = self.view(name)?;
        if view.shape() != dims {
            return Err(ImportError::Shape {
                name: name.to_owned(),
                found: view.shape().to_vec(),
                wanted: dims.to_vec(),
            });
        }
        let data = view.data();
        match view.dtype() {
            Dtype::F32 => Ok(values(data, f32::from_le_bytes)),
            Dtype::F16 => Ok(values(data, |bytes| f16::from_le_bytes(bytes).to_f32())),
            Dtype::BF16 => Ok(values(data, |bytes| bf16::from_le_bytes(bytes).to_f32())),
            other => Err(ImportError::Unsupported {
                what: "weight type",
                found: format!("{other:?}"),
                remedy: "use weights of type F32, F16 or BF16",
            }),
        }
    }

    /// The matrix of linear layer `name`, from `inputs` to `outputs` values, in the order that
    /// `MatMul` reads: the file has a row per output, here there is a row per input.
    pub(super) fn matrix(
        &self,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Vec<f32>, ImportError> {
        let rows = self.floats(&format!("{name}.weight"), &[outputs, inputs])?;
        let column = |input| rows.iter().skip(input).step_by(inputs).copied();
        Ok((0..inputs).flat_map(column).collect())
    }

    fn view(&self, name: &str) -> Result<TensorView<'_>, ImportError> {
        PREFIXES
            .iter()
            .find_map(|prefix| self.tensors.tensor(&format!("{prefix}{name}")).ok())
            .ok_or_else(|| ImportError::MissingTensor {
                name: name.to_owned(),
            })
    }
}

fn values<const N: usize>(bytes: &[u8], value: impl Fn([u8; N]) -> f32) -> Vec<f32> {
    bytes
        .as_chunks::<N>()
        .0
        .iter()
        .map(|chunk| value(*chunk))
        .collect()
}
