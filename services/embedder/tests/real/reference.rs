//! BERT's layer mathematics, written out in plain `f32` from the papers (Devlin et al. 2018;
//! Vaswani et al. 2017 for attention; Ba et al. 2016 for layer normalisation) and read straight
//! from the weights, without anything of the crate under test.

use std::collections::HashMap;
use std::f64::consts::PI;
use std::fs;
use std::path::Path;

use safetensors::SafeTensors;
use serde_json::Value;

pub(crate) struct Reference {
    tensors: HashMap<String, Vec<f32>>,
    hidden: usize,
    layers: usize,
    heads: usize,
    epsilon: f32,
    first_position: usize,
}

impl Reference {
    pub(crate) fn read(folder: &Path) -> Self {
        let config: Value =
            serde_json::from_slice(&fs::read(folder.join("config.json")).unwrap()).unwrap();
        let number = |name: &str| usize::try_from(config[name].as_u64().unwrap()).unwrap();
        let bytes = fs::read(folder.join("model.safetensors")).unwrap();
        let tensors = SafeTensors::deserialize(&bytes)
            .unwrap()
            .tensors()
            .into_iter();
        let floats = |data: &[u8]| {
            data.as_chunks::<4>()
                .0
                .iter()
                .map(|bytes| f32::from_le_bytes(*bytes))
                .collect()
        };
        Self {
            tensors: tensors
                .map(|(name, view)| (name, floats(view.data())))
                .collect(),
            hidden: number("hidden_size"),
            layers: number("num_hidden_layers"),
            heads: number("num_attention_heads"),
            epsilon: serde_json::from_value(config["layer_norm_eps"].clone()).unwrap(),
            first_position: match config["model_type"].as_str() {
                Some("bert") => 0,
                _ => number("pad_token_id") + 1,
            },
        }
    }

    /// One hidden state per token.
    pub(crate) fn states(&self, ids: &[u32]) -> Vec<Vec<f32>> {
        let row = |name: &str, index: usize| {
            &self.tensors[name][index * self.hidden..(index + 1) * self.hidden]
        };
        let mut states: Vec<Vec<f32>> = ids
            .iter()
            .enumerate()
            .map(|(index, id)| {
                let word = row("embeddings.word_embeddings.weight", *id as usize);
                let position = row(
                    "embeddings.position_embeddings.weight",
                    index + self.first_position,
                );
                let kind = row("embeddings.token_type_embeddings.weight", 0);
                let sum = word
                    .iter()
                    .zip(position)
                    .zip(kind)
                    .map(|((w, p), k)| w + p + k);
                self.norm("embeddings.LayerNorm", &sum.collect::<Vec<_>>())
            })
            .collect();
        for layer in 0..self.layers {
            states = self.layer(&format!("encoder.layer.{layer}"), &states);
        }
        states
    }

    /// The text's vector of unit length.
    pub(crate) fn vector(&self, ids: &[u32], mean: bool) -> Vec<f32> {
        let states = self.states(ids);
        let used = if mean { &states[..] } else { &states[..1] };
        let sum = (0..self.hidden).map(|index| used.iter().map(|state| state[index]).sum::<f32>());
        let sum: Vec<f32> = sum.collect();
        let norm = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
        sum.iter().map(|value| value / norm).collect()
    }

    fn layer(&self, name: &str, states: &[Vec<f32>]) -> Vec<Vec<f32>> {
        let contexts = self.attention(&format!("{name}.attention.self"), states);
        let attended = contexts.iter().zip(states).map(|(context, state)| {
            let dense = self.dense(&format!("{name}.attention.output.dense"), context);
            self.norm(
                &format!("{name}.attention.output.LayerNorm"),
                &add(&dense, state),
            )
        });
        attended
            .map(|state| {
                let inner = self.dense(&format!("{name}.intermediate.dense"), &state);
                let inner: Vec<f32> = inner.into_iter().map(gelu).collect();
                let dense = self.dense(&format!("{name}.output.dense"), &inner);
                self.norm(&format!("{name}.output.LayerNorm"), &add(&dense, &state))
            })
            .collect()
    }

