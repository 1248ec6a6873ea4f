//! Judging retrieval: sets of judged questions ([`beir`]), the measures ([`measure`]), how sure
//! they are ([`statistics`]), and an Ibid of its own to ask ([`instance`]).

pub mod beir;
pub mod instance;
pub mod latency;
pub mod measure;
pub mod progress;
pub mod reference;
pub mod split;
pub mod statistics;
