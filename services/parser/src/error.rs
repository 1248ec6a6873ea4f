//! Why a document was not read, with the retry class and the remedy.

use std::io;
use std::time::Duration;

use shared::bus::Failure;
use shared::contract::{ErrorBody, ErrorCode};

use crate::extract::ExtractError;

/// A broken machine is asked again after this long.
const START_AGAIN: Duration = Duration::from_secs(5);

/// A limit that a document ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// Wall clock.
    #[error("{} s of time", .0.as_secs())]
    Clock(Duration),
    /// Processor time, in seconds.
    #[error("{0} s of processor time")]
    Cpu(u64),
    /// Memory, in bytes.
    #[error("{} MB of memory", .0 >> 20)]
    Memory(u64),
    /// Output, in bytes.
    #[error("{} MB of text", .0 >> 20)]
    Output(usize),
}

impl Limit {
    fn setting(self) -> &'static str {
        match self {
            Self::Clock(_) => "parser.wall_clock_secs",
            Self::Cpu(_) => "parser.cpu_secs",
            Self::Memory(_) => "parser.memory_limit_mb",
            Self::Output(_) => "parser.output_limit_mb",
        }
    }
}

/// Why the pool gave no pages.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// The document itself cannot be read.
    #[error(transparent)]
    Extract(#[from] ExtractError),
    /// The document needs more than it may have.
    #[error("the document needs more than {0}")]
    OverLimit(Limit),
    /// Its parts are nested without end.
    #[error("the document's parts are nested too deep")]
    TooDeep,
    /// The reader crashed on it, twice.
    #[error("the reader crashed on the document{}", signal_text(*.signal))]
    Crashed {
        /// The signal that ended it.
        signal: Option<i32>,
    },
    /// Someone else killed the child, twice: the machine is out of memory, most likely.
    #[error("the reading process was killed by the machine")]
    Killed,
    /// No child could be started.
    #[error("no reading process could be started")]
    Start(#[source] io::Error),
    /// The pool ends.
    #[error("the parser is ending")]
    Closed,
}

fn signal_text(signal: Option<i32>) -> String {
    signal
        .map(|signal| format!(" (signal {signal})"))
        .unwrap_or_default()
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        let message = error.to_string();
        let retry = |message: String, remedy: &str| Self::Retry {
            after: START_AGAIN,
            error: ErrorBody::new(ErrorCode::Unavailable, message, remedy),
        };
        match error {
            PoolError::Extract(error) => Self::Reject(error.into()),
            PoolError::OverLimit(limit) => Self::reject(
                ErrorCode::OverLimit,
                message,
                format!(
                    "split it into smaller files, or raise `{}`",
                    limit.setting()
                ),
            ),
            PoolError::TooDeep | PoolError::Crashed { .. } => Self::reject(
                ErrorCode::Damaged,
                message,
                "open it in its own program and save it again, or fetch it again from its source",
            ),
            PoolError::Killed => retry(message, "free some memory; it is tried again"),
            PoolError::Start(source) => retry(
                format!("{message}: {source}"),
                "check the limits on processes and memory",
            ),
            PoolError::Closed => retry(message, "it is tried again"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_its_class_and_names_the_remedy() {
        #[track_caller]
        fn check(error: PoolError, code: ErrorCode, retry: bool, says: &str) {
            let (body, is_retry) = match Failure::from(error) {
                Failure::Retry { error, .. } => (error, true),
                Failure::Reject(error) => (error, false),
                Failure::Stop(error) => panic!("{error}"),
            };
            assert_eq!((body.code, is_retry), (code, retry), "{body}");
            assert!(body.to_string().contains(says), "{body}");
        }
        let clock = Limit::Clock(Duration::from_secs(90));
        check(
            PoolError::OverLimit(clock),
            ErrorCode::OverLimit,
            false,
            "90 s of time",
        );
        let memory = Limit::Memory(512 << 20);
        check(
            PoolError::OverLimit(memory),
            ErrorCode::OverLimit,
            false,
            "parser.memory_limit_mb",
        );
        check(
            PoolError::TooDeep,
            ErrorCode::Damaged,
            false,
            "save it again",
        );
        check(
            PoolError::Crashed { signal: Some(11) },
            ErrorCode::Damaged,
            false,
            "signal 11",
        );
        check(
            PoolError::Killed,
            ErrorCode::Unavailable,
            true,
            "tried again",
        );
        let start = PoolError::Start(io::ErrorKind::NotFound.into());
        check(start, ErrorCode::Unavailable, true, "could be started");
        let locked = PoolError::Extract(ExtractError::PasswordNeeded);
        check(
            locked,
            ErrorCode::PasswordNeeded,
            false,
            "with its password",
        );
    }
}
