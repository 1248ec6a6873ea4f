//! The whole indexer on a real bus, with a stand-in for the stages before it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ibid_tests::bus::BusServer;
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::bus::{Bus, BusSettings, ConsumeOptions, Failure, Handler, Outgoing};
use shared::contract::subject::{Stage, call};
use shared::contract::{
    Admitted, CatalogStatus, DeletionReceipt, DocumentAdmitted, DocumentId, DocumentPage,
    DocumentState, DocumentView, DumpPage, ErrorCode, FsckReport, Hits, KeywordSearch,
    ListDocuments, Retried, Retry, Sha256Hex, Work,
};
use shared::service::{Drain, Service};

use crate::Settings;
use crate::test_support::{Kit, admit, embedded};

async fn connect(server: &BusServer) -> Bus {
    let settings = BusSettings {
        ack_wait_secs: 3,
        ..BusSettings::default()
    };
    server.connect(settings).await.unwrap()
}

/// Does the work of parser, chunker and embedder in one step.
struct Stages {
    kit: Kit,
    texts: Mutex<HashMap<Sha256Hex, String>>,
    /// Refuse what begins with `bad`.
    strict: AtomicBool,
    /// Take work and never finish it.
    stuck: AtomicBool,
}

struct AllStages(Arc<Stages>);

#[async_trait]
impl Handler for AllStages {
    type Message = DocumentAdmitted;

    fn stage(&self) -> Stage {
        Stage::Parse
    }

    fn work<'a>(&self, message: &'a DocumentAdmitted) -> &'a Work {
        &message.work
    }

    async fn handle(&self, message: DocumentAdmitted) -> Result<Vec<Outgoing>, Failure> {
        let stages = &self.0;
        while stages.stuck.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let text = stages.texts.lock().get(&message.content).cloned().unwrap();
        if text.starts_with("bad") && stages.strict.load(Ordering::Relaxed) {
            return Err(Failure::reject(
                ErrorCode::Damaged,
                "it is damaged",
                "mend it",
            ));
        }
        stages.kit.parse(&message, &text).await;
        let batches = embedded(&message, &text, 1);
        Ok(batches
            .iter()
            .map(|batch| {
                Outgoing::stage(Stage::Index, &batch.work, Some(batch.batch), batch).unwrap()
            })
            .collect())
    }
}

struct Running {
    server: BusServer,
    bus: Bus,
    stages: Arc<Stages>,
    drain: Drain,
    indexer: tokio::task::JoinHandle<anyhow::Result<()>>,
}

impl Running {
    async fn start() -> Self {
        let server = BusServer::start().await.unwrap();
        let (bus, kit, drain) = (connect(&server).await, Kit::new(), Drain::new());
        let stores = (kit.bench.catalog.clone(), Arc::clone(&kit.indexes));
        let blobs = kit.bench.blobs.clone();
        let service = Service::assemble("indexer", bus.clone(), blobs, drain.clone(), None)
            .await
            .unwrap();
        let health = service.health.clone();
        let settings = Settings {
            lease_secs: 2,
            ..Settings::default()
        };
        let indexer = tokio::spawn(async move { crate::serve(service, &settings, stores).await });
        let stages = Arc::new(Stages {
            kit,
            texts: Mutex::default(),
            strict: AtomicBool::new(true),
            stuck: AtomicBool::new(false),
        });
        let options = ConsumeOptions { in_flight: 4 };
        bus.consume(
            Arc::new(AllStages(Arc::clone(&stages))),
            options,
            &drain,
            &health,
        );
        let running = Self {
            server,
            bus,
            stages,
            drain,
            indexer,
        };
        running
            .until("the indexer", async |this| this.status().await.is_ok())
            .await;
        running
    }

    async fn call<Q: Serialize, A: DeserializeOwned>(&self, subject: &str, request: &Q) -> A {
        self.bus
            .call(subject, request, Duration::from_secs(10))
            .await
            .unwrap()
    }

    async fn status(&self) -> Result<CatalogStatus, shared::contract::ErrorBody> {
        self.bus
            .call(call::CATALOG_STATUS, &(), Duration::from_secs(2))
            .await
    }

    async fn add(&self, path: &str, text: &str) -> Admitted {
        let stages = &self.stages;
        let request = admit(path, text, false);
        stages
            .texts
            .lock()
            .insert(request.content.clone(), text.to_owned());
        let key = shared::blobs::original_key(&request.content);
        stages
            .kit
            .bench
            .blobs
            .put(&key, text.to_owned().into())
            .await
            .unwrap();
        self.call(call::CATALOG_ADMIT, &request).await
    }

