//! How far a measurement is: a bar on a terminal, a line every few seconds elsewhere.

use std::cell::Cell;
use std::time::Duration;

use indicatif::ProgressBar;
use tokio::time::Instant;

use crate::intake::clock;
use crate::output::{count, thousands};
use crate::screen::Screen;

/// Between two plain lines.
const PLAIN_EVERY: Duration = Duration::from_secs(10);
/// Share of the work from which on the time left is told.
const ENOUGH: f64 = 0.03;

/// Counts what is done.
pub struct Progress {
    screen: Screen,
    bar: ProgressBar,
    noun: &'static str,
    all: u64,
    done: Cell<u64>,
    started: Instant,
    told: Cell<Instant>,
}

impl Progress {
    /// None of `all` is done; `noun` is one of them.
    pub fn new(screen: &Screen, all: usize, noun: &'static str) -> Self {
        let now = Instant::now();
        Self {
            screen: screen.clone(),
            bar: screen.bar(all as u64),
            noun,
            all: all as u64,
            done: Cell::new(0),
            started: now,
            told: Cell::new(now),
        }
    }

    /// Another one is done, of the part called `part`.
    pub fn step(&self, part: &str) {
        self.done.set(self.done.get() + 1);
        self.bar.set_position(self.done.get());
        let interactive = self.screen.is_interactive();
        if !interactive && self.told.get().elapsed() < PLAIN_EVERY {
            return;
        }
        let text = describe(
            part,
            (self.done.get(), self.all),
            self.noun,
            self.started.elapsed(),
        );
        if interactive {
            self.bar.set_message(text);
        } else {
            self.told.set(Instant::now());
            self.screen.line(text);
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn describe(part: &str, (done, all): (u64, u64), noun: &str, elapsed: Duration) -> String {
    let mut text = format!("{part}: {}/{}", thousands(done), count(all, noun));
    let share = done as f64 / (all as f64).max(1.0);
    if share >= ENOUGH && done < all {
        let left = elapsed.mul_f64((1.0 - share) / share);
        text = format!("{text}, {} left", clock(left));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_the_time_left_are_told() {
        let ten = Duration::from_secs(10);
        let check = |done, expect: &str| {
            assert_eq!(describe("keyword", (done, 4000), "question", ten), expect);
        };
        check(1, "keyword: 1/4,000 questions");
        check(1000, "keyword: 1,000/4,000 questions, 0:30 left");
        check(4000, "keyword: 4,000/4,000 questions");
    }
}
