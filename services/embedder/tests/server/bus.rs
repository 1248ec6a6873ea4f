//! The service over a real bus.

use std::sync::Arc;

use async_trait::async_trait;
use embedder::Settings;
use embedder::engine::{Engine as _, MadeFor};
use ibid_tests::bus::BusServer;
use ibid_tests::fake::{FakeOllama, vector};
use ibid_tests::harness::wait_for;
use shared::blobs::Blobs;
use shared::bus::{Bus, BusSettings, ConsumeOptions, Failure, Handler, Outgoing};
use shared::contract::subject::{Stage, call};
use shared::contract::{
    Batch, Chunk, ChunksEmbedded, ChunksMade, DocumentId, EmbedQuery, EncoderDescription,
    ErrorBody, ErrorCode, FileHash, Generation, Pipeline, QueryVector, Sha256Hex, Span, Work,
};
use shared::format::Format;
use shared::service::{HealthBoard, Service};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::support::{Case, LIMIT, free_port, same};

/// A document of one chunk per text.
pub(crate) fn made(wanted: &MadeFor, texts: &[&str]) -> ChunksMade {
    let chunk = |(index, text): (u32, &&str)| Chunk {
        index,
        heading_path: Vec::new(),
        prefix: String::new(),
        overlap: String::new(),
        text: (*text).to_owned(),
        spans: vec![Span {
            page: 1,
            start: 0,
            end: 1,
        }],
        tokens: 0,
    };
    ChunksMade {
        work: Work {
            document_id: DocumentId::generate(),
            generation: Generation(1),
            file_hash: FileHash::of(&Sha256Hex::of(b"text"), Format::Text),
            format: Format::Text,
            pipeline: Pipeline::current(wanted.model.clone()),
            attempt: 1,
        },
        batch: Batch { index: 0, count: 1 },
        total_chunks: u32::try_from(texts.len()).unwrap(),
        tokenizer_hash: wanted.tokenizer_hash.clone(),
        window: wanted.window,
        chunks: (0..).zip(texts).map(chunk).collect(),
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

/// Lets the server be tried in vain for longer than a message may be silent.
async fn tried_often(port: u16) {
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let tries = async {
        for _ in 0..80 {
            drop(listener.accept().await.unwrap());
        }
    };
    tokio::time::timeout(LIMIT, tries).await.unwrap();
}

async fn ask(bus: &Bus, text: &str) -> Result<QueryVector, ErrorBody> {
    let query = EmbedQuery {
        text: text.to_owned(),
    };
    bus.call(call::EMBED_QUERY, &query, LIMIT).await
}

#[tokio::test(flavor = "multi_thread")]
async fn work_waits_for_the_server_and_becomes_no_dead_letter() {
    let server = BusServer::start().await.unwrap();
    // A message that comes a second time would be buried.
    let settings = BusSettings {
        max_deliveries: 1,
        ack_wait_secs: 3,
        ..BusSettings::default()
    };
    let bus = server.connect(settings.clone()).await.unwrap();
    bus.ensure_streams().await.unwrap();
    let port = free_port();
    let case = Case::ollama(&format!("http://127.0.0.1:{port}"), "all-minilm");
    let service = Service::assemble(
        "embedder",
        server.connect(settings).await.unwrap(),
        Blobs::open(&server.folder().join("blobs")).unwrap(),
        case.drain.clone(),
        None,
    );
    let (service, engine) = (service.await.unwrap(), Arc::clone(&case.engine));
    let running =
        tokio::spawn(async move { embedder::serve(service, &Settings::default(), engine).await });

    let message = made(case.engine.made_for(), &["refunds", "pumps"]);
    let out = Outgoing::stage(Stage::Embed, &message.work, Some(message.batch), &message).unwrap();
    bus.publish_work(out).await.unwrap();
    let (sender, mut embedded) = mpsc::channel(8);
    let options = ConsumeOptions { in_flight: 1 };
    let health = HealthBoard::new("test");
    let next = bus.consume(Arc::new(Next(sender)), options, &case.drain, &health);

    let refused = wait_for("an answer", LIMIT, async || match ask(&bus, "q").await {
        Err(error) if error.message.contains("could not reach Ollama") => Ok(error),
        other => Err(format!("{other:?}")),
    });
    let refused = refused.await.unwrap();
    assert_eq!(refused.code, ErrorCode::Unavailable);
    assert_eq!(refused.remedy, "run: ollama serve");
    let describe = bus.call::<_, EncoderDescription>(call::EMBED_DESCRIBE, &(), LIMIT);
    assert_eq!(describe.await.unwrap_err().code, ErrorCode::Unavailable);

    tried_often(port).await;
    assert!(embedded.try_recv().is_err());
    let _ollama = FakeOllama::start_at(port).unwrap();
    let embedded = tokio::time::timeout(LIMIT, embedded.recv())
        .await
        .unwrap()
        .unwrap();
    assert_eq!((&embedded.work, embedded.dimension), (&message.work, 384));
    assert!(same(&embedded.vectors[1].0, &vector("pumps", 384)));
    let found: EncoderDescription = bus.call(call::EMBED_DESCRIBE, &(), LIMIT).await.unwrap();
    assert_eq!(found.dimension, 384);
    let answer = ask(&bus, "why?").await.unwrap();
    assert_eq!(answer.model, found.model);
    assert!(same(&answer.vector.0, &vector("why?", 384)));

    case.drain.begin();
    let ended = tokio::time::timeout(LIMIT, running).await.unwrap();
    ended.unwrap().unwrap();
    next.await.unwrap();
}
