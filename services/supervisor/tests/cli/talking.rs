//! The commands that speak to a gateway, against one that says what the test wants.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use super::command;
use super::fake_gateway::FakeGateway;

pub(crate) fn run(
    gateway: &FakeGateway,
    arguments: &[&str],
    input: &str,
    more: &[(&str, &str)],
) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path(), arguments)
        .env("IBID_URL", &gateway.url)
        .envs(more.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let written = child.stdin.take().unwrap().write_all(input.as_bytes());
    // A command that asks nothing may have ended already.
    if let Err(error) = written {
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    }
    child.wait_with_output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn source(number: u32, name: &str) -> Value {
    json!({
        "number": number, "label": format!("[{name}, p.4 — Notice]"),
        "citation": format!("[{name}, p.4]"), "score": 0.03,
        "preview": "Three months'\u{1b}[2J notice.", "chunk_id": format!("{}_0", "0".repeat(32)),
        "document_id": "0".repeat(32), "collection": "default", "path": format!("/x/{name}"),
        "name": name, "heading_path": ["Notice"], "spans": [],
        "locator": { "kind": "pdf_page", "physical": 4 }
    })
}

fn stream(events: &[Value]) -> String {
    let one = |event: &Value| format!("event: x\ndata: {event}\n\n");
    events.iter().map(one).collect()
}

fn answer() -> String {
    stream(&[
        json!({ "event": "sources", "sources": [source(1, "a.pdf"), source(2, "b\u{202e}.pdf")] }),
        json!({ "event": "token", "text": "Three months \u{1b}]0;x\u{7}" }),
        json!({ "event": "token", "text": "[b.pdf, p.4]." }),
        json!({
            "event": "done", "generator": "ollama/llama3.2", "answered": true,
            "timings": {
                "embed_ms": 1, "keyword_ms": 1, "vector_ms": 1, "fuse_ms": 1,
                "first_token_ms": 250, "generate_ms": 1000, "total_ms": 1300
            },
            "usage": { "tokens_per_second": 20.0 },
            "left_out": { "sources": 3, "turns": 0, "answer_cut": false },
            "citations": [{ "number": 2, "label": "[b.pdf, p.4]" }],
            "notes": ["the vector engine did not answer"]
        }),
    ])
}

const ASK: &str = "POST /api/v1/ask";

#[test]
fn an_answer_is_followed_by_what_it_cites_and_by_who_spoke() {
    let listing = json!({ "documents": [], "next": null, "total": 1 }).to_string();
    let answers = [(ASK, answer()), ("GET /api/v1/documents", listing)];
    let answers = answers
        .each_ref()
        .map(|(line, body)| (*line, body.as_str()));
    let gateway = FakeGateway::start(None, &answers);
    let arguments = [
        "ask",
        "-k",
        "3",
        "--semantic-weight",
        "0.25",
        "--collection",
        "papers",
        "--collection",
        "law",
        "--model",
        "ollama/llama3.2",
        "--path-prefix",
        "/no/such/contracts",
        "--type",
        "PDF",
        "--from",
        "2026-01-01",
        "--to",
        "2026-11-30",
        "--language",
        "tr",
        "--fusion",
        "average",
        "--no-rerank",
        "--rerank",
        "--diversity",
        "0.5",
        "what",
        "notice?",
    ];
    let output = run(&gateway, &arguments, "", &[]);
    assert_eq!(
        text(&output.stdout),
        "Three months ]0;x[b.pdf, p.4].\n\
         \n\
         2. [b\\u{202e}.pdf, p.4 — Notice]  /x/b\\u{202e}.pdf\n\
         note: the vector engine did not answer\n\
         ollama/llama3.2, first token 250 ms, 1.3 s in all, 20.0 tokens/s; left out for room: 3 \
         passages\n"
    );
    assert!(output.status.success());
    let question: Value = serde_json::from_str(&gateway.asked().pop().unwrap().body).unwrap();
    assert_eq!(question["text"], "what notice?");
    assert_eq!(
        (&question["k"], &question["semantic_weight"]),
        (&json!(3), &json!(0.25))
    );
    let filter = json!({
        "collections": ["papers", "law"], "documents": [], "path_prefix": "/no/such/contracts",
        "formats": ["pdf"], "from": "2026-01-01", "to": "2026-11-30", "languages": ["tr"],
    });
    assert_eq!(question["filter"], filter);
    let ranking = ["fusion", "rerank", "diversity"].map(|field| question[field].clone());
    assert_eq!(ranking, [json!("average"), json!(true), json!(0.5)]);
    assert_eq!(question["generator"], "ollama/llama3.2");

    let output = run(&gateway, &["ask", "--json", "what?"], "", &[]);
    let lines = text(&output.stdout);
    let events: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events.len(), 4);
    assert_eq!(events[3]["event"], "done");
}

