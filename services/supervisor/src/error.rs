//! What a command tells the person at the terminal: one line what went wrong, one line what to do.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use shared::contract::ErrorBody;

/// How a command ends.
pub type CommandResult = Result<ExitCode, Complaint>;

/// Why a command did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Complaint {
    /// Something to tell.
    #[error("{what}\n{remedy}")]
    Told {
        /// What went wrong.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// Whoever read our output has left, as in `ibid list | head`: the end, and no error.
    #[error("the output was closed")]
    OutputClosed,
}

impl Complaint {
    /// What went wrong and what to do.
    pub fn new(what: impl Display, remedy: impl Display) -> Self {
        Self::Told {
            what: what.to_string(),
            remedy: remedy.to_string(),
        }
    }
}

impl From<ErrorBody> for Complaint {
    fn from(error: ErrorBody) -> Self {
        Self::Told {
            what: error.message,
            remedy: error.remedy,
        }
    }
}

/// Only for writing to standard output; every other input and output error is told with its path.
impl From<io::Error> for Complaint {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::OutputClosed
        } else {
            Self::new(
                format!("cannot write the output: {error}"),
                "check where it goes to",
            )
        }
    }
}
