//! Answers through Ollama: a stand-in that keeps to its protocol, and a real one when
//! `OLLAMA_URL` names it.

use std::time::Duration;

use futures::StreamExt as _;
use ibid_tests::fake::{Ending, FakeModel, FakeOllama, Text, Told};
use query::{GenerationSettings, Generator as _, Ollama, Piece, Stop};
use serde_json::json;
use shared::contract::{ErrorBody, ErrorCode};
use shared::settings::Network;

use crate::models::{SECRET, hear, open_are, prompt, settings, shown};

const MODEL: &str = "llama3.2:latest";

fn start() -> (FakeOllama, Ollama) {
    start_with(settings())
}

fn start_with(settings: GenerationSettings) -> (FakeOllama, Ollama) {
    let fake = FakeOllama::start().unwrap();
    let settings = GenerationSettings {
        ollama_url: fake.url(),
        ..settings
    };
    let ollama = Ollama::new(&settings, &Network::default()).unwrap();
    (fake, ollama)
}

#[tokio::test]
async fn an_answer_streams_with_its_numbers() {
    let (fake, ollama) = start();
    let limits = ollama.check(MODEL).await.unwrap();
    assert_eq!(limits.window_tokens, Some(131_072));
    let heard = hear(&ollama, MODEL, prompt(50)).await.unwrap();
    assert_eq!(heard.text, "Refunds are paid within 30 days [1].");
    assert_eq!((heard.pieces, heard.stop), (7, Stop::Finished));
    assert_eq!(heard.usage.answer_tokens, Some(7));
    assert!(heard.usage.prompt_tokens > Some(50), "{:?}", heard.usage);
    // The stand-in says 50 ms per token.
    assert_eq!(heard.usage.tokens_per_second, Some(20.0));
    assert!(heard.notes.is_empty(), "{:?}", heard.notes);

    let body = &fake.bodies("/api/chat")[0];
    assert_eq!(body["model"], MODEL);
    assert_eq!(body["stream"], true);
    assert_eq!(body["messages"].as_array().unwrap().len(), 4);
    assert_eq!(body["messages"][2]["role"], "assistant");
    assert_eq!(body["options"]["num_predict"], 256);
    assert_eq!(body["options"]["temperature"], 0.2);
    assert_eq!(body["options"]["num_ctx"], 4_096);
    assert_eq!(body["options"].get("num_gpu"), None);
    assert_eq!(body.get("think"), None, "it does not think");
}

#[tokio::test]
async fn the_window_grows_with_the_prompt_and_does_not_shrink() {
    let (fake, ollama) = start_with(GenerationSettings {
        gpu_layers: 0,
        ..settings()
    });
    for words in [50, 3_000, 50] {
        hear(&ollama, MODEL, prompt(words)).await.unwrap();
    }
    let options: Vec<_> = fake
        .bodies("/api/chat")
        .iter()
        .map(|body| {
            (
                body["options"]["num_ctx"].clone(),
                body["options"]["num_gpu"].clone(),
            )
        })
        .collect();
    let expect = [4_096, 8_192, 8_192].map(|num_ctx| (json!(num_ctx), json!(0)));
    assert_eq!(options, expect, "a change makes Ollama load the model anew");
}

#[tokio::test]
async fn warming_loads_the_model_as_questions_need_it() {
    let (fake, ollama) = start();
    ollama.warm("llama3.2").await.unwrap();
    let mut question = prompt(1_000);
    question.tokens = 4_000;
    hear(&ollama, "llama3.2", question).await.unwrap();
    let bodies = fake.bodies("/api/chat");
    assert_eq!(bodies[0]["messages"], json!([]));
    assert_eq!(bodies[0]["options"]["num_ctx"], 8_192);
    assert_eq!(bodies[1]["options"]["num_ctx"], 8_192);
    let models = ollama.models().await.unwrap();
    assert_eq!(models[0].loaded, Some(true));
}