#[test]
fn an_answer_that_fails_in_the_middle_is_told_on_a_line_of_its_own() {
    let events = stream(&[
        json!({ "event": "sources", "sources": [] }),
        json!({ "event": "token", "text": "Three" }),
        json!({
            "event": "error",
            "error": { "code": "unavailable", "message": "it broke off", "remedy": "ask again" }
        }),
    ]);
    let gateway = FakeGateway::start(None, &[(ASK, &events)]);
    let output = run(&gateway, &["ask", "what?"], "", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "Three\n");
    assert_eq!(text(&output.stderr), "error: it broke off\nask again\n");

    let output = run(&gateway, &["ask", "--json", "what?"], "", &[]);
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["error"]["code"], "unavailable");
}

#[test]
fn a_conversation_sends_what_was_said_and_forgets_what_failed() {
    let gateway = FakeGateway::start(None, &[(ASK, &answer())]);
    let lines = "what notice?\n\n/nonsense\nand then?\n/sources\n/clear\nanew\n/quit\nnever\n";
    let output = run(&gateway, &["chat"], lines, &[]);
    let told = text(&output.stdout);
    assert!(told.contains("[b.pdf, p.4]"), "{told}");
    assert!(told.contains("   Three months'[2J notice."), "{told}");
    assert!(text(&output.stderr).contains("`/nonsense` is no command"));
    // Not a terminal, and not everything worked.
    assert_eq!(output.status.code(), Some(1));
    let asked: Vec<Value> = gateway
        .asked()
        .iter()
        .map(|asked| serde_json::from_str(&asked.body).unwrap())
        .collect();
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert_eq!(asked[0]["history"], json!([]));
    let first = json!({
        "question": "what notice?",
        "answer": "Three months \u{1b}]0;x\u{7}[b.pdf, p.4]."
    });
    assert_eq!(asked[1]["history"], json!([first]));
    assert_eq!(asked[2]["history"], json!([]));

    let broken = stream(&[json!({ "event": "token", "text": "half" })]);
    let gateway = FakeGateway::start(None, &[(ASK, &broken)]);
    let output = run(&gateway, &["chat"], "one\ntwo\n", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr).matches("broke off").count(), 2);
    let second: Value = serde_json::from_str(&gateway.asked()[1].body).unwrap();
    assert_eq!(second["history"], json!([]), "a failed answer is no turn");
}

#[test]
fn models_are_listed_with_what_is_refused_and_what_does_not_answer() {
    let list = json!({
        "generators": [
            { "id": "ollama/llama3.2", "is_default": true, "window_tokens": 8192,
              "bytes": 2_019_393_189, "loaded": false },
            { "id": "ollama/big:cloud", "is_default": false,
              "refused": { "code": "bad_request", "message": "it runs elsewhere",
                           "remedy": "choose another" } },
            { "id": "extractive", "is_default": false }
        ],
        "problems": [["openai", { "code": "unavailable", "message": "could not reach it",
                                  "remedy": "start it" }]]
    });
    let gateway = FakeGateway::start(None, &[("GET /api/v1/models", &list.to_string())]);
    let output = run(&gateway, &["models"], "", &[]);
    assert_eq!(
        text(&output.stdout),
        "model            window  size    loaded\n\
         ollama/llama3.2  8,192   2.0 GB  no      default\n\
         extractive\n\
         ollama/big:cloud: it runs elsewhere; choose another\n\
         openai: could not reach it; start it\n"
    );
}

