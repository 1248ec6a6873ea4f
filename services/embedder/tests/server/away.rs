//! A server that is away, comes back, fails, or is slow.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use embedder::engine::{Engine as _, ServerError, Waits};
use embedder::error::EncodeError;
use ibid_tests::fake::{FakeModel, FakeOllama, FakeOpenAi, vector};
use ibid_tests::harness::wait_for;
use serde_json::{Value, json};
use shared::contract::{ErrorBody, ErrorCode};
use shared::settings::ModelProvider;
use tokio::sync::Semaphore;

use crate::raw::{self, Answer};
use crate::support::{Case, LIMIT, WAITS, free_port, model, same};

#[tokio::test]
async fn chunks_wait_for_a_server_that_is_away_and_questions_do_not() {
    let port = free_port();
    let url = format!("http://127.0.0.1:{port}");
    let case = Case::ollama(&url, "all-minilm");
    let remedy = format!("could not reach Ollama at {url}; run: ollama serve");
    case.notes(&[&remedy]).await;
    let chunks = case.embedding(vec!["a".to_owned()]);
    let asked = Instant::now();
    let question = case.engine.embed_question("q".to_owned()).await;
    assert!(
        asked.elapsed() < Duration::from_secs(2),
        "{:?}",
        asked.elapsed()
    );
    let Err(EncodeError::Server(error)) = question else {
        panic!("{question:?}");
    };
    let told = ErrorBody::from(error);
    assert_eq!(
        (told.code, told.to_string()),
        (ErrorCode::Unavailable, remedy)
    );
    assert!(!chunks.is_finished());

    let server = FakeOllama::start_at(port).unwrap();
    let vectors = chunks.await.unwrap().unwrap();
    assert!(same(&vectors[0], &vector("a", 384)));
    case.notes(&[]).await;
    case.engine.embed_question("q".to_owned()).await.unwrap();

    drop(server);
    let question = case.engine.embed_question("q".to_owned()).await;
    assert!(question.is_err());
    let _back = FakeOllama::start_at(port).unwrap();
    // A question has the server looked at at once, so it need not wait for the next look.
    wait_for("the server to be found", LIMIT, async || {
        case.engine.embed_question("q".to_owned()).await
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_model_that_is_not_there_is_asked_for_until_it_is() {
    let server = FakeOllama::start().unwrap();
    let case = Case::ollama(&server.url(), "bge-m3");
    case.notes(&["model `bge-m3` not found; run: ollama pull bge-m3"])
        .await;
    server.script(|script| {
        script
            .models
            .push(FakeModel::embedding("bge-m3:latest", 1024));
    });
    assert_eq!(case.ready().await.dimension, 1024);

    let case = Case::ollama(&server.url(), "llama3.2");
    case.notes(&["model `llama3.2` makes no vectors; set `model.name` to an embedding model"])
        .await;

    let server = FakeOpenAi::start().unwrap();
    let case = Case::openai(&server.url(), "gone");
    case.notes(&["model `gone` not found; load it in the server"])
        .await;
}

#[tokio::test]
async fn a_busy_server_is_waited_for() {
    let server = FakeOllama::start().unwrap();
    let case = Case::ollama(&server.url(), "all-minilm");
    case.ready().await;
    server.script(|script| script.refuse("/api/embed", 503, "server busy", 3));
    let vectors = case.embed(vec!["a".to_owned()]).await;
    assert_eq!(vectors.unwrap().len(), 1);
}

#[tokio::test]
async fn a_server_that_fails_is_looked_at_again() {
    let server = FakeOllama::start().unwrap();
    let case = Case::ollama(&server.url(), "all-minilm");
    case.ready().await;
    // What the server says of a batch may quote the batch.
    server.script(|script| script.refuse("/api/embed", 500, "cannot embed `secret`", 1));
    let error = case.embed(vec!["secret".to_owned()]).await;
    let error = error.unwrap_err().to_string();
    assert_eq!(error, "Ollama answered with status 500");
    case.ready().await;
    assert!(case.embed(vec!["a".to_owned()]).await.is_ok());
}

#[tokio::test]
async fn a_drain_ends_the_waiting() {
    let case = Case::ollama(&format!("http://127.0.0.1:{}", free_port()), "all-minilm");
    let chunks = case.embedding(vec!["a".to_owned()]);
    case.notes(&["could not reach"]).await;
    case.drain.begin();
    let outcome = tokio::time::timeout(LIMIT, chunks).await.unwrap().unwrap();
    assert!(matches!(outcome, Err(EncodeError::Draining)), "{outcome:?}");
}

/// Vectors of two dimensions for a body's texts.
fn two(body: &Value) -> Vec<u8> {
    let texts = body["input"].as_array().map_or(0, Vec::len);
    raw::json(&json!({"embeddings": vec![[3.0, 4.0]; texts]}))
}

fn has(body: &Value, part: &str) -> bool {
    body["input"].to_string().contains(part)
}

#[tokio::test]
async fn an_answer_that_breaks_off_or_never_comes_is_an_error() {
    let ill = Arc::new(AtomicBool::new(true));
    let healthy = Arc::clone(&ill);
    let answer: Answer = Arc::new(move |path, body| {
        let ill = ill.load(Ordering::SeqCst);
        Box::pin(async move {
            match path.as_str() {
                "/api/show" => raw::json(&json!({})),
                _ if ill && has(&body, "silence") => std::future::pending().await,
                _ if ill && has(&body, "break") => {
                    let mut whole = two(&body);
                    whole.truncate(whole.len() - 5);
                    whole
                }
                _ => two(&body),
            }
        })
    });
    let url = format!("http://{}", raw::serve(answer).await);
    let waits = Waits {
        chunks: Duration::from_millis(200),
        question: Duration::from_millis(200),
        ..WAITS
    };
    let case = Case::start(&model(ModelProvider::Ollama, "m", &url), waits);
    case.ready().await;
    let broken = case.embed(vec!["break".to_owned()]).await;
    let is_broken = matches!(broken, Err(EncodeError::Server(ServerError::Broken { .. })));
    assert!(is_broken, "{broken:?}");
    let silent = case.embed(vec!["silence".to_owned()]).await;
    assert!(
        silent
            .unwrap_err()
            .to_string()
            .contains("silent for 0.2 seconds")
    );
    case.ready().await;
    let silent = case.engine.embed_question("silence".to_owned()).await;
    assert!(
        silent
            .unwrap_err()
            .to_string()
            .contains("silent for 0.2 seconds")
    );
    healthy.store(false, Ordering::SeqCst);
    let vectors = case.embed(vec!["break".to_owned()]).await.unwrap();
    assert!(same(&vectors[0], &[0.6, 0.8]), "brought to unit length");
}

#[tokio::test]
async fn a_question_does_not_wait_for_chunks_of_which_one_batch_is_in_flight() {
    let (held, most) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
    let flying = Arc::new(AtomicUsize::new(0));
    let (gate, peak, now) = (Arc::clone(&held), Arc::clone(&most), Arc::clone(&flying));
    let answer: Answer = Arc::new(move |path, body| {
        let (gate, peak, now) = (Arc::clone(&gate), Arc::clone(&peak), Arc::clone(&now));
        Box::pin(async move {
            if path == "/api/show" {
                return raw::json(&json!({}));
            }
            if has(&body, "chunk") {
                let flying = now.fetch_add(1, Ordering::SeqCst) + 1;
                peak.fetch_max(flying, Ordering::SeqCst);
                gate.acquire().await.unwrap().forget();
                now.fetch_sub(1, Ordering::SeqCst);
            }
            two(&body)
        })
    });
    let url = format!("http://{}", raw::serve(answer).await);
    let case = Case::ollama(&url, "m");
    case.ready().await;
    let callers: Vec<_> = (0..4)
        .map(|_| case.embedding(vec!["chunk".to_owned(); 40]))
        .collect();
    wait_for("a batch in flight", LIMIT, async || {
        let flying = flying.load(Ordering::SeqCst);
        (flying == 1).then_some(()).ok_or(flying)
    })
    .await
    .unwrap();
    let asked = tokio::time::timeout(LIMIT, case.engine.embed_question("q".to_owned()));
    assert!(same(&asked.await.unwrap().unwrap(), &[0.6, 0.8]));
    assert_eq!(flying.load(Ordering::SeqCst), 1, "the batch is still held");
    held.add_permits(1000);
    for caller in callers {
        assert_eq!(caller.await.unwrap().unwrap().len(), 40);
    }
    assert_eq!(most.load(Ordering::SeqCst), 1);
}