    fn attention(&self, name: &str, states: &[Vec<f32>]) -> Vec<Vec<f32>> {
        let project = |part: &str| -> Vec<Vec<f32>> {
            states
                .iter()
                .map(|state| self.dense(&format!("{name}.{part}"), state))
                .collect()
        };
        let (queries, keys, values) = (project("query"), project("key"), project("value"));
        let width = self.hidden / self.heads;
        let scale = (width as f32).sqrt();
        queries
            .iter()
            .map(|query| {
                let mut context = Vec::with_capacity(self.hidden);
                for head in 0..self.heads {
                    let part = head * width..(head + 1) * width;
                    let scores = keys
                        .iter()
                        .map(|key| dot(&query[part.clone()], &key[part.clone()]) / scale);
                    let weights = softmax(&scores.collect::<Vec<_>>());
                    context.extend(part.map(|index| {
                        let pairs = weights.iter().zip(&values);
                        pairs
                            .map(|(weight, value)| weight * value[index])
                            .sum::<f32>()
                    }));
                }
                context
            })
            .collect()
    }

    fn dense(&self, name: &str, input: &[f32]) -> Vec<f32> {
        let bias = &self.tensors[&format!("{name}.bias")];
        let rows = self.tensors[&format!("{name}.weight")].chunks_exact(input.len());
        rows.zip(bias)
            .map(|(row, bias)| dot(row, input) + bias)
            .collect()
    }

    fn norm(&self, name: &str, input: &[f32]) -> Vec<f32> {
        let count = input.len() as f32;
        let mean = input.iter().sum::<f32>() / count;
        let variance = input
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f32>()
            / count;
        let deviation = (variance + self.epsilon).sqrt();
        let gamma = &self.tensors[&format!("{name}.weight")];
        let beta = &self.tensors[&format!("{name}.bias")];
        let scaled = input
            .iter()
            .zip(gamma)
            .map(|(value, gamma)| gamma * (value - mean) / deviation);
        scaled.zip(beta).map(|(value, beta)| value + beta).collect()
    }
}

fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter()
        .zip(right)
        .map(|(left, right)| left * right)
        .sum()
}

fn add(left: &[f32], right: &[f32]) -> Vec<f32> {
    left.iter()
        .zip(right)
        .map(|(left, right)| left + right)
        .collect()
}

fn softmax(scores: &[f32]) -> Vec<f32> {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f32> = scores.iter().map(|score| (score - largest).exp()).collect();
    let sum: f32 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Gaussian error linear unit (Hendrycks and Gimpel 2016), in its exact form.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the model's values are `f32`"
)]
fn gelu(value: f32) -> f32 {
    let value = f64::from(value);
    (0.5 * value * (1.0 + erf(value / 2.0_f64.sqrt()))) as f32
}

/// The error function by its Maclaurin series, 2/√π · Σ (−1)ⁿ x²ⁿ⁺¹ / (n! (2n + 1)); beyond 4 it
/// is ±1 to within 2e-8.
fn erf(x: f64) -> f64 {
    if x.abs() > 4.0 {
        return x.signum();
    }
    let (mut power, mut sum) = (x, x);
    for n in 1..100 {
        power *= -x * x / f64::from(n);
        sum += power / f64::from(2 * n + 1);
    }
    sum * 2.0 / PI.sqrt()
}

#[test]
fn the_error_function_has_its_known_values() {
    for (x, expect) in [
        (0.0, 0.0),
        (0.5, 0.520_499_877_8),
        (1.0, 0.842_700_792_9),
        (-3.0, -0.999_977_909_5),
    ] {
        assert!((erf(x) - expect).abs() < 1e-9, "erf({x}) is {}", erf(x));
    }
}
