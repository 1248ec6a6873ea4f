//! How long to wait before a child that ended is started again.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(10);
/// A child that ran so long was healthy: what ended it is news, not a repetition.
const HEALTHY: Duration = Duration::from_secs(30);

/// 0.2 s, 0.4 s, … up to 10 s; from the start again after a healthy run.
#[derive(Debug, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// The wait after a run of length `ran`.
    pub fn after(&mut self, ran: Duration) -> Duration {
        if ran >= HEALTHY {
            self.failures = 0;
        }
        let wait = FIRST
            .saturating_mul(2_u32.saturating_pow(self.failures))
            .min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_begin_anew_after_a_healthy_run() {
        let mut backoff = Backoff::default();
        let short = Duration::from_secs(1);
        let waits: Vec<_> = (0..8).map(|_| backoff.after(short).as_millis()).collect();
        assert_eq!(waits, [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
        assert_eq!(backoff.after(HEALTHY).as_millis(), 200);
        assert_eq!(backoff.after(short).as_millis(), 400);
        for _ in 0..100 {
            assert!(backoff.after(short) <= LONGEST);
        }
    }
}
