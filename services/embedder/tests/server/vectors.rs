//! What comes back: the right vectors in the right order, and nothing that is none.

use embedder::engine::{Engine as _, ServerError};
use embedder::error::EncodeError;
use ibid_tests::fake::{FakeModel, FakeOllama, FakeOpenAi, Refusal, vector};
use serde_json::{Value, json};
use shared::contract::Sha256Hex;
use shared::settings::{Model, ModelProvider};

use crate::support::{Case, TOKENIZER, WAITS, model, same, texts};

/// Texts in the order the server was asked for them.
fn inputs(bodies: &[Value]) -> Vec<Vec<&str>> {
    let inputs = bodies.iter().map(|body| body["input"].as_array().unwrap());
    inputs
        .map(|texts| texts.iter().filter_map(Value::as_str).collect())
        .collect()
}

#[tokio::test]
async fn ollama_gives_each_text_its_own_vector() {
    let server = FakeOllama::start().unwrap();
    server.script(|script| {
        script
            .models
            .push(FakeModel::embedding("nomic:latest", 768));
    });
    let named = Model {
        document_prefix: "search_document: ".to_owned(),
        query_prefix: "search_query: ".to_owned(),
        ..model(ModelProvider::Ollama, "nomic", &server.url())
    };
    let case = Case::start(&named, WAITS);
    let found = case.ready().await;
    assert_eq!((found.dimension, found.window), (768, 256));
    assert!(found.model.as_str().starts_with("ollama-nomic-"));
    assert_eq!(found.tokenizer_hash, Sha256Hex::of(TOKENIZER).as_str());

    let texts = texts();
    let probes = server.bodies("/api/embed").len();
    let vectors = case.embed(texts.clone()).await.unwrap();
    assert_eq!(vectors.len(), texts.len());
    for (text, found) in texts.iter().zip(&vectors) {
        let expect = vector(&format!("search_document: {text}"), 768);
        assert!(same(found, &expect), "`{text}`");
    }
    let bodies = server.bodies("/api/embed").split_off(probes);
    let batches = inputs(&bodies);
    assert_eq!(batches.iter().map(Vec::len).sum::<usize>(), texts.len());
    assert!(batches.iter().all(|batch| batch.len() <= 32));
    assert!(bodies.iter().all(|body| body["truncate"] == json!(false)));

    let asked = case.engine.embed_question("why?".to_owned()).await.unwrap();
    assert!(same(&asked, &vector("search_query: why?", 768)));
    assert!(case.health.read().notes.is_empty());
    assert!(case.embed(Vec::new()).await.unwrap().is_empty());
}

#[tokio::test]
async fn openai_vectors_are_told_apart_by_index_and_the_key_goes_along() {
    let server = FakeOpenAi::start().unwrap();
    server.script(|script| {
        script.reversed = true;
        script.key = Some("sesame".to_owned());
    });
    let name = "text-embedding-all-minilm";
    let mut named = model(ModelProvider::OpenAi, name, &server.url());
    let case = Case::start(&named, WAITS);
    case.notes(&["does not accept the key; set `model.key`"])
        .await;

    named.key = "sesame".to_owned();
    let case = Case::start(&named, WAITS);
    assert_eq!(case.ready().await.dimension, 384);
    let texts = texts();
    let vectors = case.embed(texts.clone()).await.unwrap();
    for (text, found) in texts.iter().zip(&vectors) {
        assert!(same(found, &vector(text, 384)), "`{text}`");
    }
    // The first case goes on asking, without the key.
    let asked = server.asked().into_iter();
    let last = asked.rev().find(|asked| asked.authorization.is_some());
    let last = last.unwrap();
    assert_eq!(last.authorization.as_deref(), Some("Bearer sesame"));
    assert_eq!(last.body["encoding_format"], json!("float"));
}

#[tokio::test]
async fn what_is_no_vector_is_refused_and_the_next_batch_is_not() {
    let server = FakeOllama::start().unwrap();
    let case = Case::ollama(&server.url(), "all-minilm");
    case.ready().await;
    let check = async |embeddings: Value, expect: &str| {
        server.script(|script| {
            script.refusals.push(Refusal {
                path: "/api/embed".to_owned(),
                status: 200,
                body: json!({"embeddings": embeddings}),
                times: 1,
            });
        });
        let texts = vec!["one".to_owned()];
        let error = case.embed(texts.clone()).await.unwrap_err();
        let strange = matches!(error, EncodeError::Server(ServerError::Strange { .. }));
        assert!(strange && error.to_string().contains(expect), "{error}");
        assert_eq!(case.embed(texts).await.unwrap().len(), 1);
    };
    check(json!([]), "0 vectors where 1 were asked for").await;
    check(json!([[1.0], [1.0]]), "2 vectors where 1 were asked for").await;
    check(json!([[]]), "unlike length").await;
    check(json!([[0.0, 0.0]]), "no direction").await;
    check(json!([[1e300, 1.0]]), "no direction").await;
    check(json!([[null, 1.0]]), "null").await;
    check(json!("none"), "not understood").await;
}

#[tokio::test]
async fn vectors_of_unlike_length_in_one_answer_are_refused() {
    let server = FakeOllama::start().unwrap();
    let case = Case::ollama(&server.url(), "all-minilm");
    case.ready().await;
    server.script(|script| {
        script.refusals.push(Refusal {
            path: "/api/embed".to_owned(),
            status: 200,
            body: json!({"embeddings": [[1.0, 0.0], [1.0]]}),
            times: 1,
        });
    });
    let texts = vec!["a".to_owned(), "b".to_owned()];
    let error = case.embed(texts).await.unwrap_err();
    assert!(error.to_string().contains("unlike length"), "{error}");
}

#[tokio::test]
async fn vectors_of_another_length_than_before_wait_for_the_model_to_come_back() {
    let server = FakeOpenAi::start().unwrap();
    let case = Case::openai(&server.url(), "text-embedding-all-minilm");
    case.ready().await;
    server.script(|script| script.dimension = 512);
    let chunks = case.embedding(vec!["a".to_owned()]);
    case.notes(&["gives vectors of 512 dimensions where it gave 384; put the earlier model back"])
        .await;
    let refused = case
        .engine
        .embed_question("q".to_owned())
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("512 dimensions"), "{refused}");
    server.script(|script| script.dimension = 384);
    let vectors = chunks.await.unwrap().unwrap();
    assert!(same(&vectors[0], &vector("a", 384)));
    case.notes(&[]).await;
}

#[tokio::test]
async fn vectors_too_long_for_the_bus_are_refused() {
    let server = FakeOpenAi::start().unwrap();
    server.script(|script| script.dimension = 9000);
    let case = Case::openai(&server.url(), "text-embedding-all-minilm");
    case.notes(&["9000 dimensions but 8192 are the most; set `model.name` to a smaller model"])
        .await;
}