#[tokio::test]
async fn a_prompt_that_was_cut_is_told() {
    let (fake, ollama) = start();
    fake.script(|script| script.models[0].context_length = 2_048);
    let limits = ollama.check(MODEL).await.unwrap();
    assert_eq!(limits.window_tokens, Some(2_048));
    let heard = hear(&ollama, MODEL, prompt(3_000)).await.unwrap();
    assert_eq!(fake.bodies("/api/chat")[0]["options"]["num_ctx"], 2_048);
    assert_eq!(heard.usage.prompt_tokens, Some(2_048));
    assert!(
        heard.notes[0].contains("only 2048 tokens"),
        "{:?}",
        heard.notes
    );

    // An Ollama that has loaded the model with less than it was asked for.
    let (fake, ollama) = start();
    ollama.check(MODEL).await.unwrap();
    fake.script(|script| script.models[0].context_length = 1_024);
    let heard = hear(&ollama, MODEL, prompt(1_500)).await.unwrap();
    assert!(
        heard.notes[0].contains("only 1024 tokens"),
        "{:?}",
        heard.notes
    );
}

#[tokio::test]
async fn an_answer_at_its_limit_says_so() {
    let (_fake, ollama) = start();
    let mut prompt = prompt(10);
    prompt.answer_tokens = 3;
    let heard = hear(&ollama, MODEL, prompt).await.unwrap();
    assert_eq!(heard.text, "Refunds are paid");
    assert_eq!(heard.stop, Stop::AtLimit);
}

#[tokio::test]
async fn thinking_is_turned_off_where_a_model_thinks_and_never_shown() {
    let (fake, ollama) = start();
    fake.script(|script| script.models.push(FakeModel::thinking("qwen3:8b")));
    let heard = hear(&ollama, "qwen3:8b", prompt(10)).await.unwrap();
    assert_eq!(fake.bodies("/api/chat")[0]["think"], false);
    assert_eq!(heard.text, "Refunds are paid within 30 days [1].");

    // A version that does not tell what models can do thinks all the same.
    fake.script(|script| script.told = Told::Nowhere);
    ollama.check("qwen3:8b").await.unwrap();
    let heard = hear(&ollama, "qwen3:8b", prompt(10)).await.unwrap();
    assert_eq!(fake.bodies("/api/chat")[1].get("think"), None);
    assert_eq!(heard.text, "Refunds are paid within 30 days [1].");
}

#[tokio::test]
async fn a_model_that_is_missing_names_the_remedy() {
    let (fake, ollama) = start();
    for error in [
        ollama.check("mistral").await.unwrap_err(),
        ollama.warm("mistral").await.unwrap_err(),
        hear(&ollama, "mistral", prompt(1)).await.unwrap_err().1,
    ] {
        assert_eq!(ErrorBody::from(error.clone()).code, ErrorCode::NotFound);
        assert_eq!(
            shown(error),
            "model `mistral` not found; run: ollama pull mistral"
        );
    }
    // Removed after it had been checked.
    ollama.check(MODEL).await.unwrap();
    fake.script(|script| script.models.clear());
    let (_, error) = hear(&ollama, MODEL, prompt(1)).await.unwrap_err();
    assert!(shown(error).starts_with("model `llama3.2:latest` not found"));
}

#[tokio::test]
async fn an_ollama_that_does_not_run_names_the_remedy() {
    let (fake, ollama) = start();
    let url = fake.url();
    drop(fake);
    let expect = format!("could not reach Ollama at {url}; run: ollama serve");
    assert_eq!(shown(ollama.models().await.unwrap_err()), expect);
    assert_eq!(shown(ollama.default_model().await.unwrap_err()), expect);
    assert_eq!(shown(ollama.check(MODEL).await.unwrap_err()), expect);
    let (_, error) = hear(&ollama, MODEL, prompt(1)).await.unwrap_err();
    assert_eq!(shown(error), expect);
}

