//! The whole service over a real bus.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use embedder::Settings;
use shared::blobs::Blobs;
use shared::bus::{Bus, BusSettings, ConsumeOptions, Failure, Handler, Outgoing};
use shared::contract::subject::{Stage, call};
use shared::contract::{ChunksEmbedded, EmbedQuery, EncoderDescription, QueryVector, Work};
use shared::service::{Drain, HealthBoard, Service};
use shared::settings::Network;
use tempfile::TempDir;
use tokio::sync::mpsc;

use crate::parts::{TEXTS, cosine, part};
use crate::schedule::{made, model};

/// Ample: chunks are embedded at nice 10, which a busy machine serves last.
const LIMIT: Duration = Duration::from_mins(2);

/// A nats-server of this test's own, ended when dropped.
struct Server {
    child: Child,
    url: String,
    store: TempDir,
}

impl Server {
    async fn start() -> Self {
        let store = tempfile::tempdir().unwrap();
        let child = Command::new(part("nats-server/nats-server"))
            .args(["-a", "127.0.0.1", "-p", "-1", "-js", "-sd"])
            .arg(store.path().join("jetstream"))
            .arg("--ports_file_dir")
            .arg(store.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let ports = store
            .path()
            .join(format!("nats-server_{}.ports", child.id()));
        let mut server = Self {
            child,
            url: String::new(),
            store,
        };
        let started = Instant::now();
        while server.url.is_empty() {
            assert!(
                started.elapsed() < LIMIT,
                "nats-server did not tell its port"
            );
            let told = std::fs::read(&ports).unwrap_or_default();
            let told: serde_json::Value = serde_json::from_slice(&told).unwrap_or_default();
            server.url = told["nats"][0].as_str().unwrap_or_default().to_owned();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        server
    }

    async fn bus(&self) -> Bus {
        let settings = BusSettings {
            url: self.url.clone(),
            ..BusSettings::default()
        };
        Bus::connect(&settings, &Network::default(), "test")
            .await
            .unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The next stage: shows what comes in.
struct Next(mpsc::Sender<ChunksEmbedded>);

#[async_trait]
impl Handler for Next {
    type Message = ChunksEmbedded;

    fn stage(&self) -> Stage {
        Stage::Index
    }

    fn work<'a>(&self, message: &'a ChunksEmbedded) -> &'a Work {
        &message.work
    }

    async fn handle(&self, message: ChunksEmbedded) -> Result<Vec<Outgoing>, Failure> {
        self.0.send(message).await.map_err(Failure::retry)?;
        Ok(Vec::new())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_and_questions_come_and_go_over_the_bus() {
    part("models/all-MiniLM-L6-v2");
    let server = Server::start().await;
    let bus = server.bus().await;
    bus.ensure_streams().await.unwrap();
    let drain = Drain::new();
    let blobs = Blobs::open(&server.store.path().join("blobs")).unwrap();
    let service = Service::assemble("embedder", server.bus().await, blobs, drain.clone(), None);
    let mut running = tokio::spawn(embedder::run(service.await.unwrap(), Settings::default()));

    let model = model();
    let message = made(&model, &TEXTS);
    let out = Outgoing::stage(Stage::Embed, &message.work, Some(message.batch), &message).unwrap();
    bus.publish_work(out).await.unwrap();
    let (sender, mut embedded) = mpsc::channel(8);
    let options = ConsumeOptions { in_flight: 1 };
    let next = bus.consume(
        Arc::new(Next(sender)),
        options,
        &drain,
        &HealthBoard::new("test"),
    );
    let embedded = tokio::select! {
        embedded = tokio::time::timeout(LIMIT, embedded.recv()) => embedded.unwrap().unwrap(),
        ended = &mut running => panic!("the service ended by itself: {ended:?}"),
    };
    assert_eq!(
        (&embedded.work, &embedded.chunks),
        (&message.work, &message.chunks)
    );
    assert_eq!(embedded.vectors.len(), TEXTS.len());

    let found: EncoderDescription = bus.call(call::EMBED_DESCRIBE, &(), LIMIT).await.unwrap();
    assert_eq!(found, model.describe());
    let question = EmbedQuery {
        text: TEXTS[0].to_owned(),
    };
    let answer: QueryVector = bus.call(call::EMBED_QUERY, &question, LIMIT).await.unwrap();
    assert_eq!(answer.model, model.id);
    assert!(cosine(&answer.vector.0, &embedded.vectors[0].0) > 0.9999);

    drain.begin();
    tokio::time::timeout(LIMIT, running)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    next.await.unwrap();
}
