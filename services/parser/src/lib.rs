//! proptest.
