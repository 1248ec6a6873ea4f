//! How far it is: counts, pages, rate, time left. A bar on a terminal, a line every few seconds
//! elsewhere.

use std::time::Duration;

use indicatif::ProgressBar;
use tokio::time::Instant;

use super::walk::Candidate;
use crate::output::{count, thousands};
use crate::screen::Screen;

/// Between two plain lines.
const PLAIN_EVERY: Duration = Duration::from_secs(5);

/// Share of the work from which on the time left is told.
const ENOUGH: f64 = 0.05;

/// Counts what is done.
pub(super) struct Meter {
    screen: Screen,
    bar: ProgressBar,
    started: Instant,
    told: Instant,
    files: u64,
    work: u64,
    tally: Tally,
}

/// What is done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Files handed over, or refused.
    pub(super) sent: u64,
    /// Files that are searchable, or failed.
    pub(super) done: u64,
    /// The work they were; not counting those that were indexed before.
    pub(super) done_work: u64,
    /// Their pages, likewise.
    pub(super) pages: u64,
}

impl Meter {
    /// Nothing of `files` is done.
    pub(super) fn new(screen: &Screen, files: &[Candidate]) -> Self {
        let count = files.len() as u64;
        let now = Instant::now();
        Self {
            screen: screen.clone(),
            bar: screen.bar(count),
            started: now,
            told: now,
            files: count,
            work: files.iter().map(|file| file.work).sum(),
            tally: Tally::default(),
        }
    }

    /// Another file was handed over.
    pub(super) fn sent(&mut self) {
        self.tally.sent += 1;
        self.tell();
    }

    /// Another file is searchable, or will never be.
    pub(super) fn done(&mut self, work: u64, pages: u32) {
        self.tally.done += 1;
        self.tally.done_work += work;
        self.tally.pages += u64::from(pages);
        self.tell();
    }

    /// Another file was no work at all.
    pub(super) fn skipped(&mut self, work: u64) {
        self.tally.done += 1;
        self.work = self.work.saturating_sub(work);
        self.tell();
    }

    /// Shows the time that passes.
    pub(super) fn tell(&mut self) {
        self.bar.set_position(self.tally.done);
        let elapsed = self.started.elapsed();
        if self.screen.is_interactive() {
            self.bar
                .set_message(describe(self.tally, self.files, self.work, elapsed));
        } else if self.told.elapsed() >= PLAIN_EVERY {
            self.told = Instant::now();
            self.screen
                .line(describe(self.tally, self.files, self.work, elapsed));
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn describe(tally: Tally, files: u64, work: u64, elapsed: Duration) -> String {
    let mut parts = vec![format!(
        "{}/{}",
        thousands(tally.done),
        count(files, "document")
    )];
    if tally.done == 0 && tally.sent < files {
        parts.push(format!("{} handed over", thousands(tally.sent)));
    }
    if tally.pages > 0 {
        let rate = tally.pages as f64 / elapsed.as_secs_f64().max(0.001);
        parts.push(count(tally.pages, "page"));
        parts.push(format!("{rate:.1} pages/s"));
    }
    if let Some(left) = left(tally.done_work, work, elapsed) {
        parts.push(format!("{} left", clock(left)));
    }
    parts.join(", ")
}

/// The time left if work goes on at the rate so far; `None` before enough is done to know one: a
/// few small files say nothing about the large one that is still being read.
fn left(done: u64, all: u64, elapsed: Duration) -> Option<Duration> {
    let open = all.checked_sub(done).filter(|open| *open > 0)?;
    let share = done as f64 / all as f64;
    (share >= ENOUGH).then(|| elapsed.mul_f64(open as f64 / done as f64))
}

/// `0:07`, `12:30`, `1:02:03`.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_millis() >= 500);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_counts_pages_rate_and_time_left() {
        let ten = Duration::from_secs(10);
        let check = |tally, expect| assert_eq!(describe(tally, 40, 4000, ten), expect);
        check(
            Tally {
                sent: 3,
                ..Tally::default()
            },
            "0/40 documents, 3 handed over",
        );
        check(
            Tally {
                sent: 40,
                done: 10,
                done_work: 1000,
                pages: 300,
            },
            "10/40 documents, 300 pages, 30.0 pages/s, 0:30 left",
        );
        check(
            Tally {
                sent: 40,
                done: 40,
                done_work: 4000,
                pages: 1200,
            },
            "40/40 documents, 1,200 pages, 120.0 pages/s",
        );
    }

    #[test]
    fn little_work_done_tells_no_time() {
        let ten = Duration::from_secs(10);
        assert_eq!(left(0, 1000, ten), None);
        assert_eq!(left(8, 1000, ten), None);
        assert_eq!(left(50, 1000, ten), Some(Duration::from_secs(190)));
        assert_eq!(left(1000, 1000, ten), None);
    }

    #[test]
    fn times_read_like_a_clock() {
        for (seconds, expect) in [(0, "0:00"), (7, "0:07"), (750, "12:30"), (3723, "1:02:03")] {
            assert_eq!(clock(Duration::from_secs(seconds)), expect);
        }
    }
}
