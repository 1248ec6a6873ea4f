//! The steps between the matrix products, each in one pass over its numbers.
//!
//! Built of candle's own operations each of these is five to eight passes on one thread, and the
//! masks of a long prompt would be kept for good.

use std::ops::Range;
use std::sync::Arc;

use candle_core::utils::barrier_pool;
use candle_core::{CpuStorage, CustomOp1, CustomOp2, InplaceOp1, Layout, Result, Shape};
use parking_lot::Mutex;

use super::rope::Rope;

/// Below this many numbers the other threads are not woken.
const ALONE: usize = 1 << 15;

/// The numbers of a contiguous tensor.
fn numbers<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    let all = storage.as_slice::<f32>()?;
    let part = contiguous(layout)?;
    let part = all.get(part);
    part.ok_or_else(|| candle_core::Error::msg("a tensor ends before its shape"))
}

fn contiguous(layout: &Layout) -> Result<Range<usize>> {
    let (start, end) = layout
        .contiguous_offsets()
        .ok_or_else(|| candle_core::Error::msg("a tensor is not contiguous"))?;
    Ok(start..end)
}

/// Does `work` on each part of `length` numbers, which gets its index, on all of candle's threads.
fn on_parts(numbers: &mut [f32], length: usize, work: impl Fn(usize, &mut [f32]) + Sync) {
    if numbers.len() < ALONE {
        for (index, part) in numbers.chunks_mut(length.max(1)).enumerate() {
            work(index, part);
        }
        return;
    }
    let parts = numbers.chunks_mut(length.max(1));
    let parts: Vec<Mutex<&mut [f32]>> = parts.map(Mutex::new).collect();
    barrier_pool().execute_chunked(parts.len(), |range| {
        for index in range {
            if let Some(part) = parts.get(index) {
                work(index, &mut part.lock());
            }
        }
    });
}

/// e^x for x up to 88, without the calls and branches that keep a loop from being vectorised.
/// Relative error below 3e-7: 2^n by the exponent's bits, the rest by the polynomial of Cephes'
/// `expf`.
fn exp(x: f32) -> f32 {
    const LOG2_E: f32 = std::f32::consts::LOG2_E;
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    // Adding and taking this away rounds to whole numbers.
    const ROUND: f32 = 12_582_912.0;
    let x = x.max(-87.0);
    let whole = (x * LOG2_E + ROUND) - ROUND;
    let rest = x - whole * LN2_HIGH - whole * LN2_LOW;
    let mut sum = 1.987_569_1e-4_f32;
    for term in [
        1.398_199_9e-3,
        8.333_452e-3,
        4.166_579_6e-2,
        0.166_666_65,
        0.5,
    ] {
        sum = sum * rest + term;
    }
    let sum = sum * rest * rest + rest + 1.0;
    #[expect(clippy::cast_possible_truncation, reason = "from -126 to 127")]
    #[expect(clippy::cast_sign_loss, reason = "the bias makes it positive")]
    let power = f32::from_bits(((whole as i32 + 127) as u32) << 23);
    sum * power
}

/// Splits `[tokens, heads * width]` into `[heads, tokens, width]`, turning each head to its
/// position.
pub(super) struct SplitHeads {
    pub(super) heads: usize,
    /// None for values, which are not turned.
    pub(super) rope: Option<Arc<Rope>>,
    /// The position of the first token.
    pub(super) position: usize,
}

impl CustomOp1 for SplitHeads {
    fn name(&self) -> &'static str {
        "split-heads"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (tokens, all) = layout.shape().dims2()?;
        let input = numbers(storage, layout)?;
        let width = all / self.heads;
        let mut output = vec![0_f32; input.len()];
        on_parts(&mut output, tokens * width, |head, part| {
            let rows = input.chunks_exact(all).zip(part.chunks_exact_mut(width));
            for (token, (from, to)) in rows.enumerate() {
                if let Some(from) = from.get(head * width..(head + 1) * width) {
                    to.copy_from_slice(from);
                }
                if let Some(rope) = &self.rope {
                    rope.rotate(self.position + token, to);
                }
            }
        });
        let shape = Shape::from((self.heads, tokens, width));
        Ok((CpuStorage::F32(output), shape))
    }
}

/// Joins `[heads, tokens, width]` to `[tokens, heads * width]`.
pub(super) struct JoinHeads;

impl CustomOp1 for JoinHeads {
    fn name(&self) -> &'static str {
        "join-heads"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (heads, tokens, width) = layout.shape().dims3()?;
        let input = numbers(storage, layout)?;
        let mut output = vec![0_f32; input.len()];
        on_parts(&mut output, heads * width, |token, row| {
            for (head, to) in row.chunks_exact_mut(width).enumerate() {
                let at = (head * tokens + token) * width;
                if let Some(from) = input.get(at..at + width) {
                    to.copy_from_slice(from);
                }
            }
        });
        let shape = Shape::from((tokens, heads * width));
        Ok((CpuStorage::F32(output), shape))
    }
}

/// The softmax of scores `[.., tokens, seen]`, in which each token sees itself and those before
/// it. The last `tokens` of those seen are the tokens themselves.
pub(super) struct CausalSoftmax {
    pub(super) tokens: usize,
    /// Most tokens seen, itself included.
    pub(super) sliding: Option<usize>,
    pub(super) scale: f32,
}

