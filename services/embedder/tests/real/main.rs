//! The embedder on real parts: ONNX Runtime, all-MiniLM-L6-v2, and small models made here.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "allowed in tests, also in their helpers"
)]

mod encode;
mod import;
mod parts;
mod reference;
mod schedule;
mod service;
mod tiny;
