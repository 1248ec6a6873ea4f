//! The API and the page over HTTP: who is answered, with what status, and in which order.

use std::time::Duration;

use futures::StreamExt as _;
use gateway::Settings;
use serde_json::json;
use shared::bus::EventSink;
use shared::contract::subject::call;
use shared::contract::{
    AnswerEvent, DocumentId, DocumentPage, DocumentView, ErrorBody, ErrorCode, ListDocuments,
    Question, Retried, Retry, Timings,
};

use crate::support::{Gateway, expect_error, wait_for};

fn done() -> AnswerEvent {
    AnswerEvent::Done {
        generator: "extractive".to_owned(),
        timings: Timings::default(),
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
                        passages: Vec::new()
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
    }
}

#[tokio::test]
async fn only_this_server_and_its_own_page_are_answered() {
    let gateway = Gateway::start(Settings::default()).await;
    let own = format!("http://127.0.0.1:{}", gateway.port);
    let page = || gateway.client.get(gateway.url("/"));
    let response = page()
        .header("host", format!("evil.example:{}", gateway.port))
        .send();
    expect_error(response.await.unwrap(), 421, "foreign_host").await;
    let localhost = page()
        .header("host", format!("localhost:{}", gateway.port))
        .send();
    assert_eq!(localhost.await.unwrap().status(), 200);

    let delete = || {
        let id = DocumentId::generate();
        gateway
            .client
            .delete(gateway.url(&format!("/api/v1/documents/{id}")))
    };
    for (name, value) in [
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let response = delete().header(name, value).send().await.unwrap();
        expect_error(response, 403, "foreign_origin").await;
    }
    // Its own page gets as far as the catalog, which is not there.
    let response = delete()
        .header("origin", own)
        .header("sec-fetch-site", "same-origin")
        .send();
    expect_error(response.await.unwrap(), 503, "unavailable").await;
    // A preflight gets no permission.
    let preflight = gateway
        .client
        .request(reqwest::Method::OPTIONS, gateway.url("/api/v1/ask"))
        .header("origin", "http://evil.example")
        .header("access-control-request-method", "POST")
        .send()
        .await
        .unwrap();
    assert!(
        !preflight
            .headers()
            .contains_key("access-control-allow-origin")
    );
    expect_error(preflight, 403, "foreign_origin").await;
}

#[tokio::test]
async fn every_answer_carries_the_security_headers() {
    let gateway = Gateway::start(Settings::default()).await;
    for path in ["/", "/assets/main.js", "/nowhere", "/api/v1/status"] {
        let response = gateway.client.get(gateway.url(path)).send().await.unwrap();
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert!(
            header("content-security-policy").contains("default-src 'self'"),
            "{path}"
        );
        assert!(
            header("content-security-policy").contains("frame-ancestors 'none'"),
            "{path}"
        );
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("referrer-policy"), "no-referrer", "{path}");
        assert!(
            !response
                .headers()
                .contains_key("access-control-allow-origin"),
            "{path}"
        );
    }
    let page = gateway.client.get(gateway.url("/")).send().await.unwrap();
    assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
    let script = gateway
        .client
        .get(gateway.url("/assets/main.js"))
        .send()
        .await
        .unwrap();
    assert_eq!(
        script.headers()["content-type"],
        "text/javascript; charset=utf-8"
    );
}

