//! Streamed answers over HTTP: in order, in time, and over when either side is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use gateway::Settings;
use serde_json::json;
use shared::bus::EventSink;
use shared::contract::subject::call;
use shared::contract::{
    AnswerEvent, ErrorBody, ErrorCode, LeftOut, Question, Timings, TokenUsage, Understood,
};

use crate::support::{Gateway, expect_error, wait_for};

fn done() -> AnswerEvent {
    AnswerEvent::Done {
        generator: "extractive".parse().unwrap(),
        timings: Timings::default(),
        usage: TokenUsage::default(),
        left_out: LeftOut::default(),
        answered: true,
        citations: Vec::new(),
        notes: Vec::new(),
    }
}

fn token(text: &str) -> AnswerEvent {
    AnswerEvent::Token {
        text: text.to_owned(),
    }
}

/// Names and data of server-sent events.
fn events(text: &str) -> Vec<(String, AnswerEvent)> {
    text.split("\n\n")
        .filter(|block| block.contains("data:"))
        .map(|block| {
            let field = |name: &str| {
                block
                    .lines()
                    .find_map(|line| line.strip_prefix(name))
                    .unwrap()
                    .trim()
                    .to_owned()
            };
            (
                field("event:"),
                serde_json::from_str(&field("data:")).unwrap(),
            )
        })
        .collect()
}

async fn ask(gateway: &Gateway, text: &str) -> reqwest::Response {
    let url = gateway.url("/api/v1/ask");
    gateway
        .client
        .post(url)
        .json(&json!({ "text": text }))
        .send()
        .await
        .unwrap()
}

