//! What the Ibid services share: the contract they speak, the bus they speak it on, and the
//! settings, telemetry and blob store each of them starts with.
//!
//! Dependencies point one way: `language`, `format` ← `contract` ← `bus`, `settings`, `telemetry`, `metrics`, `blobs` ← a service.

pub mod blobs;
pub mod bus;
pub mod contract;
pub mod format;
pub mod http;
pub mod language;
pub mod metrics;
pub mod ollama;
pub mod secret;
pub mod service;
pub mod settings;
pub mod telemetry;
