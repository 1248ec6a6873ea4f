//! The engines a question goes to.

use async_trait::async_trait;
use shared::bus::Bus;
use shared::contract::subject::call;
use shared::contract::{
    EmbedQuery, ErrorBody, Filter, Hits, KeywordSearch, NeighbourList, Neighbours, QueryVector,
    Rerank, Reranked, VectorSearch,
};
use shared::language::Language;

use crate::Settings;

/// What is asked of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The question as typed.
    pub text: String,
    /// Hits wanted, 1 to 1,000.
    pub k: u32,
    /// Where to look.
    pub filter: Filter,
    /// Phrases that passages should have word for word; parts of `text`.
    pub phrases: Vec<String>,
    /// The question's language, where it is known.
    pub language: Option<Language>,
}

/// Finds chunks by words and by meaning. Every call ends by its deadline.
#[async_trait]
pub trait Engines: Send + Sync {
    /// Chunks by their words, best first.
    async fn keyword(&self, wanted: &Wanted) -> Result<Hits, ErrorBody>;
    /// The question's vector.
    async fn embed(&self, text: &str) -> Result<QueryVector, ErrorBody>;
    /// Chunks by their meaning, best first.
    async fn vector(&self, wanted: &Wanted, query: QueryVector) -> Result<Hits, ErrorBody>;
    /// How well passages answer a question, by a model that reads both together.
    async fn rerank(&self, request: &Rerank) -> Result<Reranked, ErrorBody>;
    /// What stands around chunks.
    async fn neighbours(&self, request: &Neighbours) -> Result<NeighbourList, ErrorBody>;
}

/// The engines on the bus: indexer and embedder.
pub struct BusEngines {
    bus: Bus,
    settings: Settings,
}

impl BusEngines {
    /// Engines asked over `bus` with the deadlines of `settings`.
    pub fn new(bus: Bus, settings: Settings) -> Self {
        Self { bus, settings }
    }
}

#[async_trait]
impl Engines for BusEngines {
    async fn keyword(&self, wanted: &Wanted) -> Result<Hits, ErrorBody> {
        let request = KeywordSearch {
            text: wanted.text.clone(),
            k: wanted.k,
            filter: wanted.filter.clone(),
            phrases: wanted.phrases.clone(),
            language: wanted.language,
        };
        self.bus
            .call(
                call::SEARCH_KEYWORD,
                &request,
                self.settings.keyword_deadline(),
            )
            .await
    }

    async fn embed(&self, text: &str) -> Result<QueryVector, ErrorBody> {
        let request = EmbedQuery {
            text: text.to_owned(),
        };
        self.bus
            .call(call::EMBED_QUERY, &request, self.settings.embed_deadline())
            .await
    }

    async fn vector(&self, wanted: &Wanted, query: QueryVector) -> Result<Hits, ErrorBody> {
        let request = VectorSearch {
            model: query.model,
            vector: query.vector,
            k: wanted.k,
            filter: wanted.filter.clone(),
        };
        self.bus
            .call(
                call::SEARCH_VECTOR,
                &request,
                self.settings.vector_deadline(),
            )
            .await
    }

    async fn rerank(&self, request: &Rerank) -> Result<Reranked, ErrorBody> {
        let deadline = self.settings.rerank_deadline();
        self.bus.call(call::RERANK, request, deadline).await
    }

    async fn neighbours(&self, request: &Neighbours) -> Result<NeighbourList, ErrorBody> {
        let deadline = self.settings.keyword_deadline();
        self.bus
            .call(call::CATALOG_NEIGHBOURS, request, deadline)
            .await
    }
}
