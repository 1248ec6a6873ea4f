//! How many tokens, or bytes of text, fit the time of a batch.

use std::time::Duration;

/// Weight of one more batch in the running mean.
const NEW: f64 = 0.1;

/// The measured speed of an encoder, and the batch size that follows from it. Where the tokens
/// are not known, bytes of text stand for them.
pub(crate) struct Pace {
    batch_time: Duration,
    tokens_per_second: f64,
}

impl Pace {
    /// A pace from a first measurement.
    pub(crate) fn new(batch_time: Duration, tokens: usize, took: Duration) -> Self {
        Self {
            batch_time,
            tokens_per_second: speed(tokens, took),
        }
    }

    /// Most tokens of a batch, padding included; at least 1.
    pub(crate) fn budget(&self) -> usize {
        let tokens = self.tokens_per_second * self.batch_time.as_secs_f64();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at least 1, and a float beyond `usize` becomes its largest value"
        )]
        let tokens = tokens.max(1.0) as usize;
        tokens
    }

    /// Learns from a batch: processors warm up, slow down, and are taken by others.
    pub(crate) fn learn(&mut self, tokens: usize, took: Duration) {
        self.tokens_per_second += NEW * (speed(tokens, took) - self.tokens_per_second);
    }
}

fn speed(tokens: usize, took: Duration) -> f64 {
    tokens as f64 / took.as_secs_f64().max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_speed_times_batch_time_and_follows_the_speed() {
        let (batch, took) = (Duration::from_millis(50), Duration::from_millis(100));
        let mut pace = Pace::new(batch, 600, took);
        assert_eq!(pace.budget(), 300);
        for _ in 0..100 {
            pace.learn(1200, took);
        }
        assert!((595..=600).contains(&pace.budget()), "{}", pace.budget());
        assert_eq!(
            Pace::new(batch, 0, took).budget(),
            1,
            "one text is always possible"
        );
    }
}