impl InplaceOp1 for CausalSoftmax {
    fn name(&self) -> &'static str {
        "causal-softmax"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let part = contiguous(layout)?;
        let seen = layout.dims().last().copied().unwrap_or_default();
        let CpuStorage::F32(all) = storage else {
            return Err(candle_core::Error::msg("scores are 32-bit numbers"));
        };
        let scores = all.get_mut(part).unwrap_or_default();
        let past = seen.saturating_sub(self.tokens);
        on_parts(scores, seen, |row, scores| {
            let end = past + row % self.tokens.max(1) + 1;
            let start = end.saturating_sub(self.sliding.unwrap_or(end));
            let (before, rest) = scores.split_at_mut(start);
            let (visible, after) = rest.split_at_mut(end - start);
            before.fill(0.0);
            after.fill(0.0);
            softmax(visible, self.scale);
        });
        Ok(())
    }
}

fn softmax(scores: &mut [f32], scale: f32) {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    for score in &mut *scores {
        *score = exp((*score - most) * scale);
    }
    let sum: f32 = scores.iter().sum();
    let share = sum.recip();
    for score in scores {
        *score *= share;
    }
}

/// What a gate lets through: `f(gate) * up`.
pub(super) enum Gate {
    /// x · σ(x).
    Silu,
    /// GELU by its tanh approximation.
    Gelu,
}

impl Gate {
    fn let_through(&self, x: f32) -> f32 {
        let steepness = match self {
            Self::Silu => x,
            // 0.5 · (1 + tanh(u)) is σ(2u).
            Self::Gelu => 1.595_769 * (x + 0.044_715 * x * x * x),
        };
        // Above 87 the sigmoid is 1 to the last bit.
        x / (1.0 + exp((-steepness).min(87.0)))
    }
}

impl CustomOp2 for Gate {
    fn name(&self) -> &'static str {
        "gate"
    }

    fn cpu_fwd(
        &self,
        gates: &CpuStorage,
        gates_layout: &Layout,
        ups: &CpuStorage,
        ups_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        const PART: usize = 1 << 12;
        let mut output = numbers(gates, gates_layout)?.to_vec();
        let ups = numbers(ups, ups_layout)?;
        on_parts(&mut output, PART, |index, part| {
            let ups = ups.get(index * PART..).unwrap_or_default();
            for (gate, up) in part.iter_mut().zip(ups) {
                *gate = self.let_through(*gate) * up;
            }
        });
        Ok((CpuStorage::F32(output), gates_layout.shape().clone()))
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};

    use super::*;

    #[test]
    fn the_fast_exponential_is_near_the_exact_one() {
        for step in -8_700..8_700 {
            let x = step as f32 / 100.0;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(error < 3e-7, "e^{x}: {error}");
        }
        assert!(exp(-1e9) < 1e-37);
    }

    #[test]
    fn gates_let_through_what_their_formulas_say() {
        for step in -200..200 {
            let x = step as f32 / 10.0;
            let silu = x / (1.0 + (-x).exp());
            let inner = 0.797_884_6 * (x + 0.044_715 * x.powi(3));
            let gelu = 0.5 * x * (1.0 + inner.tanh());
            let near = |found: f32, exact: f32| (found - exact).abs() < 1e-5 * exact.abs().max(1.0);
            assert!(near(Gate::Silu.let_through(x), silu), "silu({x})");
            assert!(near(Gate::Gelu.let_through(x), gelu), "gelu({x})");
        }
    }

    #[test]
    fn each_token_sees_itself_and_those_before() {
        #[track_caller]
        fn check(sliding: Option<usize>, expect: [f32; 8]) {
            let scores = Tensor::zeros((1, 2, 4), candle_core::DType::F32, &Device::Cpu).unwrap();
            let softmax = CausalSoftmax {
                tokens: 2,
                sliding,
                scale: 1.0,
            };
            scores.inplace_op1(&softmax).unwrap();
            let found: Vec<f32> = scores.flatten_all().unwrap().to_vec1().unwrap();
            for (found, expect) in found.iter().zip(expect) {
                assert!((found - expect).abs() < 1e-6, "{found} is not {expect}");
            }
        }
        let third = 1.0 / 3.0;
        check(None, [third, third, third, 0.0, 0.25, 0.25, 0.25, 0.25]);
        check(Some(2), [0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.5, 0.5]);
    }

    #[test]
    fn heads_split_and_join_to_the_same() {
        let numbers: Vec<f32> = (0_u16..24).map(f32::from).collect();
        let tensor = Tensor::from_vec(numbers, (3, 8), &Device::Cpu).unwrap();
        let split = SplitHeads {
            heads: 2,
            rope: None,
            position: 0,
        };
        let heads = tensor.apply_op1_no_bwd(&split).unwrap();
        assert_eq!(heads.dims(), [2, 3, 4]);
        let first: Vec<f32> = heads.get(1).unwrap().get(0).unwrap().to_vec1().unwrap();
        assert_eq!(first, [4.0, 5.0, 6.0, 7.0]);
        let joined = heads.apply_op1_no_bwd(&JoinHeads).unwrap();
        assert_eq!(
            joined.to_vec2::<f32>().unwrap(),
            tensor.to_vec2::<f32>().unwrap()
        );
    }
}
