//! The bus against a real nats-server: what the services rely on.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::StreamExt as _;
use ibid_tests::bus::BusServer;
use shared::blobs::Blobs;
use shared::bus::{
    Bus, BusSettings, ConsumeOptions, DeadLetterHandler, Failure, Handler, Outgoing,
};
use shared::contract::subject::Stage;
use shared::contract::{
    DeadLetter, DocumentAdmitted, DocumentId, DocumentParsed, ErrorBody, ErrorCode, FileHash,
    Generation, Health, Pipeline, Sha256Hex, Work,
};
use shared::format::Format;
use shared::service::{Drain, HealthBoard, Service, own_host};
use tokio::sync::mpsc;

const LIMIT: Duration = Duration::from_secs(20);

/// A server and a connection that gives up soon.
async fn bus() -> (BusServer, Bus) {
    let server = BusServer::start().await.unwrap();
    let settings = BusSettings {
        ack_wait_secs: 3,
        max_deliveries: 3,
        ..BusSettings::default()
    };
    let bus = server.connect(settings).await.unwrap();
    (server, bus)
}

fn work() -> Work {
    let content = Sha256Hex::of(b"x");
    Work {
        document_id: DocumentId::generate(),
        generation: Generation(7),
        file_hash: FileHash::of(&content, Format::Text),
        format: Format::Text,
        pipeline: Pipeline::current("m-fp32".parse().unwrap()),
        attempt: 1,
    }
}

fn admitted(work: &Work) -> Outgoing {
    let message = DocumentAdmitted {
        work: work.clone(),
        content: Sha256Hex::of(b"x"),
        name: "x.txt".to_owned(),
        password: None,
    };
    Outgoing::stage(Stage::Parse, work, None, &message).unwrap()
}

/// A parser that fails as told for its first calls, then passes the document on.
struct Flaky {
    calls: AtomicUsize,
    failures: usize,
    failure: fn() -> Failure,
}

#[async_trait]
impl Handler for Flaky {
    type Message = DocumentAdmitted;

    fn stage(&self) -> Stage {
        Stage::Parse
    }

    fn work<'a>(&self, message: &'a DocumentAdmitted) -> &'a Work {
        &message.work
    }

    async fn handle(&self, message: DocumentAdmitted) -> Result<Vec<Outgoing>, Failure> {
        if self.calls.fetch_add(1, Ordering::SeqCst) < self.failures {
            return Err((self.failure)());
        }
        let parsed = DocumentParsed {
            work: message.work.clone(),
            folder: "f".to_owned(),
            pages: 1,
        };
        let out = Outgoing::stage(Stage::Chunk, &message.work, None, &parsed);
        Ok(vec![out.map_err(Failure::retry)?])
    }
}

struct Letters(mpsc::UnboundedSender<DeadLetter>);

#[async_trait]
impl DeadLetterHandler for Letters {
    async fn note(&self, letter: DeadLetter) -> Result<(), Failure> {
        self.0.send(letter).map_err(Failure::retry)
    }
}

