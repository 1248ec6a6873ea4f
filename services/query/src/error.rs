//! What is wrong with a question.

use shared::contract::{ErrorBody, ErrorCode};

/// Why a question is not asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum QuestionError {
    /// No letter and no digit, in any script.
    #[error("the question has no word in it")]
    Empty,
    /// More text than a question may have.
    #[error("the question has {bytes} bytes but {most} are the most")]
    TooLong {
        /// Its bytes.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// More passages than one reply holds.
    #[error("{k} passages are wanted but {most} are the most")]
    TooMany {
        /// As asked.
        k: u32,
        /// The limit.
        most: u32,
    },
    /// More documents or chunks to explain than one reply holds.
    #[error("{wanted} {what} are to be explained but {most} are the most")]
    TooManyExplained {
        /// `documents` or `chunks`.
        what: &'static str,
        /// As asked.
        wanted: usize,
        /// The limit.
        most: usize,
    },
    /// A diversity that is no share.
    #[error("the diversity is {diversity} but goes from 0 to 1")]
    Diversity {
        /// As asked.
        diversity: f32,
    },
    /// A weight that is no share.
    #[error("the semantic weight is {weight} but goes from 0 to 1")]
    Weight {
        /// As asked.
        weight: f32,
    },
}

impl From<QuestionError> for ErrorBody {
    fn from(error: QuestionError) -> Self {
        let remedy = match error {
            QuestionError::Empty => "type a question",
            QuestionError::TooLong { .. } => "shorten it",
            QuestionError::TooMany { .. } => "ask for fewer passages",
            QuestionError::TooManyExplained { .. } => "ask about fewer",
            QuestionError::Diversity { .. } => "use 0 for relevance alone, 1 for most documents",
            QuestionError::Weight { .. } => "use 0 for keywords only, 1 for meaning only",
        };
        Self::new(ErrorCode::BadRequest, error.to_string(), remedy)
    }
}
