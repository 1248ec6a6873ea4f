//! Support for the system tests.
