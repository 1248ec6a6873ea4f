//! The transformer itself, on candle's quantised tensors: one decoder for llama, qwen2, qwen3
//! and gemma3, which differ in few places.
//!
//! The models in `candle-transformers` are what its results are tested against. They are not
//! used because (version 0.11.1) their llama ends at 4,096 tokens whatever the file allows
//! (`quantized_llama::MAX_SEQ_LEN`), the masks of every prompt length stay in memory for good,
//! keys and values are copied whole for each token, no prefix can be kept from one question to
//! the next, and their gemma3 has the wrong gate (huggingface/candle#3745), sees nothing of
//! earlier parts of a prompt, and takes 134 MB of tables per layer.

mod cache;
mod config;
mod linear;
mod operations;
mod rope;

use std::sync::Arc;

use candle_core::quantized::QTensor;
use candle_core::{Device, Module, Tensor};
use candle_transformers::quantized_nn::RmsNorm;

use self::cache::Cache;
pub(super) use self::config::Config;
pub(super) use self::linear::Processor;
use self::linear::{Form, Linear};
use self::operations::{CausalSoftmax, Gate, JoinHeads, SplitHeads};
use self::rope::Rope;
use super::file::{Architecture, FileError, ModelFile};

/// Tokens of a prompt that go through the layers at once. More gain nothing in speed, and the
/// stop of a prompt waits for one such part.
pub(super) const PART: usize = 256;

/// A model in memory, with the tokens it has read.
pub(super) struct Decoder {
    config: Config,
    embeddings: Arc<QTensor>,
    layers: Vec<Layer>,
    norm: RmsNorm,
    output: Linear,
    /// For layers that see all, and for those that slide.
    ropes: [Arc<Rope>; 2],
    read: Vec<u32>,
}

struct Layer {
    attention_norm: RmsNorm,
    query: Linear,
    key: Linear,
    value: Linear,
    query_norm: Option<RmsNorm>,
    key_norm: Option<RmsNorm>,
    join: Linear,
    /// Gemma has one more behind each part.
    after_attention: Option<RmsNorm>,
    inner_norm: RmsNorm,
    gate: Linear,
    up: Linear,
    down: Linear,
    after_inner: Option<RmsNorm>,
    sliding: Option<usize>,
    cache: Cache,
}

impl Decoder {
    /// Bytes that the weights of `file` take in memory, in the forms for `processor`.
    pub(super) fn weight_bytes(file: &ModelFile, processor: Processor) -> u64 {
        let bytes = file.infos().map(|(name, info)| {
            let row = info.shape.dims().last().copied().unwrap_or_default();
            let form = Form::of(info.ggml_dtype, row, processor);
            let mut per_number = form.bytes_per_number(info.ggml_dtype);
            if name == "token_embd.weight" {
                let stored = info.ggml_dtype;
                per_number += stored.type_size() as f64 / stored.block_size() as f64;
            }
            info.shape.elem_count() as f64 * per_number
        });
        #[expect(clippy::cast_possible_truncation, reason = "an estimate")]
        #[expect(clippy::cast_sign_loss, reason = "sizes are not negative")]
        let bytes = bytes.sum::<f64>() as u64;
        bytes
    }

    /// Reads all weights. `progress` is called after each layer.
    pub(super) fn load(
        file: &mut ModelFile,
        config: Config,
        processor: Processor,
        progress: &dyn Fn(),
    ) -> Result<Self, FileError> {
        let shape = [config.vocabulary, config.width];
        let embeddings = Arc::new(file.tensor("token_embd.weight", &shape)?);
        let output = match file.optional_tensor("output.weight", &shape)? {
            Some(output) => Arc::new(output),
            None => Arc::clone(&embeddings),
        };
        let output = Linear::new(output, processor)?;
        let factors = file.optional_tensor("rope_freqs.weight", &[config.rotated / 2])?;
        let factors: Vec<f32> = match factors {
            Some(factors) => factors.dequantize(&Device::Cpu)?.to_vec1()?,
            None => Vec::new(),
        };
        let (pairing, rotated) = (config.pairing, config.rotated);
        let whole = Rope::new(
            pairing,
            rotated,
            config.rope_base,
            config.rope_divisor,
            &factors,
        );
        // Gemma's sliding layers keep the base of the models before it.
        let sliding = Rope::new(pairing, rotated, 10_000.0, 1.0, &[]);
        let mut builder = Builder {
            file,
            config: &config,
            processor,
        };
        let norm = builder.norm("output_norm", config.width)?;
        let mut layers = Vec::new();
        for index in 0..config.layers {
            layers.push(builder.layer(index)?);
            progress();
        }
        Ok(Self {
            embeddings,
            layers,
            norm,
            output,
            ropes: [Arc::new(whole), Arc::new(sliding)],
            read: Vec::new(),
            config,
        })
    }