#[test]
fn the_doctor_has_each_usable_model_make_a_token() {
    let view = |id: &str, refused: bool| {
        let error = json!({ "code": "bad_request", "message": "elsewhere", "remedy": "no" });
        json!({ "id": id, "is_default": false, "refused": refused.then_some(error) })
    };
    let list = json!({ "generators": [view("ollama/x", false), view("ollama/y:cloud", true)] });
    let tried = json!({ "id": "ollama/x", "first_token_ms": 1234.5 }).to_string();
    let health = |service: &str, ready: bool| {
        json!({
            "service": service, "pid": 1, "version": "0", "ready": ready, "in_flight": 0,
            "uptime_ms": 1
        })
    };
    let services = [health("gateway", true), health("query", false)];
    let status = json!({ "services": services, "catalog": null }).to_string();
    let answers = [
        ("GET /healthz", "{}"),
        ("GET /api/v1/status", status.as_str()),
        ("GET /api/v1/models", &list.to_string()),
        ("POST /api/v1/models/try", tried.as_str()),
    ];
    let gateway = FakeGateway::start(None, &answers);
    let output = run(&gateway, &["doctor", "--generate"], "", &[]);
    let told = text(&output.stdout);
    for line in [
        &format!("OK   gateway: Ibid answers at {}\n", gateway.url),
        "OK   gateway: ready\n",
        "FAIL query: it is not ready yet\n",
        "FAIL embedder: it does not answer\n",
        "OK   generate ollama/x: first token after 1.23 s\n",
    ] {
        assert!(told.contains(line), "{line}{told}");
    }
    assert!(!told.contains("cloud"), "{told}");
    let tried = gateway.asked().pop().unwrap();
    assert_eq!(tried.body, r#"{"id":"ollama/x"}"#);
}

#[test]
fn a_token_is_sent_and_a_missing_one_told_with_its_remedy() {
    let listing = json!({ "documents": [], "next": null, "total": 0 }).to_string();
    let answers = [("GET /api/v1/documents", listing.as_str())];
    let gateway = FakeGateway::start(Some("s3cret-of-the-gateway"), &answers);
    let output = run(&gateway, &["list"], "", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("set IBID_TOKEN"),
        "{output:?}"
    );

    for variable in ["IBID_TOKEN", "IBID_GATEWAY__TOKEN"] {
        let token = [(variable, "s3cret-of-the-gateway")];
        let output = run(&gateway, &["list", "--collection", "papers"], "", &token);
        assert!(output.status.success(), "{output:?}");
        let asked = gateway.asked().pop().unwrap();
        assert_eq!(
            asked.line,
            "GET /api/v1/documents?limit=500&collection=papers"
        );

        let output = run(&gateway, &["link"], "", &token);
        let expect = format!("{}/#token=s3cret-of-the-gateway\n", gateway.url);
        assert_eq!(text(&output.stdout), expect);
    }
}

#[test]
fn a_collection_without_documents_and_a_token_that_is_none_are_told_before_anything_is_asked() {
    let listing = json!({ "documents": [], "next": null, "total": 0 }).to_string();
    let answers = [("GET /api/v1/documents", listing.as_str())];
    let gateway = FakeGateway::start(None, &answers);
    for word in ["ask", "search"] {
        let output = run(&gateway, &[word, "--collection", "papres", "why?"], "", &[]);
        assert_eq!(output.status.code(), Some(1));
        let told = text(&output.stderr);
        assert!(
            told.contains("no document is in collection `papres`"),
            "{told}"
        );
        assert_eq!(
            gateway.asked().pop().unwrap().line.split('?').next(),
            Some("GET /api/v1/documents")
        );
    }
    let output = run(&gateway, &["list"], "", &[("IBID_TOKEN", "two\nlines")]);
    let told = text(&output.stderr);
    assert!(
        told.contains("a line break") && told.contains("IBID_TOKEN"),
        "{told}"
    );
}

#[test]
fn removing_much_asks_first_and_retrying_nothing_says_so() {
    let document = |id: u8, path: &str| {
        json!({
            "id": format!("{id:032x}"), "generation": 1, "collection": "default", "path": path,
            "name": path.rsplit('/').next(), "format": "text", "bytes": 1,
            "content": "0".repeat(64), "file_hash": "0".repeat(32), "state": "ready",
            "searchable": true, "pages": 1, "chunks": 1, "tokens": 1, "added_ms": 0
        })
    };
    let listing = json!({
        "documents": [document(1, "/papers/a.txt"), document(2, "/papers/b.txt")], "next": null,
        "total": 2
    });
    let receipt = json!({
        "document_id": format!("{:032x}", 1), "path": "/papers/a.txt", "chunks": 2,
        "stores": [{ "store": "catalog", "hidden_ms": 1, "purged_ms": 2 }]
    });
    let (first, second) = (
        format!("DELETE /api/v1/documents/{:032x}", 1),
        format!("DELETE /api/v1/documents/{:032x}", 2),
    );
    let answers = [
        ("GET /api/v1/documents", listing.to_string()),
        (&first, receipt.to_string()),
        (&second, receipt.to_string()),
        ("POST /api/v1/retry", r#"{"documents":[]}"#.to_owned()),
    ];
    let answers: Vec<(&str, &str)> = answers
        .iter()
        .map(|(line, body)| (*line, body.as_str()))
        .collect();
    let gateway = FakeGateway::start(None, &answers);
    let output = run(&gateway, &["rm", "/papers"], "", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("give `--yes` as well"),
        "{output:?}"
    );
    let output = run(&gateway, &["rm", "/papers", "--yes"], "", &[]);
    assert_eq!(
        text(&output.stdout),
        "removed 2 documents: 4 chunks, gone from every store\n"
    );
    let output = run(&gateway, &["rm", "a.txt"], "", &[]);
    assert_eq!(
        text(&output.stdout),
        "removed /papers/a.txt: 2 chunks, gone from every store\n"
    );
    let output = run(&gateway, &["retry", "--all"], "", &[]);
    assert!(
        text(&output.stdout).contains("nothing to try again"),
        "{output:?}"
    );
}

#[test]
fn a_gateway_elsewhere_is_asked_only_when_the_settings_name_it() {
    let folder = tempfile::tempdir().unwrap();
    let ask = |url: &str, allow: &str| {
        let mut command = command(folder.path(), &["list"]);
        command
            .env("IBID_URL", url)
            .env("IBID_NETWORK__ALLOW", allow);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        text(&output.stderr)
    };
    // It means this machine, but not by a name of loopback.
    let told = ask("http://0.0.0.0:1", "");
    assert!(told.contains("`IBID_URL` names `0.0.0.0`"), "{told}");
    let told = ask("http://0.0.0.0:1", "nats,0.0.0.0");
    assert_eq!(
        told,
        "error: the gateway does not answer at `http://0.0.0.0:1`\n\
         check that Ibid runs there, or correct IBID_URL\n"
    );
    assert!(
        Path::new(folder.path())
            .read_dir()
            .unwrap()
            .next()
            .is_none()
    );
}
