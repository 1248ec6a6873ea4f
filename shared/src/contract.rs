//! The words the services exchange. A version, once released, is never edited; `v2` would come
//! beside `v1` with its conversion. Code outside this module uses the names re-exported here.

pub mod ids;
pub mod schema;
pub mod subject;
pub mod v1;

pub use ids::{
    ChunkId, CollectionName, Date, DocumentId, FileHash, Generation, IdError, ModelId, Sha256Hex,
};
pub use v1::*;
