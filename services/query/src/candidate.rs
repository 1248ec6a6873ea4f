//! A chunk on its way from the engines to the reply.

use shared::contract::{ChunkId, Hit, Standing};

/// A chunk that an engine has found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    /// The chunk; its score is the fused one.
    pub(crate) hit: Hit,
    /// In the keyword list.
    pub(crate) keyword: Option<Standing>,
    /// In the vector list.
    pub(crate) vector: Option<Standing>,
    /// In the cross-encoder's list; absent when it was not reranked.
    pub(crate) reranked: Option<Standing>,
    /// The chunk higher up that has the same text.
    pub(crate) same_as: Option<ChunkId>,
}
