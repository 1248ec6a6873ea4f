//! Clocks: each measures one piece of work, and says so even when the work is cut off.

use std::time::Instant;

use tracing::Span;

use super::families::FAMILIES;
use crate::contract::Provider;
use crate::contract::subject::Stage;

/// How a stage's work on a message ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkOutcome {
    /// It is done.
    Done,
    /// It comes again.
    Again,
    /// It is given up.
    Dead,
    /// The process could not go on.
    Stop,
}

impl WorkOutcome {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Again => "again",
            Self::Dead => "dead",
            Self::Stop => "stop",
        }
    }
}

/// Measures a stage's work on one message. Dropped before its end, as by a panic or a drain, it
/// counts as `cut`.
pub struct WorkClock {
    stage: Stage,
    started: Instant,
    outcome: &'static str,
}

impl WorkClock {
    /// Starts.
    pub fn start(stage: Stage) -> Self {
        Self {
            stage,
            started: Instant::now(),
            outcome: "cut",
        }
    }

    /// Ends.
    pub fn end(mut self, outcome: WorkOutcome) {
        self.outcome = outcome.name();
    }
}

impl Drop for WorkClock {
    fn drop(&mut self) {
        FAMILIES
            .work
            .with_label_values(&[self.stage.name(), self.outcome])
            .observe(self.started.elapsed().as_secs_f64());
    }
}

/// How the work on a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyOutcome {
    /// With a reply, or with the end of its stream.
    Ok,
    /// With an error.
    Error,
    /// The caller listened no longer.
    Left,
}

/// Measures the work on one request. Dropped before its end, it counts as `cut`.
pub struct ReplyClock {
    subject: &'static str,
    started: Instant,
    outcome: &'static str,
}

impl ReplyClock {
    /// Starts.
    pub fn start(subject: &'static str) -> Self {
        Self {
            subject,
            started: Instant::now(),
            outcome: "cut",
        }
    }

    /// Ends, and notes the outcome on the current span.
    pub fn end(mut self, outcome: ReplyOutcome) {
        self.outcome = match outcome {
            ReplyOutcome::Ok => "ok",
            ReplyOutcome::Error => "error",
            ReplyOutcome::Left => "left",
        };
        Span::current().record("outcome", self.outcome);
    }
}

impl Drop for ReplyClock {
    fn drop(&mut self) {
        FAMILIES
            .replies
            .with_label_values(&[self.subject, self.outcome])
            .observe(self.started.elapsed().as_secs_f64());
    }
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpeechOutcome {
    /// It is whole.
    Done,
    /// The provider failed.
    Error,
}

/// Measures one answer of a provider, from the question on. Dropped before its end, as when the
/// asker leaves, it counts as `cut`.
pub struct SpeechClock {
    provider: Provider,
    asked: Instant,
    spoke: bool,
    outcome: &'static str,
}

impl SpeechClock {
    /// An answer by `provider` to a question that came in at `asked`.
    pub fn start(provider: Provider, asked: Instant) -> Self {
        Self {
            provider,
            asked,
            spoke: false,
            outcome: "cut",
        }
    }

    /// A token has come; only the first one counts.
    pub fn token(&mut self) {
        if !std::mem::replace(&mut self.spoke, true) {
            FAMILIES
                .first_token
                .with_label_values(&[self.provider.name()])
                .observe(self.asked.elapsed().as_secs_f64());
        }
    }

    /// Ends, with the tokens of the answer when the provider tells.
    pub fn end(mut self, outcome: SpeechOutcome, answer_tokens: Option<u32>) {
        self.outcome = match outcome {
            SpeechOutcome::Done => "done",
            SpeechOutcome::Error => "error",
        };
        if let Some(tokens) = answer_tokens {
            FAMILIES
                .answer_tokens
                .with_label_values(&[self.provider.name()])
                .inc_by(u64::from(tokens));
        }
    }
}

impl Drop for SpeechClock {
    fn drop(&mut self) {
        FAMILIES
            .answers
            .with_label_values(&[self.provider.name(), self.outcome])
            .observe(self.asked.elapsed().as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_dropped_counts_as_cut() {
        let work = |outcome| {
            FAMILIES
                .work
                .with_label_values(&["index", outcome])
                .get_sample_count()
        };
        WorkClock::start(Stage::Index).end(WorkOutcome::Again);
        drop(WorkClock::start(Stage::Index));
        assert_eq!((work("again"), work("cut"), work("done")), (1, 1, 0));

        let answers = |outcome| {
            FAMILIES
                .answers
                .with_label_values(&["builtin", outcome])
                .get_sample_count()
        };
        let mut clock = SpeechClock::start(Provider::Builtin, Instant::now());
        clock.token();
        clock.token();
        clock.end(SpeechOutcome::Done, Some(12));
        drop(SpeechClock::start(Provider::Builtin, Instant::now()));
        assert_eq!((answers("done"), answers("cut")), (1, 1));
        let first = FAMILIES.first_token.with_label_values(&["builtin"]);
        assert_eq!(first.get_sample_count(), 1);
        let tokens = FAMILIES.answer_tokens.with_label_values(&["builtin"]);
        assert_eq!(tokens.get(), 12);
    }
}
