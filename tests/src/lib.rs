//! Support for the system tests: the real program on real parts, the documents it is fed, and
//! the comparisons that judge it.

pub mod answers;
pub mod beir;
pub mod bus;
pub mod collector;
pub mod corpus;
pub mod dump;
pub mod facts;
pub mod fake;
pub mod harness;
pub mod mutants;
pub mod mutation;
pub mod parser;
pub mod pdf;
pub mod samples;
pub mod workspace;