#[tokio::test]
async fn requests_that_are_wrong_say_how() {
    let gateway = Gateway::start(Settings::default()).await;
    let get = |path: &str| gateway.client.get(gateway.url(path)).send();
    expect_error(get("/nowhere").await.unwrap(), 404, "no_such_route").await;
    expect_error(get("/api/v1/nowhere").await.unwrap(), 404, "no_such_route").await;
    expect_error(get("/assets/nothing.js").await.unwrap(), 404, "not_found").await;
    expect_error(get("/api/v1/ask").await.unwrap(), 405, "wrong_method").await;
    expect_error(
        get("/api/v1/documents/zzz").await.unwrap(),
        400,
        "bad_request",
    )
    .await;
    expect_error(
        get("/api/v1/documents?state=lost").await.unwrap(),
        400,
        "bad_request",
    )
    .await;
    expect_error(
        get("/api/v1/documents?stat=ready").await.unwrap(),
        400,
        "bad_request",
    )
    .await;
    let post = |body: &str| {
        let url = gateway.url("/api/v1/search");
        gateway
            .client
            .post(url)
            .header("content-type", "application/json")
            .body(body.to_owned())
    };
    expect_error(post("{").send().await.unwrap(), 400, "bad_request").await;
    expect_error(post("{}").send().await.unwrap(), 400, "bad_request").await;
    let long = format!("{{\"text\":\"{}\"}}", "a".repeat(70_000));
    expect_error(post(&long).send().await.unwrap(), 413, "too_large").await;
    let plain = gateway
        .client
        .post(gateway.url("/api/v1/search"))
        .body("{}");
    expect_error(plain.send().await.unwrap(), 415, "wrong_media_type").await;
}

#[tokio::test]
async fn documents_are_listed_told_and_tried_again() {
    let gateway = Gateway::start(Settings::default()).await;
    gateway
        .play(call::CATALOG_LIST, |asked: ListDocuments| async move {
            assert_eq!(asked.collection.unwrap().as_str(), "notes");
            assert_eq!(asked.after.as_deref(), Some("a&b"));
            Ok(DocumentPage {
                documents: Vec::new(),
                next: None,
                total: u64::from(asked.limit),
            })
        })
        .await;
    let path = "/api/v1/documents?collection=notes&state=failed&after=a%26b&limit=7";
    let page: DocumentPage = gateway
        .client
        .get(gateway.url(path))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(page.total, 7);

    gateway
        .play(call::CATALOG_GET, |id: DocumentId| async move {
            let message = format!("no document `{id}`");
            Err::<DocumentView, _>(ErrorBody::new(
                ErrorCode::NotFound,
                message,
                "see `ibid list`",
            ))
        })
        .await;
    let id = DocumentId::generate();
    let url = gateway.url(&format!("/api/v1/documents/{id}"));
    let body = expect_error(
        gateway.client.get(url).send().await.unwrap(),
        404,
        "not_found",
    )
    .await;
    assert!(body["message"].as_str().unwrap().contains(id.as_str()));

    let failed = DocumentId::generate();
    let known = failed.clone();
    gateway
        .play(call::CATALOG_RETRY, move |which: Retry| {
            let documents = match which {
                Retry::Document(id) => vec![id],
                Retry::AllFailed => vec![known.clone()],
            };
            async { Ok(Retried { documents }) }
        })
        .await;
    let one = gateway
        .client
        .post(gateway.url(&format!("/api/v1/documents/{id}/retry")));
    let one: Retried = one.send().await.unwrap().json().await.unwrap();
    assert_eq!(one.documents, [id]);
    let all = gateway
        .client
        .post(gateway.url("/api/v1/retry"))
        .json(&Retry::AllFailed);
    let all: Retried = all.send().await.unwrap().json().await.unwrap();
    assert_eq!(all.documents, [failed]);
}

#[tokio::test]
async fn status_and_probes_tell_what_is_missing() {
    let gateway = Gateway::start(Settings::default()).await;
    let get = |path: &str| gateway.client.get(gateway.url(path)).send();
    assert_eq!(get("/healthz").await.unwrap().status(), 200);
    let response = get("/readyz").await.unwrap();
    assert_eq!(response.headers()["retry-after"], "2");
    expect_error(response, 503, "unavailable").await;
    let status: serde_json::Value = get("/api/v1/status").await.unwrap().json().await.unwrap();
    assert_eq!(status["services"][0]["service"], "gateway");
    assert_eq!(status["catalog"], serde_json::Value::Null);
    assert_eq!(status["error"]["code"], "unavailable");
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
