//! The shape of a model, as its file says.

use super::super::file::{Architecture, FileError, ModelFile};
use super::rope::Pairing;

/// Longest window that is made use of. Prompts here stay well below; it bounds what a file that
/// promises a million tokens can ask for.
const MOST_TOKENS: usize = 32_768;
/// Bounds on what a file may say, far above every model there is.
const MOST_LAYERS: usize = 1_024;
const MOST_HEADS: usize = 1_024;
const MOST_WIDTH: usize = 1 << 20;

/// Tokens back to the one in hand, itself included, that most layers of a Gemma see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sliding {
    pub(super) tokens: usize,
    /// Each layer whose number, from 1, this divides sees all.
    pub(super) every: usize,
}

/// Sizes and habits of a model.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct Config {
    pub(super) architecture: Architecture,
    pub(super) layers: usize,
    /// Numbers per token between the layers.
    pub(super) width: usize,
    /// Numbers per token within a feed-forward part.
    pub(super) inner: usize,
    pub(super) heads: usize,
    /// Heads of keys and values; each serves `heads / kv_heads` heads.
    pub(super) kv_heads: usize,
    pub(super) head_width: usize,
    pub(in super::super) vocabulary: usize,
    pub(super) epsilon: f32,
    /// What scores are multiplied by before their softmax.
    pub(super) score_scale: f32,
    pub(super) pairing: Pairing,
    /// How many numbers of a head are rotated.
    pub(super) rotated: usize,
    pub(super) rope_base: f32,
    /// What positions are divided by, on layers that see all.
    pub(super) rope_divisor: f32,
    pub(super) sliding: Option<Sliding>,
    /// Most tokens of prompt and answer together.
    pub(in super::super) window: usize,
}

impl Config {
    /// Reads and checks them.
    pub(in super::super) fn read(file: &ModelFile) -> Result<Self, FileError> {
        let architecture = file.architecture;
        if file
            .optional_number("expert_count")
            .is_some_and(|count| count > 0)
        {
            return Err(FileError::Unsupported("a mixture of experts".to_owned()));
        }
        let width = file.number("embedding_length", MOST_WIDTH)?;
        let heads = file.number("attention.head_count", MOST_HEADS)?;
        let kv_heads = match file.optional_number("attention.head_count_kv") {
            Some(_) => file.number("attention.head_count_kv", heads)?,
            None => heads,
        };
        let head_width = match file.optional_number("attention.key_length") {
            Some(_) => file.number("attention.key_length", MOST_WIDTH)?,
            None => width / heads,
        };
        let value_width = file.optional_number("attention.value_length");
        let rotated = file
            .optional_number("rope.dimension_count")
            .unwrap_or(head_width);
        let even = rotated.is_multiple_of(2) && (2..=head_width).contains(&rotated);
        if heads % kv_heads != 0 || !even || value_width.is_some_and(|value| value != head_width) {
            return Err(FileError::Value("attention.head_count".to_owned()));
        }
        let gemma = architecture == Architecture::Gemma3;
        let layers = file.number("block_count", MOST_LAYERS)?;
        // The 27B model alone scales by the width per head and not by the heads' own width.
        let score_width = if gemma && layers == 62 {
            width / heads
        } else {
            head_width
        };
        let embeddings = file.info("token_embd.weight");
        let vocabulary = embeddings.and_then(|info| info.shape.dims().first().copied());
        let config = Self {
            architecture,
            layers,
            width,
            inner: file.number("feed_forward_length", MOST_WIDTH)?,
            heads,
            kv_heads,
            head_width,
            vocabulary: vocabulary
                .ok_or_else(|| FileError::Value("token_embd.weight".to_owned()))?,
            epsilon: file
                .optional_float("attention.layer_norm_rms_epsilon")
                .filter(|epsilon| *epsilon > 0.0)
                .unwrap_or(1e-6),
            score_scale: (score_width as f32).sqrt().recip(),
            pairing: match architecture {
                Architecture::Llama => Pairing::Neighbours,
                Architecture::Qwen2 | Architecture::Qwen3 | Architecture::Gemma3 => Pairing::Halves,
            },
            rotated,
            rope_base: file
                .optional_float("rope.freq_base")
                .filter(|base| *base > 1.0)
                .unwrap_or(if gemma { 1e6 } else { 1e4 }),
            rope_divisor: 1.0,
            sliding: if gemma {
                Some(Sliding {
                    tokens: file.number("attention.sliding_window", usize::MAX)?,
                    every: 6,
                })
            } else {
                None
            },
            window: file.number("context_length", usize::MAX)?.min(MOST_TOKENS),
        };
        config.scaled(file)
    }

    /// A model whose positions are stretched: by division as it was trained, or by `YaRN`,
    /// which is left out here; then the window is the one before stretching.
    fn scaled(mut self, file: &ModelFile) -> Result<Self, FileError> {
        match file.optional_own_text("rope.scaling.type") {
            None | Some("none") => {}
            Some("linear") => {
                self.rope_divisor = file
                    .optional_float("rope.scaling.factor")
                    .filter(|factor| *factor >= 1.0)
                    .unwrap_or(1.0);
            }
            Some(_) => {
                let original = file.number("rope.scaling.original_context_length", usize::MAX)?;
                self.window = self.window.min(original);
            }
        }
        Ok(self)
    }

    /// Whether layer `index`, from 0, sees only the last tokens.
    pub(super) fn slides(&self, index: usize) -> Option<usize> {
        let sliding = self.sliding?;
        (!(index + 1).is_multiple_of(sliding.every)).then_some(sliding.tokens)
    }

    /// Bytes of keys and values per token.
    pub(in super::super) fn bytes_per_token(&self) -> u64 {
        let numbers = self.layers * self.kv_heads * self.head_width * 2;
        numbers as u64 * 4
    }
}
