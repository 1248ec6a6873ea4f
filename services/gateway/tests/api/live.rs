//! `GET /api/v1/events` over a real bus.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use gateway::Settings;
use serde_json::Value;
use shared::contract::subject::{Stage, call};
use shared::contract::{CatalogStatus, DocumentId, Generation, StageProgress, StateCounts};

use crate::support::{Gateway, expect_error, wait_for};

/// A catalog with as many ready documents as the counter says.
async fn catalog(gateway: &Gateway) -> Arc<AtomicU64> {
    let ready = Arc::new(AtomicU64::new(1));
    let told = Arc::clone(&ready);
    gateway
        .play(call::CATALOG_STATUS, move |(): ()| {
            let ready = told.load(Ordering::SeqCst);
            async move {
                Ok(CatalogStatus {
                    documents: StateCounts {
                        ready,
                        ..StateCounts::default()
                    },
                    pages: 2,
                    chunks: 3,
                    tokens: 4,
                    collections: Vec::new(),
                    sequence: 5,
                    keyword_sequence: 5,
                    vector_sequence: 5,
                    keyword_engine: "tantivy".to_owned(),
                    vector_engine: "exact".to_owned(),
                    dead_letters: 0,
                    missing_pages: 6,
                    outdated: 7,
                })
            }
        })
        .await;
    ready
}

/// One listener, reading event by event.
struct Ear {
    body: BoxStream<'static, String>,
    rest: String,
}

impl Ear {
    async fn open(gateway: &Gateway) -> Self {
        let response = gateway.client.get(gateway.url("/api/v1/events")).send();
        let response = response.await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let body = response
            .bytes_stream()
            .map(|piece| String::from_utf8(piece.unwrap_or_default().to_vec()).unwrap());
        Self {
            body: body.boxed(),
            rest: String::new(),
        }
    }

    /// The next event's name and data; `None` at the end.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((block, rest)) = self.rest.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.rest = rest;
                let field = |name: &str| {
                    let line = block.lines().find_map(|line| line.strip_prefix(name));
                    line.map(|value| value.trim().to_owned())
                };
                if let (Some(name), Some(data)) = (field("event:"), field("data:")) {
                    return Some((name, serde_json::from_str(&data).unwrap()));
                }
                continue;
            }
            let piece = tokio::time::timeout(Duration::from_secs(20), self.body.next());
            self.rest.push_str(&piece.await.unwrap()?);
        }
    }

    async fn until(&mut self, name: &str) -> Value {
        loop {
            let (found, data) = self.next().await.unwrap();
            if found == name {
                return data;
            }
        }
    }
}

#[tokio::test]
async fn listeners_hear_counts_and_progress_until_the_drain() {
    let gateway = Gateway::start(Settings::default()).await;
    let ready = catalog(&gateway).await;
    let mut one = Ear::open(&gateway).await;
    let (name, counts) = one.next().await.unwrap();
    assert_eq!(
        (name.as_str(), &counts["event"]),
        ("counts", &"counts".into())
    );
    assert_eq!(counts["documents"]["ready"], 1);
    assert_eq!(
        (&counts["missing_pages"], &counts["outdated"]),
        (&6.into(), &7.into())
    );
    assert_eq!(
        (&counts["pages"], &counts["chunks"]),
        (&2.into(), &3.into())
    );
    // A second listener gets the last counts at once.
    let mut two = Ear::open(&gateway).await;
    assert_eq!(two.until("counts").await, counts);

    let progress = StageProgress {
        document_id: DocumentId::generate(),
        generation: Generation(1),
        stage: Stage::Embed,
        pages: 4,
        chunks: 9,
    };
    gateway.bus.progress(&progress).await;
    for ear in [&mut one, &mut two] {
        let heard = ear.until("progress").await;
        assert_eq!(heard["document_id"], progress.document_id.as_str());
        assert_eq!(
            (&heard["stage"], &heard["chunks"]),
            (&"embed".into(), &9.into())
        );
    }

    ready.store(2, Ordering::SeqCst);
    assert_eq!(one.until("counts").await["documents"]["ready"], 2);
    gateway.drain.begin();
    assert!(one.next().await.is_none());
    while let Some((name, _)) = two.next().await {
        assert_eq!(name, "counts");
    }
}

#[tokio::test]
async fn a_catalog_that_does_not_answer_is_told_and_listeners_are_limited() {
    let gateway = Gateway::start(Settings::default()).await;
    let mut ears = vec![Ear::open(&gateway).await];
    let told = ears[0].until("unavailable").await;
    assert_eq!(told["error"]["code"], "unavailable");
    for _ in 1..32 {
        ears.push(Ear::open(&gateway).await);
    }
    let one_more = gateway.client.get(gateway.url("/api/v1/events")).send();
    expect_error(one_more.await.unwrap(), 429, "busy").await;
    // Who leaves makes room.
    ears.pop();
    wait_for("a place to be free", async || {
        let again = gateway.client.get(gateway.url("/api/v1/events")).send();
        (again.await.unwrap().status() == 200).then_some(())
    })
    .await;
}
