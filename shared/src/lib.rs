//! Contracts, bus, settings, telemetry and blobs.