#[tokio::test]
async fn models_that_run_elsewhere_get_nothing() {
    let (fake, ollama) = start();
    fake.script(|script| {
        script.models = vec![
            FakeModel::remote("gpt-oss:120b-cloud", "https://ollama.com:443"),
            FakeModel::remote("mine:latest", "http://10.1.2.3:11434"),
        ];
    });
    for (model, host) in [
        ("gpt-oss:120b-cloud", "ollama.com"),
        ("deepseek-v3.1:671b-cloud", "ollama.com"),
        ("glm:Cloud", "ollama.com"),
        ("mine", "http://10.1.2.3:11434"),
    ] {
        for error in [
            ollama.check(model).await.unwrap_err(),
            ollama.warm(model).await.unwrap_err(),
            hear(&ollama, model, prompt(1)).await.unwrap_err().1,
        ] {
            let shown = shown(error);
            assert!(shown.contains(&format!("`{host}`")), "{model}: {shown}");
            assert!(shown.contains("nothing was sent"), "{shown}");
        }
    }
    let models = ollama.models().await.unwrap();
    assert_eq!(models.len(), 2);
    assert!(
        models
            .iter()
            .all(|model| model.refused.is_some() && !model.is_default)
    );
    let error = ollama.default_model().await.unwrap_err();
    assert_eq!(
        shown(error),
        "Ollama has no model that can answer; run: ollama pull llama3.2"
    );
    assert!(fake.bodies("/api/chat").is_empty());
    let asked: Vec<_> = fake.bodies("/api/show");
    let cloud = |name: &str| name.to_ascii_lowercase().ends_with("cloud");
    assert!(
        asked
            .iter()
            .all(|body| !cloud(body["model"].as_str().unwrap())),
        "Ollama passes even the name of a cloud model on: {asked:?}"
    );
}

#[tokio::test]
async fn a_model_that_became_remote_is_not_believed() {
    let (fake, ollama) = start();
    ollama.check(MODEL).await.unwrap();
    fake.script(|script| script.models[0].remote_host = Some("http://10.1.2.3".to_owned()));
    let (text, error) = hear(&ollama, MODEL, prompt(1)).await.unwrap_err();
    assert_eq!(text, "");
    assert!(shown(error).contains("it comes from another machine"));
    let error = ollama.check(MODEL).await.unwrap_err();
    assert!(shown(error).contains("10.1.2.3"));
}

#[tokio::test]
async fn models_are_listed_with_the_default_first() {
    for told in [Told::Nowhere, Told::InShow, Told::InTags] {
        let (fake, ollama) = start();
        fake.script(|script| {
            script.told = told;
            let mut older = FakeModel::chat("phi4:latest");
            older.modified_at = "2024-01-01T00:00:00Z".to_owned();
            older.context_length = 16_384;
            script.models.push(older);
        });
        let names = |models: &[shared::contract::GeneratorView]| -> Vec<String> {
            models.iter().map(|model| model.id.to_string()).collect()
        };
        let models = ollama.models().await.unwrap();
        assert_eq!(
            names(&models),
            ["ollama/llama3.2:latest", "ollama/phi4:latest"],
            "newest first, and nothing that makes vectors"
        );
        assert_eq!(models[0].window_tokens, Some(131_072));
        assert_eq!(models[0].bytes, Some(2_019_393_189));
        assert_eq!(models[1].window_tokens, Some(16_384));
        assert!(models[0].is_default && !models[1].is_default);
        assert_eq!(ollama.default_model().await.unwrap(), MODEL);

        // The one in memory comes before a newer one.
        fake.script(|script| script.loaded = vec!["phi4:latest".to_owned()]);
        let models = ollama.models().await.unwrap();
        assert_eq!(names(&models)[0], "ollama/phi4:latest");
        assert!(models[0].is_default && models[0].loaded == Some(true));
        assert_eq!(ollama.default_model().await.unwrap(), "phi4:latest");
    }
}

