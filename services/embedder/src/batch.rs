//! Forming batches of texts from many callers and running them on a thread of their own.
//!
//! A [`Scheduler`] owns one encoder. Chunks have one at nice 10, questions another at normal
//! priority: a question does not queue behind chunks at all, and the operating system gives it
//! the processor.

mod pace;
mod queue;
mod scheduler;

pub(crate) use self::pace::Pace;
pub use self::scheduler::{Scheduler, SchedulerOptions};
