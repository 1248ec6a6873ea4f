//! Texts that the server does not take as they are.

use std::sync::Arc;

use embedder::engine::Engine as _;
use embedder::stage::EmbedStage;
use ibid_tests::fake::{FakeOllama, FakeOpenAi, vector};
use shared::bus::Failure;
use shared::contract::ErrorCode;

use crate::bus::made;
use crate::support::{Case, same};

#[tokio::test]
async fn a_text_longer_than_the_model_reads_is_embedded_without_its_end() {
    let server = FakeOllama::start().unwrap();
    let case = Case::ollama(&server.url(), "all-minilm");
    case.ready().await;
    // The stand-in's model reads 512 tokens and counts a word as one or more.
    let long = "word ".repeat(2000);
    let texts = vec!["short".to_owned(), long.clone(), "also short".to_owned()];
    let vectors = case.embed(texts).await.unwrap();
    assert!(same(&vectors[0], &vector("short", 384)));
    assert!(same(&vectors[2], &vector("also short", 384)));
    let part = [2, 4, 8, 16, 32]
        .iter()
        .filter_map(|parts| long.get(..long.len() / parts))
        .find(|part| same(&vectors[1], &vector(part, 384)));
    assert!(part.is_some(), "it is the vector of a half of a half");
    case.notes(&["were embedded without their end; lower `model.window_tokens`"])
        .await;
    let question = case.engine.embed_question(long).await;
    assert!(question.is_ok());
}

#[tokio::test]
async fn a_text_that_is_refused_fails_its_own_message() {
    let server = FakeOpenAi::start().unwrap();
    let case = Case::openai(&server.url(), "text-embedding-all-minilm");
    case.ready().await;
    let stage = EmbedStage::new(Arc::clone(&case.engine) as Arc<_>);
    let message = made(case.engine.made_for(), &["one"]);
    server.script(|script| script.refuse("/v1/embeddings", 400, "I quote `one`", 1));
    let Err(Failure::Reject(error)) = stage.embed(message.clone()).await else {
        panic!("it passed");
    };
    assert_eq!(error.code, ErrorCode::BadRequest);
    assert!(
        error.message.ends_with("refused a text with status 400"),
        "{error}"
    );
    assert_eq!(stage.embed(message.clone()).await.unwrap().vectors.len(), 1);

    // Too long at any length: there is nothing left to cut.
    server.script(|script| script.refuse("/v1/embeddings", 400, "maximum context length", 9));
    let Err(Failure::Reject(error)) = stage.embed(message.clone()).await else {
        panic!("it passed");
    };
    assert_eq!(error.remedy, "lower `model.window_tokens`");
    server.script(|script| script.refusals.clear());
    server.script(|script| script.refuse("/v1/embeddings", 502, "bad gateway", 1));
    assert!(matches!(
        stage.embed(message).await,
        Err(Failure::Retry { .. })
    ));
}
