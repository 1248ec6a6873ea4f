//! How long questions take, as whoever asks sees it, and where the time goes.

use serde::{Deserialize, Serialize};
use shared::contract::Timings;

use super::statistics::percentile;

/// One question.
#[derive(Debug, Clone)]
pub struct Sample {
    /// From the request to the whole reply, in milliseconds.
    pub wall_ms: f64,
    /// What the reply says of it.
    pub timings: Timings,
}

/// One part of the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What is done.
    pub name: String,
    /// Half of the questions need no more, in milliseconds.
    pub p50_ms: f64,
    /// 95 of 100 need no more.
    pub p95_ms: f64,
}

/// The times of many questions, in milliseconds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Latency {
    /// How many were asked.
    pub questions: usize,
    /// Half of them need no more.
    pub p50_ms: f64,
    /// 95 of 100 need no more.
    pub p95_ms: f64,
    /// The slowest.
    pub max_ms: f64,
    /// Its parts. The keyword engine works beside embedding and vector engine, and a percentile
    /// of a sum is no sum of percentiles: they do not add up.
    pub steps: Vec<Step>,
}

type Part = (&'static str, fn(&Sample) -> f64);

const PARTS: [Part; 8] = [
    ("understand", |s| s.timings.understand_ms),
    ("embed", |s| s.timings.embed_ms),
    ("vector", |s| s.timings.vector_ms),
    ("keyword", |s| s.timings.keyword_ms),
    ("fuse", |s| s.timings.fuse_ms),
    ("rerank", |s| s.timings.rerank_ms),
    ("pack", |s| s.timings.pack_ms),
    ("http", |s| (s.wall_ms - s.timings.total_ms).max(0.0)),
];

impl Latency {
    /// Sums up.
    pub fn of(samples: &[Sample]) -> Self {
        let sorted = |value: fn(&Sample) -> f64| {
            let mut values: Vec<f64> = samples.iter().map(value).collect();
            values.sort_unstable_by(f64::total_cmp);
            values
        };
        let wall = sorted(|s| s.wall_ms);
        let steps = PARTS.map(|(name, value)| {
            let values = sorted(value);
            Step {
                name: name.to_owned(),
                p50_ms: percentile(&values, 0.5),
                p95_ms: percentile(&values, 0.95),
            }
        });
        Self {
            questions: samples.len(),
            p50_ms: percentile(&wall, 0.5),
            p95_ms: percentile(&wall, 0.95),
            max_ms: percentile(&wall, 1.0),
            steps: steps.into(),
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the values are exact")]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_the_services_time_is_the_way_there_and_back() {
        let sample = |n: u32| Sample {
            wall_ms: f64::from(n),
            timings: Timings {
                total_ms: f64::from(n) - 1.5,
                keyword_ms: f64::from(n) / 2.0,
                ..Timings::default()
            },
        };
        let samples: Vec<Sample> = (1..=100).rev().map(sample).collect();
        let latency = Latency::of(&samples);
        assert_eq!(
            (latency.p50_ms, latency.p95_ms, latency.max_ms),
            (50.0, 95.0, 100.0)
        );
        let step = |name: &str| latency.steps.iter().find(|s| s.name == name).unwrap();
        assert_eq!(step("http").p95_ms, 1.5);
        assert_eq!(step("keyword").p50_ms, 25.0);
        assert_eq!(Latency::of(&[]).p95_ms, 0.0);
    }
}
