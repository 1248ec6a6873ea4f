//! Every subject, stream and durable name, once.

use serde::{Deserialize, Serialize};

use super::ids::DocumentId;

/// A pipeline stage, in the order a document passes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Bytes to Markdown pages.
    Parse,
    /// Pages to chunks.
    Chunk,
    /// Chunks to vectors.
    Embed,
    /// Vectors to the catalog and the indexes.
    Index,
}

impl Stage {
    /// All stages in order.
    pub const ALL: [Self; 4] = [Self::Parse, Self::Chunk, Self::Embed, Self::Index];

    /// The stage's token in subjects.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Chunk => "chunk",
            Self::Embed => "embed",
            Self::Index => "index",
        }
    }

    /// The JetStream stream that holds the stage's work.
    pub fn stream(self) -> &'static str {
        match self {
            Self::Parse => "INGEST_PARSE",
            Self::Chunk => "INGEST_CHUNK",
            Self::Embed => "INGEST_EMBED",
            Self::Index => "INGEST_INDEX",
        }
    }

    /// The durable consumer that all instances of the stage share.
    pub fn durable(self) -> &'static str {
        match self {
            Self::Parse => "parser",
            Self::Chunk => "chunker",
            Self::Embed => "embedder",
            Self::Index => "indexer",
        }
    }

    /// The filter over all documents: `ingest.v1.parse.*`.
    pub fn filter(self) -> String {
        format!("ingest.v1.{}.*", self.name())
    }

    /// The subject of one document's work: `ingest.v1.parse.{document_id}`.
    pub fn subject(self, document: &DocumentId) -> String {
        format!("ingest.v1.{}.{document}", self.name())
    }
}

/// The stream of dead letters.
pub const DEAD_LETTER_STREAM: &str = "DEADLETTER";
/// The durable consumer of dead letters, in the indexer.
pub const DEAD_LETTER_DURABLE: &str = "coroner";
/// All dead letters.
pub const DEAD_LETTER_FILTER: &str = "deadletter.v1.*.*";

/// The subject of a dead letter: `deadletter.v1.{stage}.{document_id}`.
pub fn dead_letter(stage: Stage, document: &DocumentId) -> String {
    format!("deadletter.v1.{}.{document}", stage.name())
}

/// Progress events of one document, for whoever listens; not stored.
pub fn progress(document: &DocumentId) -> String {
    format!("progress.v1.{document}")
}

/// All progress events.
pub const PROGRESS_FILTER: &str = "progress.v1.*";

/// Every running service answers here with its [`super::Health`].
pub const HEALTH: &str = "health.v1";

/// Every running service answers here with its [`super::ProcessMetrics`].
pub const METRICS: &str = "metrics.v1";

/// Request/reply subjects. Each names its request and reply type.
pub mod call {
    /// [`crate::contract::EmbedQuery`] → [`crate::contract::QueryVector`].
    pub const EMBED_QUERY: &str = "embed.v1.query";
    /// Nothing → [`crate::contract::EncoderDescription`].
    pub const EMBED_DESCRIBE: &str = "embed.v1.describe";
    /// [`crate::contract::KeywordSearch`] → [`crate::contract::Hits`].
    pub const SEARCH_KEYWORD: &str = "search.v1.keyword";
    /// [`crate::contract::VectorSearch`] → [`crate::contract::Hits`].
    pub const SEARCH_VECTOR: &str = "search.v1.vector";
    /// [`crate::contract::Admit`] → [`crate::contract::Admitted`].
    pub const CATALOG_ADMIT: &str = "catalog.v1.admit";
    /// [`crate::contract::ListDocuments`] → [`crate::contract::DocumentPage`].
    pub const CATALOG_LIST: &str = "catalog.v1.list";
    /// [`crate::contract::DocumentId`] → [`crate::contract::DocumentView`].
    pub const CATALOG_GET: &str = "catalog.v1.get";
    /// [`crate::contract::ListPages`] → [`crate::contract::PageList`].
    pub const CATALOG_PAGES: &str = "catalog.v1.pages";
    /// [`crate::contract::DocumentId`] → [`crate::contract::DeletionReceipt`].
    pub const CATALOG_DELETE: &str = "catalog.v1.delete";
    /// [`crate::contract::Retry`] → [`crate::contract::Retried`].
    pub const CATALOG_RETRY: &str = "catalog.v1.retry";
    /// Nothing → [`crate::contract::CatalogStatus`].
    pub const CATALOG_STATUS: &str = "catalog.v1.status";
    /// Nothing → [`crate::contract::FsckReport`].
    pub const CATALOG_FSCK: &str = "catalog.v1.fsck";
    /// [`crate::contract::DumpRequest`] → [`crate::contract::DumpPage`].
    pub const CATALOG_DUMP: &str = "catalog.v1.dump";
    /// [`crate::contract::Neighbours`] → [`crate::contract::NeighbourList`].
    pub const CATALOG_NEIGHBOURS: &str = "catalog.v1.neighbours";
    /// [`crate::contract::Rerank`] → [`crate::contract::Reranked`].
    pub const RERANK: &str = "rerank.v1";
    /// [`crate::contract::Question`] → [`crate::contract::SearchReply`].
    pub const QUERY_SEARCH: &str = "query.v1.search";
    /// [`crate::contract::Question`] → a stream of [`crate::contract::AnswerEvent`].
    pub const QUERY_ASK: &str = "query.v1.ask";
    /// Nothing → [`crate::contract::GeneratorList`].
    pub const QUERY_GENERATORS: &str = "query.v1.generators";
    /// [`crate::contract::GeneratorId`] → [`crate::contract::GeneratorTried`].
    pub const QUERY_TRY: &str = "query.v1.try";
}