#[tokio::test]
async fn an_answer_streams_in_order_and_ends_once() {
    let gateway = Gateway::start(Settings::default()).await;
    gateway
        .play_stream(
            call::QUERY_ASK,
            |question: Question, sink: EventSink<AnswerEvent>| async move {
                assert!(
                    sink.send(AnswerEvent::Sources {
                        sources: Vec::new(),
                        understood: Understood::default(),
                        explanation: None,
                    })
                    .await
                );
                for word in question.text.split_inclusive(' ') {
                    assert!(sink.send(token(word)).await);
                }
                assert!(sink.send(done()).await);
            },
        )
        .await;
    let response = ask(&gateway, "one two\nlines three").await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["cache-control"], "no-store");
    let events = events(&response.text().await.unwrap());
    let names: Vec<_> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["sources", "token", "token", "token", "done"]);
    let text: String = events
        .iter()
        .filter_map(|(_, event)| match event {
            AnswerEvent::Token { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, "one two\nlines three");
}

#[tokio::test]
async fn tokens_leave_before_the_answer_is_whole() {
    let gateway = Gateway::start(Settings::default()).await;
    let (go, wait) = tokio::sync::watch::channel(false);
    gateway
        .play_stream(
            call::QUERY_ASK,
            move |_: Question, sink: EventSink<AnswerEvent>| {
                let mut wait = wait.clone();
                async move {
                    assert!(sink.send(token("early")).await);
                    wait.wait_for(|go| *go).await.unwrap();
                    assert!(sink.send(done()).await);
                }
            },
        )
        .await;
    let mut body = ask(&gateway, "x").await.bytes_stream();
    let first = tokio::time::timeout(Duration::from_secs(10), body.next())
        .await
        .unwrap();
    assert!(String::from_utf8_lossy(&first.unwrap().unwrap()).contains("early"));
    go.send(true).unwrap();
    let rest: Vec<_> = body.map(Result::unwrap).collect().await;
    assert!(String::from_utf8_lossy(&rest.concat()).contains("event: done"));
}

#[tokio::test]
async fn an_answer_that_fails_before_it_begins_has_a_status() {
    let gateway = Gateway::start(Settings::default()).await;
    expect_error(ask(&gateway, "x").await, 503, "unavailable").await;
    gateway
        .play_stream(
            call::QUERY_ASK,
            |_: Question, sink: EventSink<AnswerEvent>| async move {
                let error = ErrorBody::new(ErrorCode::BadRequest, "the question is empty", "ask");
                sink.send(AnswerEvent::Error { error }).await;
            },
        )
        .await;
    expect_error(ask(&gateway, "").await, 400, "bad_request").await;
}

#[tokio::test]
async fn an_answer_that_breaks_off_ends_with_an_error_event() {
    let settings = Settings {
        answer_pause_secs: 1,
        ..Settings::default()
    };
    let gateway = Gateway::start(settings).await;
    gateway
        .play_stream(
            call::QUERY_ASK,
            |question: Question, sink: EventSink<AnswerEvent>| async move {
                sink.send(token("half")).await;
                if question.text == "hang" {
                    futures::future::pending::<()>().await;
                }
            },
        )
        .await;
    for (question, code) in [
        ("break", ErrorCode::Unavailable),
        ("hang", ErrorCode::Deadline),
    ] {
        let events = events(&ask(&gateway, question).await.text().await.unwrap());
        let Some((name, AnswerEvent::Error { error })) = events.last() else {
            panic!("{events:?} has no error at its end");
        };
        assert_eq!((name.as_str(), error.code), ("error", code), "{question}");
        assert_eq!(events.len(), 2);
        assert!(error.message.contains("broke off"), "{error}");
        assert!(!error.to_string().contains(call::QUERY_ASK), "{error}");
    }
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_work_for_it() {
    /// Says when the work has ended, however it ends.
    struct Ended(Arc<AtomicBool>);

    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    let gateway = Gateway::start(Settings::default()).await;
    let ended = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&ended);
    gateway
        .play_stream(
            call::QUERY_ASK,
            move |_: Question, sink: EventSink<AnswerEvent>| {
                let guard = Ended(Arc::clone(&seen));
                async move {
                    let _guard = guard;
                    sink.send(token("first")).await;
                    futures::future::pending::<()>().await;
                }
            },
        )
        .await;
    let response = ask(&gateway, "x").await;
    assert_eq!(response.status(), 200);
    assert!(!ended.load(Ordering::SeqCst));
    drop(response);
    wait_for("the work to end", async || {
        ended.load(Ordering::SeqCst).then_some(())
    })
    .await;
}

#[tokio::test]
async fn more_requests_than_allowed_are_refused_as_busy() {
    let gateway = Gateway::start(Settings {
        max_requests: 1,
        ..Settings::default()
    })
    .await;
    let (go, wait) = tokio::sync::watch::channel(false);
    gateway
        .play_stream(
            call::QUERY_ASK,
            move |_: Question, sink: EventSink<AnswerEvent>| {
                let mut wait = wait.clone();
                async move {
                    sink.send(token("first")).await;
                    wait.wait_for(|go| *go).await.unwrap();
                    sink.send(done()).await;
                }
            },
        )
        .await;
    let first = ask(&gateway, "x").await;
    assert_eq!(first.status(), 200);
    // The answer is still streaming, so its place is taken.
    let second = ask(&gateway, "y").await;
    assert_eq!(second.headers()["retry-after"], "1");
    expect_error(second, 429, "busy").await;
    assert_eq!(
        gateway
            .client
            .get(gateway.url("/"))
            .send()
            .await
            .unwrap()
            .status(),
        200
    );
    go.send(true).unwrap();
    assert!(first.text().await.unwrap().contains("event: done"));
    wait_for("the place to be free", async || {
        (ask(&gateway, "z").await.status() == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_port_is_told_and_a_drain_ends_streams() {
    let gateway = Gateway::start(Settings::default()).await;
    let port_file = gateway.data().join("run/gateway.port");
    let told = std::fs::read_to_string(&port_file).unwrap();
    assert_eq!(told.trim(), gateway.port.to_string());
    gateway
        .play_stream(
            call::QUERY_ASK,
            |_: Question, sink: EventSink<AnswerEvent>| async move {
                sink.send(token("first")).await;
                futures::future::pending::<()>().await;
            },
        )
        .await;
    let response = ask(&gateway, "x").await;
    gateway.drain.begin();
    let events = events(&response.text().await.unwrap());
    assert_eq!(events.last().unwrap().0, "error");
    let drained = tokio::time::timeout(Duration::from_secs(15), gateway.task).await;
    assert_eq!(drained.unwrap().unwrap().given_up, 0);
    assert!(!port_file.exists());
}
