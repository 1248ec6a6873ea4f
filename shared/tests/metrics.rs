//! What is counted on a real bus, and how it is gathered.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ibid_tests::bus::BusServer;
use ibid_tests::harness::wait_for;
use shared::blobs::Blobs;
use shared::bus::{Bus, BusSettings, ConsumeOptions, Failure, Handler, Outgoing, QueueDepth};
use shared::contract::subject::Stage;
use shared::contract::{
    DocumentAdmitted, DocumentId, ErrorBody, ErrorCode, FileHash, Generation, Pipeline,
    ProcessMetrics, Sha256Hex, Work,
};
use shared::format::Format;
use shared::service::{Drain, Service};
use tokio::sync::Semaphore;

const LIMIT: Duration = Duration::from_secs(20);

fn admitted(name: &str) -> Outgoing {
    let content = Sha256Hex::of(name.as_bytes());
    let message = DocumentAdmitted {
        work: Work {
            document_id: DocumentId::generate(),
            generation: Generation(1),
            file_hash: FileHash::of(&content, Format::Text),
            format: Format::Text,
            pipeline: Pipeline::current("m-fp32".parse().unwrap()),
            attempt: 1,
        },
        content,
        name: name.to_owned(),
        password: None,
    };
    Outgoing::stage(Stage::Parse, &message.work, None, &message).unwrap()
}

/// A parser that begins when it is let, and rejects what is called `bad`.
struct Held(Arc<Semaphore>);

#[async_trait]
impl Handler for Held {
    type Message = DocumentAdmitted;

    fn stage(&self) -> Stage {
        Stage::Parse
    }

    fn work<'a>(&self, message: &'a DocumentAdmitted) -> &'a Work {
        &message.work
    }

    async fn handle(&self, message: DocumentAdmitted) -> Result<Vec<Outgoing>, Failure> {
        self.0.acquire().await.unwrap().forget();
        if message.name == "bad" {
            return Err(Failure::reject(ErrorCode::Damaged, "bad", "none"));
        }
        Ok(Vec::new())
    }
}

async fn service(server: &BusServer, name: &'static str, bus: &Bus, drain: &Drain) -> Service {
    let blobs = Blobs::open(&server.folder().join("blobs")).unwrap();
    Service::assemble(name, bus.clone(), blobs, drain.clone(), None)
        .await
        .unwrap()
}

/// The value of the sample whose line begins with `sample`.
fn value(metrics: &ProcessMetrics, sample: &str) -> Option<f64> {
    let lines = metrics.text.lines();
    let mut values = lines.filter_map(|line| line.strip_prefix(sample)?.trim().parse().ok());
    values.next()
}

async fn gathered(bus: &Bus, service: &str) -> ProcessMetrics {
    let all = bus.gather_metrics(Duration::from_millis(300)).await;
    all.into_iter()
        .find(|metrics| metrics.service == service)
        .unwrap()
}

#[tokio::test]
async fn work_its_outcome_and_what_waits_are_counted() {
    let server = BusServer::start().await.unwrap();
    let bus = server.connect(BusSettings::default()).await.unwrap();
    let drain = Drain::new();
    let parser = service(&server, "parser", &bus, &drain).await;
    let query = service(&server, "query", &bus, &drain).await;
    parser.health.set_ready();

    assert_eq!(bus.queue_depths().await, [], "no consumer yet");
    let gate = Arc::new(Semaphore::new(0));
    let options = ConsumeOptions { in_flight: 1 };
    let held = Arc::new(Held(Arc::clone(&gate)));
    let consumer = bus.consume(held, options, &drain, &parser.health);
    for name in ["good", "bad", "fine"] {
        bus.publish_work(admitted(name)).await.unwrap();
    }
    let expect = QueueDepth {
        stage: Stage::Parse,
        waiting: 2,
        in_hand: 1,
        repeated: 0,
    };
    wait_for("one message in hand and two waiting", LIMIT, async || {
        let depths = bus.queue_depths().await;
        let seen = depths.contains(&expect);
        seen.then_some(()).ok_or_else(|| format!("{depths:?}"))
    })
    .await
    .unwrap();
    assert_eq!(
        value(&gathered(&bus, "parser").await, "service_in_hand_messages"),
        Some(1.0)
    );

    gate.add_permits(3);
    wait_for("all three to be counted", LIMIT, async || {
        let metrics = gathered(&bus, "parser").await;
        let counts = [
            r#"stage_work_seconds_count{outcome="done",stage="parse"}"#,
            r#"stage_work_seconds_count{outcome="dead",stage="parse"}"#,
            r#"stage_failures_total{class="reject",code="damaged",stage="parse"}"#,
            r#"stage_dead_letters_total{code="damaged",stage="parse"}"#,
            "service_ready",
        ]
        .map(|sample| value(&metrics, sample));
        let expect = [Some(2.0), Some(1.0), Some(1.0), Some(1.0), Some(1.0)];
        (counts == expect)
            .then_some(())
            .ok_or_else(|| format!("{counts:?}"))
    })
    .await
    .unwrap();

    // Each service tells its own state; both are this process.
    let other = gathered(&bus, "query").await;
    assert_eq!(value(&other, "service_ready"), Some(0.0));
    assert_eq!(other.pid, std::process::id());
    assert!(!query.health.read().ready);
    drain.begin();
    consumer.await.unwrap();
}

#[tokio::test]
async fn replies_and_refusals_are_counted_by_subject() {
    let server = BusServer::start().await.unwrap();
    let bus = server.connect(BusSettings::default()).await.unwrap();
    let drain = Drain::new();
    let _service = service(&server, "counter", &bus, &drain).await;
    bus.respond(("count.v1", "count"), 2, &drain, |n: u32| async move {
        if n == 0 {
            return Err(ErrorBody::new(ErrorCode::NotFound, "none", "none"));
        }
        Ok(n)
    })
    .await
    .unwrap();
    for request in [
        serde_json::json!(1),
        serde_json::json!(0),
        serde_json::json!("x"),
    ] {
        let _reply: Result<u32, ErrorBody> = bus.call("count.v1", &request, LIMIT).await;
    }
    wait_for("the replies to be counted", LIMIT, async || {
        let metrics = gathered(&bus, "counter").await;
        let counts = [
            r#"bus_reply_seconds_count{outcome="ok",subject="count.v1"}"#,
            r#"bus_reply_seconds_count{outcome="error",subject="count.v1"}"#,
            r#"bus_refusals_total{code="bad_request",subject="count.v1"}"#,
        ]
        .map(|sample| value(&metrics, sample));
        (counts == [Some(1.0); 3])
            .then_some(())
            .ok_or_else(|| format!("{counts:?}"))
    })
    .await
    .unwrap();
}
