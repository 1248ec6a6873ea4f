//! Answering requests on `catalog.v1.*` and `search.v1.*`.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::blobs::original_key;
use shared::bus::{Bus, BusError};
use shared::contract::subject::call;
use shared::contract::{
    Admit, Admitted, CatalogStatus, DeletionReceipt, DocumentId, DumpRequest, ErrorBody, ErrorCode,
    FsckReport, KeywordSearch, ListDocuments, ListPages, Neighbours, Retried, Retry, VectorSearch,
};
use shared::service::Drain;
use tokio::sync::Mutex;

use crate::catalog::Catalog;
use crate::clock;
use crate::error::{CatalogError, chain};
use crate::fsck::Fsck;
use crate::janitor::Janitor;
use crate::search::Searcher;
use crate::stage::Bench;

/// All instances of the indexer would share its questions; there is one.
const QUEUE: &str = "indexer";
/// Requests of each kind on the catalog answered at once.
const AT_ONCE: usize = 64;
/// How long a deletion waits for all stores before its receipt says what is still to come.
const PURGE_WITHIN: Duration = Duration::from_secs(5);

/// Everything that answers.
pub struct Responder {
    /// The stores.
    pub bench: Bench,
    /// Completes deletions.
    pub janitor: Arc<Janitor<Bus>>,
    /// Searches.
    pub searcher: Arc<Searcher>,
    /// Closed while the janitor removes a blob.
    pub gate: Arc<Mutex<()>>,
    /// Searches answered at once, per engine.
    pub searches_at_once: usize,
}

