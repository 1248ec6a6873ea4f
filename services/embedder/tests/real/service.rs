//! The whole service over a real bus.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use embedder::Settings;
use ibid_tests::bus::BusServer;
use shared::blobs::Blobs;
use shared::bus::{BusSettings, ConsumeOptions, Failure, Handler, Outgoing};
use shared::contract::subject::{Stage, call};
use shared::contract::{ChunksEmbedded, EmbedQuery, EncoderDescription, QueryVector, Work};
use shared::service::{Drain, HealthBoard, Service};
use tokio::sync::mpsc;

use crate::parts::{TEXTS, cosine, part};
use crate::schedule::{made, model};

/// Ample: chunks are embedded at nice 10, which a busy machine serves last.
const LIMIT: Duration = Duration::from_mins(2);

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
    let server = BusServer::start().await.unwrap();
    let bus = server.connect(BusSettings::default()).await.unwrap();
    bus.ensure_streams().await.unwrap();
    let drain = Drain::new();
    let blobs = Blobs::open(&server.folder().join("blobs")).unwrap();
    let service = Service::assemble(
        "embedder",
        server.connect(BusSettings::default()).await.unwrap(),
        blobs,
        drain.clone(),
        None,
    );
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
