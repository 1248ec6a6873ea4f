//! The embedder with a model on a server: faithful stand-ins on loopback, and one that does as
//! told down to the bytes.

#![expect(
    clippy::unwrap_used,
    reason = "allowed in tests, also in their helpers"
)]

mod away;
mod bus;
mod limits;
mod privacy;
mod raw;
mod support;
mod vectors;
