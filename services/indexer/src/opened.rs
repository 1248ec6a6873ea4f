//! How a derived index was found when it was opened.

/// Whether an index can go on or has to be filled anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// It is whole and stands at this change sequence.
    Ready {
        /// Change sequence of its last durable state.
        sequence: u64,
    },
    /// It is empty, at sequence 0, and has to be filled from the catalog.
    Fresh {
        /// Why: `there is none yet`, or what was wrong with the old one.
        reason: String,
    },
}

impl Opened {
    /// The change sequence the index stands at.
    pub fn sequence(&self) -> u64 {
        match self {
            Self::Ready { sequence } => *sequence,
            Self::Fresh { .. } => 0,
        }
    }
}