impl Responder {
    /// Answers until `drain` begins.
    ///
    /// # Errors
    /// When the bus refuses a subscription.
    pub async fn start(self, bus: &Bus, drain: &Drain) -> Result<(), BusError> {
        let this = Arc::new(self);
        let on = Listening {
            bus,
            drain,
            responder: &this,
        };
        on.listen(call::CATALOG_ADMIT, AT_ONCE, Self::admit).await?;
        on.listen(
            call::CATALOG_LIST,
            AT_ONCE,
            |this, request: ListDocuments| async move {
                this.ask(move |catalog| catalog.list(&request)).await
            },
        )
        .await?;
        on.listen(
            call::CATALOG_GET,
            AT_ONCE,
            |this, id: DocumentId| async move { this.ask(move |catalog| catalog.get(&id)).await },
        )
        .await?;
        on.listen(
            call::CATALOG_PAGES,
            AT_ONCE,
            |this, request: ListPages| async move {
                this.ask(move |catalog| catalog.pages(&request)).await
            },
        )
        .await?;
        on.listen(call::CATALOG_DELETE, AT_ONCE, Self::delete)
            .await?;
        on.listen(call::CATALOG_RETRY, AT_ONCE, Self::retry).await?;
        on.listen(call::CATALOG_STATUS, AT_ONCE, |this, (): ()| this.status())
            .await?;
        on.listen(call::CATALOG_FSCK, 1, |this, (): ()| this.fsck())
            .await?;
        on.listen(
            call::CATALOG_DUMP,
            4,
            |this, request: Option<DumpRequest>| async move {
                let after = request.unwrap_or_default().after;
                this.ask(move |catalog| catalog.dump(after.as_deref()))
                    .await
            },
        )
        .await?;
        let searches = this.searches_at_once;
        on.listen(
            call::SEARCH_KEYWORD,
            searches,
            |this, request: KeywordSearch| async move {
                let searcher = Arc::clone(&this.searcher);
                search(move || searcher.keyword(&request)).await
            },
        )
        .await?;
        on.listen(
            call::SEARCH_VECTOR,
            searches,
            |this, request: VectorSearch| async move {
                let searcher = Arc::clone(&this.searcher);
                search(move || searcher.vector(&request)).await
            },
        )
        .await?;
        on.listen(
            call::CATALOG_NEIGHBOURS,
            searches,
            |this, request: Neighbours| async move {
                let searcher = Arc::clone(&this.searcher);
                search(move || searcher.neighbours(&request)).await
            },
        )
        .await
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Catalog) -> Result<T, CatalogError> + Send + 'static,
    ) -> Result<T, ErrorBody> {
        Ok(self.bench.catalog.run(question).await?)
    }

    async fn admit(self: Arc<Self>, request: Admit) -> Result<Admitted, ErrorBody> {
        if request.path.is_empty() {
            return Err(ErrorBody::new(
                ErrorCode::BadRequest,
                "`path` is empty",
                "give the document a path",
            ));
        }
        let _open = self.gate.lock().await;
        let key = original_key(&request.content);
        match self.bench.blobs.exists(&key).await {
            Ok(true) => {}
            Ok(false) => {
                return Err(ErrorBody::new(
                    ErrorCode::Unavailable,
                    format!("`{key}` is not in the blob store"),
                    "upload the document again",
                ));
            }
            Err(error) => {
                return Err(ErrorBody::new(
                    ErrorCode::Internal,
                    chain(&error),
                    "check that the data folder can be read",
                ));
            }
        }
        let admitted = self
            .ask(move |catalog| catalog.admit(&request, clock::now_ms()))
            .await?;
        self.bench.feeder.notify_one();
        // Content that was there already only has to be made final.
        self.bench.follower.wake();
        Ok(admitted)
    }

    async fn delete(self: Arc<Self>, id: DocumentId) -> Result<DeletionReceipt, ErrorBody> {
        let receipt = self.janitor.delete(id, PURGE_WITHIN).await?;
        // Another document may have waited for the same content.
        self.bench.feeder.notify_one();
        Ok(receipt)
    }

    async fn retry(self: Arc<Self>, request: Retry) -> Result<Retried, ErrorBody> {
        let documents = self
            .ask(move |catalog| catalog.retry(&request, clock::now_ms()))
            .await?;
        self.bench.feeder.notify_one();
        // An outdated document whose content has been made anew already only has to be made final.
        self.bench.follower.wake();
        Ok(Retried { documents })
    }

    async fn status(self: Arc<Self>) -> Result<CatalogStatus, ErrorBody> {
        let status = self.ask(Catalog::status).await?;
        let indexes = &self.bench.indexes;
        Ok(CatalogStatus {
            keyword_sequence: indexes.keyword.sequence(),
            vector_sequence: indexes.vector.sequence(),
            keyword_engine: "tantivy".to_owned(),
            vector_engine: indexes.vector.describe(),
            ..status
        })
    }

    async fn fsck(self: Arc<Self>) -> Result<FsckReport, ErrorBody> {
        let bench = &self.bench;
        let fsck = Fsck {
            catalog: bench.catalog.clone(),
            blobs: bench.blobs.clone(),
            indexes: Arc::clone(&bench.indexes),
            follower: Arc::clone(&bench.follower),
        };
        fsck.check().await.map_err(|error| {
            ErrorBody::new(
                ErrorCode::Internal,
                format!("the stores could not be compared: {}", chain(&error)),
                "look at the indexer's log",
            )
        })
    }
}

/// Where a responder listens.
struct Listening<'a> {
    bus: &'a Bus,
    drain: &'a Drain,
    responder: &'a Arc<Responder>,
}

impl Listening<'_> {
    async fn listen<Q, A, F, Fut>(
        &self,
        subject: &'static str,
        limit: usize,
        answer: F,
    ) -> Result<(), BusError>
    where
        Q: DeserializeOwned + Send + 'static,
        A: Serialize + Send + 'static,
        F: Fn(Arc<Responder>, Q) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, ErrorBody>> + Send + 'static,
    {
        let responder = Arc::clone(self.responder);
        let handler = move |request: Q| answer(Arc::clone(&responder), request);
        self.bus
            .respond((subject, QUEUE), limit, self.drain, handler)
            .await
            .map(|_| ())
    }
}

/// Searches on the blocking pool.
async fn search<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ErrorBody> + Send + 'static,
) -> Result<T, ErrorBody> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_panicked| {
            Err(ErrorBody::new(
                ErrorCode::Internal,
                "the search was cut short",
                "ask again",
            ))
        })
}
