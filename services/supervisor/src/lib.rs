//! The `ibid` program.