    /// Forgets what was read, but for what a new prompt begins with too, and tells how much that
    /// is. At least one token of the prompt is left to be read.
    pub(super) fn begin(&mut self, prompt: &[u32]) -> usize {
        let last = prompt.len().saturating_sub(1);
        let same = self.read.iter().zip(prompt.iter().take(last));
        let same = same.take_while(|(old, new)| old == new).count();
        self.read.truncate(same);
        same
    }

    /// Reads more tokens, at most [`PART`], and gives the logits of the one that follows.
    pub(super) fn read(&mut self, tokens: &[u32]) -> candle_core::Result<Vec<f32>> {
        let position = self.read.len();
        let end = position + tokens.len();
        for rope in &mut self.ropes {
            Arc::make_mut(rope).extend(end);
        }
        let mut state = self.embed(tokens)?;
        for layer in &mut self.layers {
            let rope = match layer.sliding {
                None => &self.ropes[0],
                Some(_) => &self.ropes[1],
            };
            state = layer.forward(&self.config, rope, position, &state)?;
        }
        let last = state.narrow(0, tokens.len().saturating_sub(1), 1)?;
        let logits = self.output.forward(&self.norm.forward(&last)?)?;
        self.read.extend_from_slice(tokens);
        logits.flatten_all()?.to_vec1()
    }

    fn embed(&self, tokens: &[u32]) -> candle_core::Result<Tensor> {
        let ids = Tensor::from_slice(tokens, tokens.len(), &Device::Cpu)?;
        let state = self.embeddings.embedding(&ids)?;
        match self.config.architecture {
            Architecture::Gemma3 => state * (self.config.width as f64).sqrt(),
            Architecture::Llama | Architecture::Qwen2 | Architecture::Qwen3 => Ok(state),
        }
    }
}

impl Layer {
    fn forward(
        &mut self,
        config: &Config,
        rope: &Arc<Rope>,
        position: usize,
        state: &Tensor,
    ) -> candle_core::Result<Tensor> {
        let input = self.attention_norm.forward(state)?;
        let mut seen = self.attend(config, rope, position, &input)?;
        if let Some(norm) = &self.after_attention {
            seen = norm.forward(&seen)?;
        }
        let state = (state + seen)?;
        let input = self.inner_norm.forward(&state)?;
        let (gate, up) = (self.gate.forward(&input)?, self.up.forward(&input)?);
        let kind = match config.architecture {
            Architecture::Gemma3 => Gate::Gelu,
            Architecture::Llama | Architecture::Qwen2 | Architecture::Qwen3 => Gate::Silu,
        };
        let mut thought = self.down.forward(&gate.apply_op2_no_bwd(&up, &kind)?)?;
        if let Some(norm) = &self.after_inner {
            thought = norm.forward(&thought)?;
        }
        state + thought
    }

