//! How sure a mean or a difference is, and percentiles. All random draws have a fixed seed, so
//! that a table can be made again.

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde::{Deserialize, Serialize};

/// The seed of every draw.
pub const SEED: u64 = 20_261_130;
const RESAMPLES: usize = 2_000;
const PERMUTATIONS: u32 = 10_000;

/// Where 95 of 100 means of samples like this one lie.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The 95 % interval of the mean of `values` by the percentile bootstrap (Efron, 1979): 2,000
/// samples with replacement. Both ends are 0 without values.
pub fn bootstrap(values: &[f64]) -> Interval {
    if values.is_empty() {
        return Interval::default();
    }
    let mut random = StdRng::seed_from_u64(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn = (0..values.len()).map(|_| random.random_range(0..values.len()));
            let sum: f64 = drawn.filter_map(|at| values.get(at)).sum();
            sum / values.len() as f64
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    Interval {
        low: percentile(&means, 0.025),
        high: percentile(&means, 0.975),
    }
}

/// What two systems differ in over the same questions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Mean of the first less mean of the second.
    pub mean: f64,
    /// The 95 % interval of that.
    pub interval: Interval,
    /// How often chance alone gives a difference as large, in either direction.
    pub p: f64,
}

/// Compares by pairs (first, second) of the same question: bootstrap interval, and the two-sided
/// paired randomisation test (Fisher's; Smucker, Allan and Carterette, CIKM 2007) over 10,000
/// draws of signs.
pub fn compare(pairs: &[(f64, f64)]) -> Difference {
    let differences: Vec<f64> = pairs.iter().map(|(first, second)| first - second).collect();
    let sum: f64 = differences.iter().sum();
    // Where both agree, no sign changes anything.
    let moved: Vec<f64> = differences
        .iter()
        .copied()
        .filter(|difference| *difference != 0.0)
        .collect();
    let mut random = StdRng::seed_from_u64(SEED);
    let tolerance = 1e-9;
    let as_large = (0..PERMUTATIONS)
        .filter(|_| {
            let drawn: f64 = moved
                .iter()
                .map(|difference| {
                    if random.random() {
                        *difference
                    } else {
                        -difference
                    }
                })
                .sum();
            drawn.abs() >= sum.abs() - tolerance
        })
        .count();
    Difference {
        mean: sum / (pairs.len() as f64).max(1.0),
        interval: bootstrap(&differences),
        p: (as_large as f64 + 1.0) / (f64::from(PERMUTATIONS) + 1.0),
    }
}

/// The value below which `share` (0…1) of `sorted` lies, by the nearest rank; 0 without values.
pub fn percentile(sorted: &[f64], share: f64) -> f64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place in the slice"
    )]
    let rank = (share.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
    let place = rank.saturating_sub(1);
    sorted.get(place).copied().unwrap_or(0.0)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the values are exact")]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        for (share, expect) in [(0.0, 1.0), (0.5, 50.0), (0.95, 95.0), (1.0, 100.0)] {
            assert_eq!(percentile(&values, share), expect, "{share}");
        }
        assert_eq!(percentile(&[7.0], 0.95), 7.0);
        assert_eq!(percentile(&[], 0.5), 0.0);
    }

    #[test]
    fn an_interval_holds_the_mean_and_is_as_wide_as_theory_says() {
        // 400 questions, half of them found: the standard error is 0.025.
        let values: Vec<f64> = (0..400).map(|n| f64::from(n % 2)).collect();
        let interval = bootstrap(&values);
        assert!((interval.low - 0.451).abs() < 0.01, "{interval:?}");
        assert!((interval.high - 0.549).abs() < 0.01, "{interval:?}");
        assert_eq!(interval, bootstrap(&values), "the seed is fixed");
        let same = bootstrap(&[0.25; 9]);
        assert_eq!((same.low, same.high), (0.25, 0.25));
        assert_eq!(bootstrap(&[]), Interval::default());
    }

    #[test]
    fn chance_and_a_true_difference_are_told_apart() {
        // Better on each of 20 questions: two of 2^20 draws of signs are as large.
        let better: Vec<(f64, f64)> = (0..20).map(|n| (0.6 + f64::from(n) * 0.01, 0.5)).collect();
        let found = compare(&better);
        assert!(found.p < 0.001 && found.mean > 0.0, "{found:?}");
        assert!(found.interval.low > 0.0, "{found:?}");
        let turned: Vec<(f64, f64)> = better.iter().map(|(a, b)| (*b, *a)).collect();
        let turned = compare(&turned);
        assert!((turned.mean + found.mean).abs() < 1e-12 && turned.p < 0.001);
        // As often better as worse.
        let even: Vec<(f64, f64)> = (0..40).map(|n| (f64::from(n % 2), 0.5)).collect();
        let even = compare(&even);
        assert!(even.p > 0.9 && even.mean == 0.0, "{even:?}");
        assert!(even.interval.low < 0.0 && even.interval.high > 0.0);
        assert_eq!(compare(&[(0.4, 0.4); 5]).p, 1.0);
        // Three questions can never be sure: 2 of 8 draws are as large.
        let few = compare(&[(1.0, 0.0); 3]);
        assert!((few.p - 0.25).abs() < 0.02, "{few:?}");
    }
}
