//! What the Ibid services share: the contract they speak, the bus they speak it on, and the
//! settings, telemetry and blob store each of them starts with.
//!
//! Dependencies point one way: `contract` ← `bus`, `settings`, `telemetry`, `blobs` ← a service.

pub mod blobs;
pub mod bus;
pub mod contract;
pub mod format;
pub mod service;
pub mod settings;
pub mod telemetry;