    fn attend(
        &mut self,
        config: &Config,
        rope: &Arc<Rope>,
        position: usize,
        input: &Tensor,
    ) -> candle_core::Result<Tensor> {
        let tokens = input.dim(0)?;
        let split = |heads, rope: Option<&Arc<Rope>>| SplitHeads {
            heads,
            rope: rope.map(Arc::clone),
            position,
        };
        let turned = split(config.heads, Some(rope));
        let query = normed(self.query.forward(input)?, self.query_norm.as_ref(), config)?;
        let query = query.apply_op1_no_bwd(&turned)?;
        let turned = split(config.kv_heads, Some(rope));
        let key = normed(self.key.forward(input)?, self.key_norm.as_ref(), config)?;
        let key = key.apply_op1_no_bwd(&turned)?;
        let value = self.value.forward(input)?;
        let value = value.apply_op1_no_bwd(&split(config.kv_heads, None))?;
        let (keys, values) = self.cache.put(position, &key, &value)?;

        // The heads that share keys and values are rows of one product.
        let rows = config.heads / config.kv_heads * tokens;
        let query = query.reshape((config.kv_heads, rows, config.head_width))?;
        let scores = query.matmul(&keys)?;
        scores.inplace_op1(&CausalSoftmax {
            tokens,
            sliding: self.sliding,
            scale: config.score_scale,
        })?;
        let seen = scores.matmul(&values)?;
        let seen = seen.reshape((config.heads, tokens, config.head_width))?;
        self.join.forward(&seen.apply_op1_no_bwd(&JoinHeads)?)
    }
}

/// Norms each head by itself.
fn normed(heads: Tensor, norm: Option<&RmsNorm>, config: &Config) -> candle_core::Result<Tensor> {
    let Some(norm) = norm else {
        return Ok(heads);
    };
    let (tokens, all) = heads.dims2()?;
    let each = heads.reshape((tokens * (all / config.head_width), config.head_width))?;
    norm.forward(&each)?.reshape((tokens, all))
}

/// Takes tensors out of a file.
struct Builder<'a> {
    file: &'a mut ModelFile,
    config: &'a Config,
    processor: Processor,
}

impl Builder<'_> {
    fn norm(&mut self, name: &str, width: usize) -> Result<RmsNorm, FileError> {
        let weights = self.file.tensor(&format!("{name}.weight"), &[width])?;
        Ok(RmsNorm::from_qtensor(
            weights,
            f64::from(self.config.epsilon),
        )?)
    }

    fn linear(&mut self, name: &str, out: usize, row: usize) -> Result<Linear, FileError> {
        let weights = self.file.tensor(&format!("{name}.weight"), &[out, row])?;
        let bias = self.file.optional_tensor(&format!("{name}.bias"), &[out])?;
        let linear = Linear::new(Arc::new(weights), self.processor)?;
        Ok(linear.with_bias(bias.as_ref())?)
    }

    fn layer(&mut self, index: usize) -> Result<Layer, FileError> {
        let name = |part: &str| format!("blk.{index}.{part}");
        let config = self.config;
        let (width, inner, head) = (config.width, config.inner, config.head_width);
        let (all, all_kv) = (config.heads * head, config.kv_heads * head);
        let gemma = config.architecture == Architecture::Gemma3;
        let norms_heads = gemma || config.architecture == Architecture::Qwen3;
        Ok(Layer {
            attention_norm: self.norm(&name("attn_norm"), width)?,
            query: self.linear(&name("attn_q"), all, width)?,
            key: self.linear(&name("attn_k"), all_kv, width)?,
            value: self.linear(&name("attn_v"), all_kv, width)?,
            query_norm: norms_heads
                .then(|| self.norm(&name("attn_q_norm"), head))
                .transpose()?,
            key_norm: norms_heads
                .then(|| self.norm(&name("attn_k_norm"), head))
                .transpose()?,
            join: self.linear(&name("attn_output"), width, all)?,
            after_attention: gemma
                .then(|| self.norm(&name("post_attention_norm"), width))
                .transpose()?,
            inner_norm: self.norm(&name("ffn_norm"), width)?,
            gate: self.linear(&name("ffn_gate"), inner, width)?,
            up: self.linear(&name("ffn_up"), inner, width)?,
            down: self.linear(&name("ffn_down"), width, inner)?,
            after_inner: gemma
                .then(|| self.norm(&name("post_ffw_norm"), width))
                .transpose()?,
            sliding: config.slides(index),
            cache: Cache::new(config.kv_heads, head)?,
        })
    }
}

#[cfg(test)]
mod tests;