    async fn until(&self, what: &str, condition: impl AsyncFn(&Self) -> bool) {
        let started = Instant::now();
        while !condition(self).await {
            let status = self.status().await;
            assert!(
                started.elapsed() < Duration::from_mins(1),
                "{what}: {status:?}"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn until_state(&self, id: &DocumentId, state: DocumentState) -> DocumentView {
        self.until("the state", async |this| {
            this.call::<_, DocumentView>(call::CATALOG_GET, id)
                .await
                .state
                == state
        })
        .await;
        self.call(call::CATALOG_GET, id).await
    }

    async fn sound(&self) {
        let report: FsckReport = self.call(call::CATALOG_FSCK, &()).await;
        assert_eq!(report.findings, []);
    }

    async fn end(self) {
        self.drain.begin();
        self.indexer.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_comes_in_is_found_and_goes() {
    let it = Running::start().await;
    let id = it
        .add("/a.txt", "a green lamp\na blue door\n")
        .await
        .document_id;
    it.until_state(&id, DocumentState::Ready).await;
    let request = KeywordSearch {
        text: "lamp".to_owned(),
        k: 5,
        ..KeywordSearch::default()
    };
    let found: Hits = it.call(call::SEARCH_KEYWORD, &request).await;
    assert_eq!(found.hits[0].text, "a green lamp\n");
    let dump: DumpPage = it.call(call::CATALOG_DUMP, &()).await;
    assert_eq!(dump.rows.len(), 2);
    it.sound().await;

    let receipt: DeletionReceipt = it.call(call::CATALOG_DELETE, &id).await;
    assert!(
        receipt.stores.iter().all(|store| store.purged_ms.is_some()),
        "{receipt:?}"
    );
    let found: Hits = it.call(call::SEARCH_KEYWORD, &request).await;
    assert!(found.hits.is_empty());
    // Added again at once: another document, whose messages no deduplication swallows.
    let again = it
        .add("/a.txt", "a green lamp\na blue door\n")
        .await
        .document_id;
    assert_ne!(again, id);
    it.until_state(&again, DocumentState::Ready).await;
    it.sound().await;

    let unknown: Result<DocumentView, _> = it
        .bus
        .call(call::CATALOG_GET, &id, Duration::from_secs(5))
        .await;
    assert_eq!(unknown.unwrap_err().code, ErrorCode::NotFound);
    let lost = admit("/lost", "never uploaded", false);
    let refused: Result<Admitted, _> = it
        .bus
        .call(call::CATALOG_ADMIT, &lost, Duration::from_secs(5))
        .await;
    assert!(refused.unwrap_err().remedy.contains("upload"));
    it.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_document_fails_with_the_reason_and_a_retry_takes_it_up() {
    let it = Running::start().await;
    let id = it.add("/bad.txt", "bad words\n").await.document_id;
    let view = it.until_state(&id, DocumentState::Failed).await;
    let error = view.error.unwrap();
    assert_eq!(
        (error.code, error.remedy.as_str()),
        (ErrorCode::Damaged, "mend it")
    );
    assert_eq!(it.status().await.unwrap().dead_letters, 1);
    it.stages.strict.store(false, Ordering::Relaxed);
    let retried: Retried = it.call(call::CATALOG_RETRY, &Retry::AllFailed).await;
    assert_eq!(retried.documents, std::slice::from_ref(&id));
    it.until_state(&id, DocumentState::Ready).await;
    it.sound().await;
    it.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_with_the_streams() {
    let mut it = Running::start().await;
    it.stages.stuck.store(true, Ordering::Relaxed);
    for number in 0..40 {
        it.add(
            &format!("/{number}"),
            &format!("document {number}\nwith two lines\n"),
        )
        .await;
    }
    it.until("work in the streams", async |this| {
        this.bus
            .waiting(Stage::Parse)
            .await
            .is_ok_and(|waiting| waiting == 32)
    })
    .await;
    it.server.lose_the_store().unwrap();
    it.stages.stuck.store(false, Ordering::Relaxed);
    it.until("all ready", async |this| {
        this.status()
            .await
            .is_ok_and(|status| status.documents.ready == 40)
    })
    .await;
    let request = ListDocuments {
        limit: 500,
        ..ListDocuments::default()
    };
    let page: DocumentPage = it.call(call::CATALOG_LIST, &request).await;
    assert!(
        page.documents
            .iter()
            .all(|view| view.state == DocumentState::Ready)
    );
    assert_eq!(
        page.documents.iter().map(|view| view.chunks).sum::<u32>(),
        80
    );
    it.sound().await;
    it.end().await;
}