#[tokio::test]
async fn the_model_of_the_settings_is_the_default() {
    let (fake, ollama) = start_with(GenerationSettings {
        model: "Phi4".to_owned(),
        ..settings()
    });
    assert!(shown(ollama.default_model().await.unwrap_err()).contains("ollama pull Phi4"));
    fake.script(|script| {
        script.models.push(FakeModel::chat("phi4:latest"));
        script.loaded = vec![MODEL.to_owned()];
    });
    assert_eq!(ollama.default_model().await.unwrap(), "Phi4");
    let models = ollama.models().await.unwrap();
    let default = models.iter().find(|model| model.is_default).unwrap();
    assert_eq!(default.id.model, "phi4:latest");
}

#[tokio::test]
async fn a_model_for_vectors_writes_no_answers() {
    let (fake, ollama) = start();
    let error = ollama.check("all-minilm").await.unwrap_err();
    assert!(shown(error).contains("`all-minilm` does not write answers"));
    assert!(fake.bodies("/api/chat").is_empty());
}

#[tokio::test]
async fn what_goes_wrong_in_the_middle_ends_the_answer() {
    let (fake, ollama) = start();
    for (ending, expect) in [
        (
            Ending::ErrorAfter(3, format!("CUDA error\nat '{SECRET}'")),
            "Ollama answered: (its words repeat the prompt and are not shown)",
        ),
        (
            Ending::ErrorAfter(
                3,
                "an error was encountered while running the model".to_owned(),
            ),
            "Ollama answered: an error was encountered while running the model",
        ),
        (Ending::CutAfter(3), "the answer of Ollama broke off"),
        (Ending::StopAfter(3), "the answer of Ollama broke off"),
    ] {
        fake.script(|script| script.speech.ending = ending.clone());
        let (text, error) = hear(&ollama, MODEL, prompt(1)).await.unwrap_err();
        assert_eq!(text, "Refunds are paid", "{ending:?}");
        let shown = shown(error);
        assert!(shown.starts_with(expect), "{ending:?}: {shown}");
    }
}

#[tokio::test]
async fn an_answer_that_is_refused_says_why() {
    let (fake, ollama) = start();
    ollama.check(MODEL).await.unwrap();
    for (status, words, expect) in [
        (
            503,
            "server busy, please try again.  maximum pending requests exceeded",
            "Ollama has all the answers it can work on",
        ),
        (
            500,
            "model requires more system memory (8.4 GiB) than is available (3.1 GiB)",
            "Ollama answered: model requires more system memory (8.4 GiB)",
        ),
        (400, "", "Ollama answered: HTTP status 400"),
        (302, "", "Ollama answered: HTTP status 302"),
    ] {
        fake.script(|script| script.refuse("/api/chat", status, words, 1));
        let (_, error) = hear(&ollama, MODEL, prompt(1)).await.unwrap_err();
        let shown = shown(error);
        assert!(shown.starts_with(expect), "{status}: {shown}");
    }
}

#[tokio::test]
async fn silence_has_an_end() {
    let (fake, ollama) = start_with(GenerationSettings {
        first_token_secs: 1,
        token_pause_secs: 1,
        ..settings()
    });
    ollama.check(MODEL).await.unwrap();
    fake.script(|script| script.speech.ending = Ending::StallAfter(2));
    let (text, error) = hear(&ollama, MODEL, prompt(1)).await.unwrap_err();
    assert_eq!(text, "Refunds are");
    assert!(shown(error).contains("silent for 1 seconds"));
    open_are(0, || fake.open()).await;

    fake.script(|script| script.speech.first_token = Duration::from_hours(1));
    let (text, error) = hear(&ollama, MODEL, prompt(1)).await.unwrap_err();
    assert_eq!(text, "");
    assert!(shown(error).contains("`generation.first_token_secs`"));
    let error = ollama.warm(MODEL).await.unwrap_err();
    assert!(shown(error).contains("`generation.first_token_secs`"));
    open_are(0, || fake.open()).await;
}

