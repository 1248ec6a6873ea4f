//! Keys and values of the tokens that have been read.

use candle_core::{DType, Device, Result, Tensor};

/// Tokens by which a cache grows at least.
const STEP: usize = 512;

/// Those of one layer, of which the first tokens are filled. Keys lie `[heads, width, room]`: the
/// product of one query with 2,048 of them takes a tenth of the time that it takes the other way.
pub(super) struct Cache {
    keys: Tensor,
    values: Tensor,
    room: usize,
}

impl Cache {
    /// An empty one.
    pub(super) fn new(heads: usize, width: usize) -> Result<Self> {
        Ok(Self {
            keys: Tensor::zeros((heads, width, 0), DType::F32, &Device::Cpu)?,
            values: Tensor::zeros((heads, 0, width), DType::F32, &Device::Cpu)?,
            room: 0,
        })
    }

    /// Puts keys and values `[heads, tokens, width]` behind the first `filled` tokens, and gives
    /// all up to there, keys as `[heads, width, tokens]`. What stood behind is gone.
    pub(super) fn put(
        &mut self,
        filled: usize,
        keys: &Tensor,
        values: &Tensor,
    ) -> Result<(Tensor, Tensor)> {
        let all = filled + keys.dim(1)?;
        if all > self.room {
            let room = (self.room * 3 / 2).max(all).next_multiple_of(STEP);
            self.keys = grown(&self.keys, 2, filled, room)?;
            self.values = grown(&self.values, 1, filled, room)?;
            self.room = room;
        }
        self.keys.slice_set(&keys.t()?.contiguous()?, 2, filled)?;
        self.values.slice_set(values, 1, filled)?;
        Ok((self.keys.narrow(2, 0, all)?, self.values.narrow(1, 0, all)?))
    }
}

/// The same with `room` tokens in dimension `dim`.
fn grown(tensor: &Tensor, dim: usize, filled: usize, room: usize) -> Result<Tensor> {
    let mut shape = tensor.dims().to_vec();
    if let Some(length) = shape.get_mut(dim) {
        *length = room;
    }
    let larger = Tensor::zeros(shape, DType::F32, &Device::Cpu)?;
    if filled > 0 {
        larger.slice_set(&tensor.narrow(dim, 0, filled)?.contiguous()?, dim, 0)?;
    }
    Ok(larger)
}
