//! What people see while something runs: whole lines on standard error, above a progress bar if
//! there is one. A reader that does not read never holds up the work: lines that do not fit the
//! queue are left out and counted.

use std::collections::VecDeque;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use console::Style;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::error::Complaint;
use crate::output;

/// Lines that wait for the terminal.
const QUEUE: usize = 4096;
const FINISH_WITHIN: Duration = Duration::from_secs(2);

/// Standard error, shared by all who write to it. Cheap to clone.
#[derive(Clone)]
pub struct Screen {
    queue: Arc<Queue>,
    bars: MultiProgress,
    interactive: bool,
}

#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    lines: VecDeque<String>,
    left_out: u64,
    writing: bool,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Screen {
    /// Standard error; bars and colours only on a terminal, and no colours under `NO_COLOR`.
    pub fn stderr() -> Self {
        let interactive = io::stderr().is_terminal();
        let target = if interactive {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self::over(
            io::stderr(),
            MultiProgress::with_draw_target(target),
            interactive,
        )
    }

    /// A screen that nobody sees.
    pub fn nowhere() -> Self {
        let hidden = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        Self::over(io::sink(), hidden, false)
    }

    fn over(out: impl Write + Send + 'static, bars: MultiProgress, interactive: bool) -> Self {
        let queue = Arc::new(Queue::default());
        let (waiting, above) = (Arc::clone(&queue), bars.clone());
        // There is one screen per process, and its thread lives as long.
        std::thread::spawn(move || write_lines(out, &waiting, &above));
        Self {
            queue,
            bars,
            interactive,
        }
    }

    /// Whether a person watches.
    pub fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Writes `text` as a line of its own.
    pub fn line(&self, text: impl Display) {
        let text = text.to_string();
        let mut state = self.queue.state();
        if state.lines.len() < QUEUE {
            state.lines.push_back(text);
            self.queue.changed.notify_all();
        } else {
            state.left_out += 1;
        }
    }

    /// A line that warns.
    pub fn warn(&self, text: impl Display) {
        self.line(style().yellow().apply_to(text));
    }

    /// A bar below all lines, `length` steps long; invisible where nobody watches.
    pub fn bar(&self, length: u64) -> ProgressBar {
        let bar = self.bars.add(ProgressBar::new(length));
        let look = "{bar:24.cyan/dim} {msg}";
        bar.set_style(ProgressStyle::with_template(look).unwrap_or_else(|_| default_style()));
        bar
    }

    /// Waits until all lines are out, two seconds at most.
    pub fn finish(&self) {
        let is_busy = |state: &mut QueueState| state.writing || !state.lines.is_empty();
        let state = self.queue.state();
        drop(
            self.queue
                .changed
                .wait_timeout_while(state, FINISH_WITHIN, is_busy),
        );
    }
}

fn default_style() -> ProgressStyle {
    ProgressStyle::default_bar()
}

/// A style for standard error that knows of `NO_COLOR` and terminals.
pub fn style() -> Style {
    Style::new().for_stderr()
}

/// Tells what went wrong, in colours or as JSON on one line.
#[expect(clippy::print_stderr, reason = "the last word of a command")]
pub fn complain(complaint: &Complaint, json: bool) {
    if json {
        eprintln!("{}", complaint.to_json());
        return;
    }
    let error = style().red().bold().apply_to("error:");
    eprintln!("{error} {}", output::text(&complaint.to_string()));
}

fn write_lines(mut out: impl Write, queue: &Queue, bars: &MultiProgress) {
    loop {
        let (line, left_out) = next_line(queue);
        bars.suspend(|| {
            // Nothing is left to tell it to when standard error is gone.
            writeln!(out, "{line}").ok();
            if left_out > 0 {
                writeln!(out, "… {left_out} lines left out").ok();
            }
        });
        queue.state().writing = false;
        queue.changed.notify_all();
    }
}

/// The next line, and how many were left out after it.
fn next_line(queue: &Queue) -> (String, u64) {
    let mut state = queue.state();
    loop {
        if let Some(line) = state.lines.pop_front() {
            state.writing = true;
            // Those left out came after all that fill the queue.
            let is_last = state.lines.is_empty();
            let left_out = if is_last {
                std::mem::take(&mut state.left_out)
            } else {
                0
            };
            return (line, left_out);
        }
        state = queue
            .changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_of_many_writers_stay_whole_and_all_are_out_after_finish() {
        let out = Shared::default();
        let hidden = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        let screen = Screen::over(out.clone(), hidden, false);
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let screen = screen.clone();
                scope
                    .spawn(move || (0..100).for_each(|n| screen.line(format!("{writer}:{n}:end"))));
            }
        });
        screen.finish();
        let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.lines().count(), 400);
        assert!(
            text.lines()
                .all(|line| line.ends_with(":end") && line.matches(':').count() == 2)
        );
    }

    #[test]
    fn a_reader_that_does_not_read_costs_lines_and_never_time() {
        struct Stuck(Arc<Mutex<()>>, Shared);
        impl Write for Stuck {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                let _until_free = self.0.lock().unwrap();
                self.1.write(bytes)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (gate, out) = (Arc::new(Mutex::new(())), Shared::default());
        let hidden = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        let closed = gate.lock().unwrap();
        let screen = Screen::over(Stuck(Arc::clone(&gate), out.clone()), hidden, false);
        (0..QUEUE + 500).for_each(|n| screen.line(n));
        drop(closed);
        screen.finish();
        screen.line("last");
        screen.finish();
        let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
        assert!(
            text.contains("lines left out") && text.ends_with("last\n"),
            "{}",
            text.len()
        );
    }
}
