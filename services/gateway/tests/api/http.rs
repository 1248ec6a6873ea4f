//! The API and the page over HTTP: who is answered, and with what status.

use futures::StreamExt as _;
use gateway::Settings;
use serde_json::json;
use shared::contract::subject::call;
use shared::contract::{
    DocumentId, DocumentPage, DocumentView, ErrorBody, ErrorCode, GeneratorId, GeneratorList,
    GeneratorTried, ListDocuments, Question, Retried, Retry, SearchReply, Timings, Understood,
};

use crate::support::{Gateway, expect_error};

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
    let post = |path: &str, body: &str| {
        gateway
            .client
            .post(gateway.url(path))
            .header("content-type", "application/json")
            .body(body.to_owned())
            .send()
    };
    let search = "/api/v1/search";
    expect_error(post(search, "{").await.unwrap(), 400, "bad_request").await;
    expect_error(post(search, "{}").await.unwrap(), 400, "bad_request").await;
    let long = format!("{{\"text\":\"{}\"}}", "a".repeat(262_144));
    let body = expect_error(post(search, &long).await.unwrap(), 413, "too_large").await;
    assert_eq!(body["message"], "the body has more than 262144 bytes");
    let plain = gateway.client.post(gateway.url(search)).body("{}");
    expect_error(plain.send().await.unwrap(), 415, "wrong_media_type").await;

    for (path, body, name) in [
        (
            search,
            r#"{"text":"a","semantic_wieght":1}"#,
            "semantic_wieght",
        ),
        (
            "/api/v1/ask",
            r#"{"text":"a","generater":"x"}"#,
            "generater",
        ),
        (
            search,
            r#"{"text":"a","filter":{"document":[]}}"#,
            "document",
        ),
        ("/api/v1/models/try", r#"{"model":"x"}"#, "model"),
        ("/api/v1/login", r#"{"tokn":"x"}"#, "tokn"),
        ("/api/v1/retry", r#""all_faild""#, "all_faild"),
    ] {
        let response = post(path, body).await.unwrap();
        let body = expect_error(response, 400, "bad_request").await;
        let message = body["message"].as_str().unwrap();
        assert!(message.contains(&format!("`{name}`")), "{path}: {message}");
    }
    for path in [
        "/api/v1/dump?aftr=1",
        "/api/v1/documents/0190f3c2a1b2c3d4e5f60718293a4b5c/pages?from=1",
    ] {
        expect_error(get(path).await.unwrap(), 400, "bad_request").await;
    }
}

#[tokio::test]
async fn a_question_is_passed_on_whole_and_models_are_listed_and_tried() {
    let gateway = Gateway::start(Settings::default()).await;
    gateway
        .play(call::QUERY_SEARCH, |question: Question| async move {
            assert_eq!(question.k, 7);
            assert_eq!(question.semantic_weight, Some(0.25));
            assert_eq!(question.filter.collections.len(), 1);
            Ok(SearchReply {
                passages: Vec::new(),
                timings: Timings::default(),
                notes: vec![question.text],
                understood: Understood::default(),
                weighing: None,
                explanation: None,
            })
        })
        .await;
    let question = json!({
        "text": "when?", "k": 7, "semantic_weight": 0.25, "filter": { "collections": ["notes"] },
    });
    let found = gateway
        .client
        .post(gateway.url("/api/v1/search"))
        .json(&question);
    let found: SearchReply = found.send().await.unwrap().json().await.unwrap();
    assert_eq!(found.notes, ["when?"]);

    gateway
        .play(call::QUERY_GENERATORS, |(): ()| async {
            Ok(GeneratorList {
                generators: Vec::new(),
                problems: Vec::new(),
            })
        })
        .await;
    let models = gateway.client.get(gateway.url("/api/v1/models")).send();
    let models: GeneratorList = models.await.unwrap().json().await.unwrap();
    assert!(models.generators.is_empty());

    gateway
        .play(call::QUERY_TRY, |id: GeneratorId| async {
            Ok(GeneratorTried {
                id,
                first_token_ms: 12.5,
            })
        })
        .await;
    let tried = gateway
        .client
        .post(gateway.url("/api/v1/models/try"))
        .json(&json!({ "id": "ollama/llama3.2:3b" }));
    let tried: GeneratorTried = tried.send().await.unwrap().json().await.unwrap();
    assert_eq!(tried.id.to_string(), "ollama/llama3.2:3b");
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let settings = Settings {
        call_secs: 1,
        ..Settings::default()
    };
    let gateway = Gateway::start(settings).await;
    let body = futures::stream::iter([Ok::<_, std::io::Error>("{\"text\":")])
        .chain(futures::stream::pending());
    let request = gateway
        .client
        .post(gateway.url("/api/v1/search"))
        .header("content-type", "application/json")
        .body(reqwest::Body::wrap_stream(body));
    expect_error(request.send().await.unwrap(), 408, "too_slow").await;
}

#[tokio::test]
async fn an_answer_names_its_trace_and_takes_up_the_callers() {
    let gateway = Gateway::start(Settings::default()).await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let get = |parent: String| {
        let request = gateway.client.get(gateway.url("/nowhere"));
        request.header("traceparent", parent).send()
    };
    let response = get(format!("00-{trace}-00f067aa0ba902b7-01"))
        .await
        .unwrap();
    assert_eq!(response.headers()["x-trace-id"], trace);
    let body = expect_error(response, 404, "no_such_route").await;
    assert_eq!(body["trace_id"], trace);
    for odd in [
        "",
        "00-xyz-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-1-01",
    ] {
        let response = get(odd.to_owned()).await.unwrap();
        let told = response.headers()["x-trace-id"]
            .to_str()
            .unwrap()
            .to_owned();
        assert_eq!(told.len(), 32, "{odd}");
        assert_ne!(told, "0".repeat(32));
        assert_eq!(
            expect_error(response, 404, "no_such_route").await["trace_id"],
            told
        );
    }
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
                Retry::Outdated => Vec::new(),
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
    let outdated = gateway
        .client
        .post(gateway.url("/api/v1/retry"))
        .json(&serde_json::json!("outdated"));
    let outdated: Retried = outdated.send().await.unwrap().json().await.unwrap();
    assert!(outdated.documents.is_empty());
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
