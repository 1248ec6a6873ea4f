//! Searching one engine: filter to chunks, search, join to the catalog.

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use shared::contract::{
    ErrorBody, ErrorCode, Filter, Hits, KeywordSearch, NeighbourList, Neighbours, VectorSearch,
};

use crate::catalog::Catalog;
use crate::chunk_set::{AllowedChunks, ChunkKey};
use crate::error::{CatalogError, chain};
use crate::indexes::Indexes;
use crate::keyword::KeywordQuery;
use crate::vector::VectorError;

/// Hits asked for at most.
const MOST_HITS: u32 = 1_000;
/// Chunks whose neighbours are asked for at most, and neighbours on each side.
const MOST_CHUNKS: usize = 100;
const MOST_AROUND: u32 = 8;
/// Candidates beyond k that the first try asks the engine for: some may be gone already.
const SPARE: usize = 16;
/// The engine is asked for four times as many until k are visible, so often at most.
const TRIES: u32 = 5;
/// Filters remembered while nothing changes.
const REMEMBERED: usize = 64;

/// Searches both engines.
pub struct Searcher {
    catalog: Catalog,
    indexes: Arc<Indexes>,
    filters: Mutex<Remembered>,
}

/// What filters came to, for one state of the catalog.
#[derive(Default)]
struct Remembered {
    epoch: u64,
    filters: HashMap<String, AllowedChunks>,
}

impl Searcher {
    /// A searcher.
    pub fn new(catalog: Catalog, indexes: Arc<Indexes>) -> Self {
        Self {
            catalog,
            indexes,
            filters: Mutex::default(),
        }
    }

    /// Searches by words. Blocks.
    ///
    /// # Errors
    /// What whoever asked is told.
    pub fn keyword(&self, request: &KeywordSearch) -> Result<Hits, ErrorBody> {
        let query = KeywordQuery {
            text: request.text.clone(),
            phrases: request.phrases.clone(),
            language: request.language,
        };
        let sight = Cell::default();
        let found = self.search(request.k, &request.filter, |k, allowed| {
            let found = self.indexes.keyword.search(&query, k, allowed);
            let found = found.map_err(|error| engine_failed("keyword", &error))?;
            sight.set(found.sight);
            Ok(found.hits)
        });
        found.map(|hits| Hits {
            sight: sight.get(),
            ..hits
        })
    }

    /// Searches by a vector. Blocks.
    ///
    /// # Errors
    /// What whoever asked is told; a vector of another model is refused.
    pub fn vector(&self, request: &VectorSearch) -> Result<Hits, ErrorBody> {
        let model = &self.catalog.pipeline().model;
        if request.model != *model {
            return Err(ErrorBody::new(
                ErrorCode::PipelineMismatch,
                format!(
                    "the question was embedded by `{}` but the index holds `{model}`",
                    request.model
                ),
                "restart all services with the same `model` section",
            ));
        }
        self.search(request.k, &request.filter, |k, allowed| {
            self.indexes
                .vector
                .search(&request.vector.0, k, allowed)
                .map_err(|error| match error {
                    VectorError::Dimension { .. } | VectorError::NotFinite { .. } => {
                        ErrorBody::new(
                            ErrorCode::BadRequest,
                            error.to_string(),
                            "send the vector that `embed.v1.query` gives",
                        )
                    }
                    other => engine_failed("vector", &other),
                })
        })
    }

    /// What stands around chunks. Blocks.
    ///
    /// # Errors
    /// What whoever asked is told.
    pub fn neighbours(&self, request: &Neighbours) -> Result<NeighbourList, ErrorBody> {
        let chunks = request.chunks.len();
        let around = request.before.max(request.after);
        if chunks > MOST_CHUNKS || around > MOST_AROUND {
            return Err(ErrorBody::new(
                ErrorCode::BadRequest,
                format!("{around} neighbours of {chunks} chunks are too many"),
                format!("ask for at most {MOST_AROUND} on each side of {MOST_CHUNKS} chunks"),
            ));
        }
        Ok(self.catalog.neighbours(request)?)
    }

    fn search(
        &self,
        k: u32,
        filter: &Filter,
        engine: impl Fn(usize, Option<&AllowedChunks>) -> Result<Vec<(ChunkKey, f32)>, ErrorBody>,
    ) -> Result<Hits, ErrorBody> {
        if !(1..=MOST_HITS).contains(&k) {
            return Err(ErrorBody::new(
                ErrorCode::BadRequest,
                format!("`k` is {k}"),
                format!("ask for 1 to {MOST_HITS} hits"),
            ));
        }
        let started = Instant::now();
        let k = k as usize;
        let allowed = self.allowed(filter)?;
        let mut hits = Vec::new();
        let mut notes = Vec::new();
        if allowed.as_ref().is_some_and(AllowedChunks::is_empty) {
            notes.push(self.catalog.why_nothing(filter)?);
        } else {
            let mut want = k + SPARE;
            for _ in 0..TRIES {
                let found = engine(want, allowed.as_ref())?;
                hits = self.catalog.join(&found, filter, k)?;
                if hits.len() == k || found.len() < want {
                    break;
                }
                want *= 4;
            }
        }
        Ok(Hits {
            hits,
            notes,
            took_ms: started.elapsed().as_secs_f64() * 1e3,
            ..Hits::default()
        })
    }

    /// The chunks a filter permits; `None` when it permits all. Both engines ask at once for the
    /// same question: the lock is held while a filter is resolved, so that it is resolved once.
    fn allowed(&self, filter: &Filter) -> Result<Option<AllowedChunks>, CatalogError> {
        if filter.is_empty() {
            return Ok(None);
        }
        let key = serde_json::to_string(filter)?;
        // Read before the catalog is: an answer is never remembered for a later state.
        let epoch = self.catalog.epoch();
        let mut remembered = self.filters.lock();
        if remembered.epoch != epoch || remembered.filters.len() >= REMEMBERED {
            *remembered = Remembered {
                epoch,
                filters: HashMap::new(),
            };
        } else if let Some(allowed) = remembered.filters.get(&key) {
            return Ok(Some(allowed.clone()));
        }
        let allowed = self.catalog.allowed(filter)?;
        remembered.filters.insert(key, allowed.clone());
        Ok(Some(allowed))
    }
}

fn engine_failed(engine: &str, error: &dyn std::error::Error) -> ErrorBody {
    tracing::error!(engine, error = chain(error), "a search failed");
    ErrorBody::new(
        ErrorCode::Internal,
        format!("the {engine} index could not be searched"),
        "look at the indexer's log; `ibid fsck` checks the stores",
    )
}
