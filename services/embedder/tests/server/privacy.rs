//! Text goes only where it may.
use embedder::engine::{Engine as _, Remote};
use ibid_tests::fake::{FakeModel, FakeOllama, FakeOpenAi};
use shared::service::{Drain, HealthBoard};
use shared::settings::{Model, ModelProvider, Network};

use crate::support::{Case, WAITS, model};

const NOT_SENT: &str = "nothing was sent; set `model.name` to a model that runs on this machine";

fn paths(server: &FakeOllama) -> Vec<String> {
    server.asked().into_iter().map(|asked| asked.path).collect()
}

#[tokio::test]
async fn nothing_is_sent_to_a_model_of_another_machine() {
    let server = FakeOllama::start().unwrap();
    let mut remote = FakeModel::remote("mine:latest", "https://ollama.com:443");
    remote.dimension = 384;
    server.script(|script| script.models.push(remote));
    let case = Case::ollama(&server.url(), "mine");
    case.notes(&[NOT_SENT]).await;
    let question = case.engine.embed_question("secret".to_owned()).await;
    let error = question.unwrap_err().to_string();
    assert!(error.contains("(`https://ollama.com:443`)"), "{error}");
    assert!(paths(&server).iter().all(|path| path == "/api/show"));
}

#[tokio::test]
async fn a_cloud_model_is_known_by_its_name() {
    let server = FakeOllama::start().unwrap();
    let case = Case::ollama(&server.url(), "embed:1b-cloud");
    case.notes(&[NOT_SENT]).await;
    assert!(paths(&server).is_empty());
    let openai = FakeOpenAi::start().unwrap();
    let case = Case::openai(&openai.url(), "embed:cloud");
    case.notes(&[NOT_SENT]).await;
    assert!(openai.asked().is_empty());
}

#[tokio::test]
async fn a_model_that_moves_away_gets_no_more_text() {
    let server = FakeOllama::start().unwrap();
    let case = Case::ollama(&server.url(), "all-minilm");
    case.ready().await;
    case.embed(vec!["a".to_owned()]).await.unwrap();
    server.script(|script| {
        for model in &mut script.models {
            model.remote_host = Some("https://ollama.com:443".to_owned());
        }
    });
    case.notes(&[NOT_SENT]).await;
    let before = server.bodies("/api/embed").len();
    let chunks = case.embedding(vec!["b".to_owned()]);
    assert!(case.engine.embed_question("q".to_owned()).await.is_err());
    assert_eq!(server.bodies("/api/embed").len(), before);
    server.script(|script| {
        for model in &mut script.models {
            model.remote_host = None;
        }
    });
    assert_eq!(chunks.await.unwrap().unwrap().len(), 1);
}

#[test]
fn an_address_elsewhere_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), b"{}").unwrap();
    let check = |url: &str, expect: &str| {
        let named = Model {
            tokenizer: folder.path().to_str().unwrap().to_owned(),
            ..model(ModelProvider::OpenAi, "m", url)
        };
        let (drain, health) = (Drain::new(), HealthBoard::new("embedder"));
        let started = Remote::start(&named, &Network::default(), WAITS, &drain, &health);
        let error = format!("{:#}", started.err().unwrap());
        assert!(error.contains(expect), "{url}: {error}");
    };
    check("http://10.0.0.1:1/v1", "add `10.0.0.1` to `network.allow`");
    check("https://localhost/v1", "write it as `http://host:port`");
    check("", "`url` must be the server's address");
}
