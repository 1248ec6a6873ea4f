//! Which token comes next.

use candle_core::{Device, Tensor};
use candle_transformers::generation::{LogitsProcessor, Sampling};

/// The same question gets the same answer.
const SEED: u64 = 0;
/// What is drawn from: at most so many tokens, of together at most this likelihood.
const MOST_TOKENS: usize = 40;
const MOST_LIKELIHOOD: f64 = 0.95;
/// A token of the last so many of the answer is taken for less likely by so much (as Ollama
/// does). Those of the prompt are not: an answer is to repeat its passages.
const RECENT: usize = 64;
const PENALTY: f32 = 1.1;

/// Draws tokens.
pub(super) struct Sampler {
    processor: Option<LogitsProcessor>,
    answer: Vec<u32>,
}

impl Sampler {
    /// Draws with this temperature; at 0 the likeliest.
    pub(super) fn new(temperature: f32) -> Self {
        let sampling = (temperature > 1e-3).then(|| Sampling::TopKThenTopP {
            k: MOST_TOKENS,
            p: MOST_LIKELIHOOD,
            temperature: f64::from(temperature),
        });
        Self {
            processor: sampling.map(|sampling| LogitsProcessor::from_sampling(SEED, sampling)),
            answer: Vec::new(),
        }
    }

    /// The next token of the answer.
    pub(super) fn next(&mut self, mut logits: Vec<f32>) -> candle_core::Result<u32> {
        let recent = self.answer.len().saturating_sub(RECENT);
        let mut recent = self.answer.get(recent..).unwrap_or_default().to_vec();
        recent.sort_unstable();
        recent.dedup();
        for token in recent {
            let logit = usize::try_from(token).ok();
            if let Some(logit) = logit.and_then(|index| logits.get_mut(index)) {
                *logit = if *logit > 0.0 {
                    *logit / PENALTY
                } else {
                    *logit * PENALTY
                };
            }
        }
        let token = match &mut self.processor {
            Some(processor) => {
                let length = logits.len();
                processor.sample(&Tensor::from_vec(logits, length, &Device::Cpu)?)?
            }
            None => likeliest(&logits),
        };
        self.answer.push(token);
        Ok(token)
    }
}

fn likeliest(logits: &[f32]) -> u32 {
    let best = (0_u32..)
        .zip(logits)
        .max_by(|(index, logit), (other, other_logit)| {
            logit.total_cmp(other_logit).then(other.cmp(index))
        });
    best.map_or(0, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_zero_the_likeliest_comes_and_a_repeated_one_weighs_less() {
        let mut sampler = Sampler::new(0.0);
        let logits = vec![1.0, 2.0, 2.1, -1.0];
        assert_eq!(sampler.next(logits.clone()).unwrap(), 2);
        assert_eq!(sampler.next(logits.clone()).unwrap(), 1);
        assert_eq!(sampler.next(logits).unwrap(), 2);
    }

    #[test]
    fn drawing_repeats_and_keeps_to_the_likely() {
        let draw = || -> Vec<u32> {
            let mut sampler = Sampler::new(1.0);
            let logits = vec![2.0, 1.5, -30.0, 1.0];
            (0..50)
                .map(|_| sampler.next(logits.clone()).unwrap())
                .collect()
        };
        let drawn = draw();
        assert_eq!(drawn, draw());
        assert!(drawn.contains(&0) && drawn.contains(&1) && !drawn.contains(&2));
    }
}
