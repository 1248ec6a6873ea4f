//! What a command tells the person at the terminal: one line what went wrong, one line what to do.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use serde_json::{Value, json};
use shared::contract::{ErrorBody, ErrorCode};
use shared::http::HttpError;
use shared::settings::SettingsError;

/// How a command ends.
pub type CommandResult = Result<ExitCode, Complaint>;

/// Why a command did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Complaint {
    /// Something to tell.
    #[error("{what}\n{remedy}")]
    Told {
        /// For programs, when the services said it.
        code: Option<ErrorCode>,
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
            code: None,
            what: what.to_string(),
            remedy: remedy.to_string(),
        }
    }

    /// As `--json` tells it: `{"error": {"code", "message", "remedy"}}`, the code only when there
    /// is one.
    pub fn to_json(&self) -> Value {
        let Self::Told { code, what, remedy } = self else {
            return json!({ "error": { "message": self.to_string() } });
        };
        let mut error = json!({ "message": what, "remedy": remedy });
        if let (Some(code), Value::Object(fields)) = (code, &mut error) {
            fields.insert("code".to_owned(), json!(code));
        }
        json!({ "error": error })
    }
}

impl From<ErrorBody> for Complaint {
    fn from(error: ErrorBody) -> Self {
        Self::Told {
            code: Some(error.code),
            what: error.message,
            remedy: error.remedy,
        }
    }
}

impl From<SettingsError> for Complaint {
    fn from(error: SettingsError) -> Self {
        Self::new(
            error,
            "correct `ibid.toml` in the data folder, or the IBID_ variables",
        )
    }
}

impl From<HttpError> for Complaint {
    fn from(error: HttpError) -> Self {
        ErrorBody::from(error).into()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_get_the_code_when_there_is_one() {
        let told = Complaint::from(ErrorBody::new(ErrorCode::Busy, "too much", "wait")).to_json();
        assert_eq!(
            told,
            json!({ "error": { "code": "busy", "message": "too much", "remedy": "wait" } })
        );
        let told = Complaint::new("it broke", "mend it").to_json();
        assert_eq!(
            told,
            json!({ "error": { "message": "it broke", "remedy": "mend it" } })
        );
    }
}