#[tokio::test]
async fn dropping_the_answer_ends_the_work() {
    let (fake, ollama) = start();
    fake.script(|script| script.speech.ending = Ending::StallAfter(2));
    let mut pieces = ollama.generate(MODEL, prompt(1)).await.unwrap();
    let first = pieces.next().await.unwrap().unwrap();
    assert_eq!(first, Piece::Text("Refunds".to_owned()));
    open_are(1, || fake.open()).await;
    drop(pieces);
    open_are(0, || fake.open()).await;
}

#[tokio::test]
async fn two_answers_stream_side_by_side() {
    let (fake, ollama) = start();
    fake.script(|script| {
        script.speech.text = Text::of(|body| format!("for {}", body["model"]));
        script.models.push(FakeModel::chat("phi4:latest"));
    });
    let (a, b) = tokio::join!(
        hear(&ollama, MODEL, prompt(1)),
        hear(&ollama, "phi4:latest", prompt(1))
    );
    assert_eq!(a.unwrap().text, "for \"llama3.2:latest\"");
    assert_eq!(b.unwrap().text, "for \"phi4:latest\"");
}

#[test]
fn an_address_elsewhere_is_refused() {
    let settings = GenerationSettings {
        ollama_url: "http://ollama.example:11434".to_owned(),
        ..settings()
    };
    let error = Ollama::new(&settings, &Network::default()).err().unwrap();
    assert!(
        error.to_string().contains("add `ollama.example`"),
        "{error}"
    );
}

/// A real Ollama with a model, when `OLLAMA_URL` says where.
async fn live() -> Option<(Ollama, String)> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a switch of the tests, no setting of the product"
    )]
    let Ok(url) = std::env::var("OLLAMA_URL") else {
        println!("skipped: OLLAMA_URL is not set");
        return None;
    };
    let settings = GenerationSettings {
        ollama_url: url,
        ..GenerationSettings::default()
    };
    let ollama = Ollama::new(&settings, &Network::default()).unwrap();
    let model = ollama.default_model().await.unwrap();
    Some((ollama, model))
}

#[tokio::test]
async fn live_models_are_listed() {
    let Some((ollama, model)) = live().await else {
        return;
    };
    let models = ollama.models().await.unwrap();
    let default = models.iter().find(|view| view.is_default).unwrap();
    assert_eq!(default.id.model, model);
    assert!(default.window_tokens > Some(0), "{default:?}");
    assert!(ollama.check(&model).await.unwrap().window_tokens > Some(0));
    let error = ollama.check("ibid-has-no-such-model").await.unwrap_err();
    assert!(shown(error).contains("ollama pull"));
}

#[tokio::test]
async fn a_live_model_answers() {
    let Some((ollama, model)) = live().await else {
        return;
    };
    ollama.warm(&model).await.unwrap();
    let heard = hear(&ollama, &model, prompt(20)).await.unwrap();
    assert!(!heard.text.trim().is_empty());
    assert!(heard.usage.prompt_tokens > Some(20), "{:?}", heard.usage);
    assert!(
        heard.usage.tokens_per_second > Some(0.0),
        "{:?}",
        heard.usage
    );
    assert!(heard.notes.is_empty(), "{:?}", heard.notes);
}

#[tokio::test]
async fn a_live_answer_can_be_cancelled() {
    let Some((ollama, model)) = live().await else {
        return;
    };
    let mut pieces = ollama.generate(&model, prompt(20)).await.unwrap();
    assert!(matches!(pieces.next().await, Some(Ok(Piece::Text(_)))));
    drop(pieces);
    // It is free for the next question.
    hear(&ollama, &model, prompt(20)).await.unwrap();
}