/// Runs the flaky parser over one message and tells its calls and what came of it: the message
/// for the next stage, or the dead letter.
async fn check(failures: usize, failure: fn() -> Failure) -> (usize, Result<(), DeadLetter>) {
    let (_server, bus) = bus().await;
    let (drain, health) = (Drain::new(), HealthBoard::new("test"));
    let flaky = Arc::new(Flaky {
        calls: AtomicUsize::new(0),
        failures,
        failure,
    });
    let options = ConsumeOptions { in_flight: 2 };
    let parser = bus.consume(Arc::clone(&flaky), options, &drain, &health);
    let (sender, mut letters) = mpsc::unbounded_channel();
    let coroner = bus.consume_dead_letters(Arc::new(Letters(sender)), &drain, &health);

    bus.publish_work(admitted(&work())).await.unwrap();
    let passed_on = async {
        while bus.waiting(Stage::Chunk).await.unwrap() == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let outcome = tokio::select! {
        letter = letters.recv() => Err(letter.unwrap()),
        () = passed_on => Ok(()),
        () = tokio::time::sleep(LIMIT) => panic!("neither passed on nor a dead letter"),
    };
    let started = Instant::now();
    while bus.waiting(Stage::Parse).await.unwrap() > 0 {
        assert!(
            started.elapsed() < LIMIT,
            "the message is still in its stream"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drain.begin();
    assert_eq!(parser.await.unwrap().given_up, 0);
    assert_eq!(coroner.await.unwrap().given_up, 0);
    (flaky.calls.load(Ordering::SeqCst), outcome)
}

#[tokio::test]
async fn work_that_succeeds_is_passed_on_and_acknowledged() {
    let (calls, outcome) = check(0, || unreachable!()).await;
    assert!(outcome.is_ok());
    assert_eq!(calls, 1);
}

#[tokio::test]
async fn work_that_may_succeed_later_is_tried_again() {
    let retry = || Failure::Retry {
        after: Duration::from_millis(50),
        error: ErrorBody::new(ErrorCode::Unavailable, "not yet", "wait"),
    };
    let (calls, outcome) = check(2, retry).await;
    assert!(outcome.is_ok());
    assert_eq!(calls, 3);
}

#[tokio::test]
async fn a_panic_is_tried_again() {
    let (calls, outcome) = check(1, || panic!("a bug in the handler")).await;
    assert!(outcome.is_ok());
    assert_eq!(calls, 2);
}

#[tokio::test]
async fn work_that_never_succeeds_becomes_a_dead_letter_before_another_try() {
    let retry = || Failure::Retry {
        after: Duration::from_millis(10),
        error: ErrorBody::new(ErrorCode::Unavailable, "not yet", "wait"),
    };
    let (calls, outcome) = check(usize::MAX, retry).await;
    let letter = outcome.unwrap_err();
    assert_eq!(calls, 3, "max_deliveries is 3");
    assert_eq!(letter.error.code, ErrorCode::TooManyAttempts);
    assert_eq!(letter.generation, Some(Generation(7)));
}

#[tokio::test]
async fn a_rejection_becomes_a_dead_letter_at_once() {
    let reject = || Failure::reject(ErrorCode::Damaged, "`x.txt` is damaged", "mend it");
    let (calls, outcome) = check(usize::MAX, reject).await;
    let letter = outcome.unwrap_err();
    assert_eq!(calls, 1);
    assert_eq!(
        (letter.stage, letter.error.code),
        (Stage::Parse, ErrorCode::Damaged)
    );
    assert_eq!(letter.error.remedy, "mend it");
}

#[tokio::test]
async fn the_loop_outlives_its_stream() {
    let (server, bus) = bus().await;
    let (drain, health) = (Drain::new(), HealthBoard::new("test"));
    let flaky = Arc::new(Flaky {
        calls: AtomicUsize::new(0),
        failures: 0,
        failure: || unreachable!(),
    });
    let parser = bus.consume(flaky, ConsumeOptions { in_flight: 1 }, &drain, &health);

    let admin = async_nats::ConnectOptions::new()
        .connect(server.url())
        .await
        .unwrap();
    async_nats::jetstream::new(admin)
        .delete_stream(Stage::Parse.stream())
        .await
        .unwrap();
    let started = Instant::now();
    while bus.ensure_streams().await.is_err() || bus.publish_work(admitted(&work())).await.is_err()
    {
        assert!(started.elapsed() < LIMIT);
    }
    while bus.waiting(Stage::Chunk).await.unwrap() == 0 {
        assert!(started.elapsed() < LIMIT, "the loop did not come back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drain.begin();
    parser.await.unwrap();
}

#[tokio::test]
async fn the_same_work_published_twice_is_stored_once_and_a_new_attempt_passes() {
    let (_server, bus) = bus().await;
    let mut work = work();
    bus.publish_work(admitted(&work)).await.unwrap();
    bus.publish_work(admitted(&work)).await.unwrap();
    assert_eq!(bus.waiting(Stage::Parse).await.unwrap(), 1);
    work.attempt = 2;
    bus.publish_work(admitted(&work)).await.unwrap();
    assert_eq!(bus.waiting(Stage::Parse).await.unwrap(), 2);
    let held: Vec<_> = bus.held(Stage::Parse).await.unwrap().into_iter().collect();
    assert_eq!(held, std::slice::from_ref(&work.document_id));
    assert!(bus.held(Stage::Chunk).await.unwrap().is_empty());
    bus.purge_document(&work.document_id).await.unwrap();
    assert_eq!(bus.waiting(Stage::Parse).await.unwrap(), 0);
    assert!(bus.held(Stage::Parse).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_call_always_ends() {
    let (_server, bus) = bus().await;
    let drain = Drain::new();
    let code = |result: Result<u32, ErrorBody>| result.map_err(|error| error.code);

    let none = bus.call("nobody.v1", &1_u32, LIMIT).await;
    assert_eq!(code(none), Err(ErrorCode::Unavailable));

    let gate = Arc::new(tokio::sync::Notify::new());
    let waits = Arc::clone(&gate);
    let handler = move |number: u32| {
        let waits = Arc::clone(&waits);
        async move {
            if number == 0 {
                waits.notified().await;
            }
            Ok::<u32, ErrorBody>(number + 1)
        }
    };
    bus.respond(("add.v1", "adders"), 1, &drain, handler)
        .await
        .unwrap();
    assert_eq!(code(bus.call("add.v1", &1_u32, LIMIT).await), Ok(2));
    assert_eq!(
        code(bus.call("add.v1", &"no number", LIMIT).await),
        Err(ErrorCode::BadRequest)
    );
    let slow = bus.call("add.v1", &0_u32, Duration::from_millis(100)).await;
    assert_eq!(code(slow), Err(ErrorCode::Deadline));
    assert_eq!(
        code(bus.call("add.v1", &1_u32, LIMIT).await),
        Err(ErrorCode::Busy)
    );
    gate.notify_one();
    let started = Instant::now();
    while code(bus.call("add.v1", &1_u32, LIMIT).await) != Ok(2) {
        assert!(
            started.elapsed() < LIMIT,
            "the responder did not become free again"
        );
    }
}

#[tokio::test]
async fn a_stream_of_events_has_order_and_end() {
    let (_server, bus) = bus().await;
    let drain = Drain::new();
    bus.respond_stream(
        ("count.v1", "counters"),
        4,
        &drain,
        |limit: u32, sink| async move {
            for number in 0..limit {
                assert!(sink.send(number).await);
            }
        },
    )
    .await
    .unwrap();
    let events = bus
        .call_stream::<_, u32>("count.v1", &500_u32, LIMIT)
        .await
        .unwrap();
    let all: Vec<u32> = events.map(Result::unwrap).collect().await;
    assert_eq!(all, (0..500).collect::<Vec<_>>());

    let events = bus
        .call_stream::<_, u32>("nobody.v1", &1_u32, LIMIT)
        .await
        .unwrap();
    let all: Vec<_> = events
        .map(|event| event.map_err(|error| error.code))
        .collect()
        .await;
    assert_eq!(all, [Err(ErrorCode::Unavailable)]);
}

#[tokio::test]
async fn a_slow_stream_says_that_it_is_alive_and_stops_when_nobody_listens() {
    let (_server, bus) = bus().await;
    let drain = Drain::new();
    let (dropped, mut drops) = mpsc::unbounded_channel();
    bus.respond_stream(("slow.v1", "slow"), 4, &drain, move |wait: u64, sink| {
        let dropped = dropped.clone();
        async move {
            let ended = Ended(dropped);
            assert!(sink.send(1_u32).await);
            tokio::time::sleep(Duration::from_millis(wait)).await;
            assert!(sink.send(2_u32).await);
            drop(ended);
        }
    })
    .await
    .unwrap();

    // Twice the pause allowed, bridged by signs of life.
    let pause = Duration::from_millis(2_500);
    let events = bus
        .call_stream::<_, u32>("slow.v1", &5_000_u64, pause)
        .await
        .unwrap();
    let all: Vec<u32> = events.map(Result::unwrap).collect().await;
    assert_eq!(all, [1, 2]);
    drops.recv().await.unwrap();

    let events = bus
        .call_stream::<_, u32>("slow.v1", &3_600_000_u64, LIMIT)
        .await
        .unwrap();
    let mut events = Box::pin(events);
    assert_eq!(events.next().await, Some(Ok(1)));
    drop(events);
    tokio::time::timeout(LIMIT, drops.recv())
        .await
        .expect("the work goes on though nobody listens")
        .unwrap();
}

/// Tells when it is dropped.
struct Ended(mpsc::UnboundedSender<()>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.send(()).ok();
    }
}

#[tokio::test]
async fn the_service_of_one_host_is_found_by_its_word() {
    let (server, bus) = bus().await;
    let blobs = Blobs::open(&server.folder().join("blobs")).unwrap();
    let service = Service::assemble("chunker", bus.clone(), blobs, Drain::new(), None)
        .await
        .unwrap();
    let here = |health: &Health| health.service == "chunker" && health.host == own_host();
    let found = bus.find_health(LIMIT, here).await.unwrap();
    assert!(!found.ready && !found.host.is_empty());
    service.health.set_ready();
    assert!(bus.find_health(LIMIT, here).await.unwrap().ready);
    let elsewhere = |health: &Health| health.host == "elsewhere";
    let soon = Duration::from_millis(300);
    assert_eq!(bus.find_health(soon, elsewhere).await, None);
}
