//! What must not be seen: it shows itself only to who asks for it by name.

mod sealer;

use std::fmt;

pub use sealer::{SealError, Sealer};

use serde::{Deserialize, Serialize};

/// A document's password. Its `Debug` says nothing; it travels only between processes of this
/// machine, never into a log, a message store or a database: those get it sealed ([`Sealer`]).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Password(String);

impl Password {
    /// From what the user gave.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The password itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_does_not_show_itself() {
        let password = Password::new("open sesame");
        assert_eq!(
            format!("{password:?} {:#?}", Some(&password))
                .matches("sesame")
                .count(),
            0
        );
        assert_eq!(password.reveal(), "open sesame");
    }
}
