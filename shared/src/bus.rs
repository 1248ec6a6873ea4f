//! The message bus: NATS with JetStream, and the only code that names it.
//!
//! Work travels through one stream per stage ([`consume`]), questions by request and reply
//! ([`call`], [`respond`]). Only the consume loop acknowledges, and only after the outgoing
//! messages are durable in the next stream.

mod call;
mod connect;
mod consume;
mod dead_letters;
mod error;
mod health;
mod metrics;
mod outgoing;
mod pull;
mod respond;
mod scatter;
mod streams;
mod trace;

pub use connect::{Bus, BusSettings};
pub use consume::{ConsumeOptions, Failure, Handler};
pub use dead_letters::DeadLetterHandler;
pub use error::BusError;
pub use outgoing::Outgoing;
pub use pull::Drained;
pub use respond::EventSink;
pub use streams::QueueDepth;
