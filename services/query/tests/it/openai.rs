//! Answers through a server that speaks OpenAI's protocol.

use std::time::Duration;

use futures::StreamExt as _;
use ibid_tests::fake::{Ending, FakeOpenAi, Refusal, Text};
use query::{GenerationSettings, Generator as _, OpenAi, Piece, Stop};
use serde_json::json;
use shared::settings::Network;

use crate::models::{SECRET, hear, open_are, prompt, settings, shown};

const MODEL: &str = "phi-4-mini";
const CHAT: &str = "/v1/chat/completions";

fn start() -> (FakeOpenAi, OpenAi) {
    start_with(settings())
}

fn start_with(settings: GenerationSettings) -> (FakeOpenAi, OpenAi) {
    let fake = FakeOpenAi::start().unwrap();
    let settings = GenerationSettings {
        openai_url: fake.url(),
        ..settings
    };
    let openai = OpenAi::new(&settings, &Network::default()).unwrap();
    (fake, openai)
}

#[tokio::test]
async fn an_answer_streams_with_its_numbers() {
    let (fake, openai) = start();
    assert_eq!(openai.check(MODEL).await.unwrap().window_tokens, None);
    fake.script(|script| script.speech.per_token = Duration::from_millis(5));
    let heard = hear(&openai, MODEL, prompt(50)).await.unwrap();
    assert_eq!(heard.text, "Refunds are paid within 30 days [1].");
    assert_eq!((heard.pieces, heard.stop), (7, Stop::Finished));
    assert_eq!(heard.usage.answer_tokens, Some(7));
    assert!(heard.usage.prompt_tokens > Some(50), "{:?}", heard.usage);
    let speed = heard.usage.tokens_per_second.unwrap();
    assert!(speed > 0.0 && speed <= 200.0, "{speed}");
    assert!(heard.notes.is_empty(), "{:?}", heard.notes);

    let body = &fake.bodies(CHAT)[0];
    assert_eq!(body["model"], MODEL);
    assert_eq!(body["stream"], true);
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    assert_eq!(body["max_tokens"], 256);
    assert_eq!(body["messages"][0]["role"], "system");
    let asked = fake.asked();
    assert!(asked.iter().all(|asked| asked.authorization.is_none()));
}

#[tokio::test]
async fn a_server_that_does_not_know_the_numbers_is_asked_without() {
    let (fake, openai) = start();
    fake.script(|script| script.knows_usage = false);
    for _question in 0..2 {
        let heard = hear(&openai, MODEL, prompt(1)).await.unwrap();
        assert_eq!(heard.text, "Refunds are paid within 30 days [1].");
        assert_eq!(heard.usage.answer_tokens, None);
    }
    let asked: Vec<bool> = fake
        .bodies(CHAT)
        .iter()
        .map(|body| body.get("stream_options").is_some())
        .collect();
    assert_eq!(asked, [true, false, false], "it is asked for them once");
}

#[tokio::test]
async fn odd_streams_are_understood() {
    let (fake, openai) = start();
    fake.script(|script| {
        script.says_done = false;
        script.knows_usage = false;
        script.prelude = vec![
            ": keep-alive\n\n".to_owned(),
            "event: ping\ndata: {}\n\n".to_owned(),
            "data: {\"choices\":[]}\n\n".to_owned(),
            "data: {\"choices\":null,\"usage\":null}\n\n".to_owned(),
            "data: {\"choices\":[{\"delta\":{\"content\":null,\"role\":\"assistant\"}}]}\r\n\r\n"
                .to_owned(),
            "data: {\"choices\":[{\"delta\":{\"content\":\"So: \"},\"message\":{\"content\":\
             \"So: \"},\"finish_reason\":\"\"}]}\n\n"
                .to_owned(),
        ];
    });
    let heard = hear(&openai, MODEL, prompt(1)).await.unwrap();
    assert_eq!(heard.text, "So: Refunds are paid within 30 days [1].");
    assert_eq!(heard.stop, Stop::Finished);
}

#[tokio::test]
async fn an_answer_that_comes_at_once_is_understood() {
    let (fake, openai) = start();
    let whole = json!({
        "choices": [{
            "message": {"role": "assistant", "content": "All at once [1]."},
            "finish_reason": "length",
        }],
        "usage": {"prompt_tokens": 90, "completion_tokens": 5},
    });
    fake.script(|script| {
        script.refusals = vec![Refusal {
            path: CHAT.to_owned(),
            status: 200,
            body: whole,
            times: 1,
        }];
    });
    let heard = hear(&openai, MODEL, prompt(1)).await.unwrap();
    assert_eq!(heard.text, "All at once [1].");
    assert_eq!(heard.stop, Stop::AtLimit);
    assert_eq!(heard.usage.prompt_tokens, Some(90));
}

#[tokio::test]
async fn an_answer_at_its_limit_says_so() {
    let (_fake, openai) = start();
    let mut prompt = prompt(1);
    prompt.answer_tokens = 3;
    let heard = hear(&openai, MODEL, prompt).await.unwrap();
    assert_eq!(heard.text, "Refunds are paid");
    assert_eq!(heard.stop, Stop::AtLimit);
}

#[tokio::test]
async fn models_are_listed_with_their_windows() {
    let (fake, openai) = start();
    fake.script(|script| {
        script.models = vec![
            json!({"id": "text-embedding-nomic"}),
            json!({"id": "gpt-oss:120b-cloud", "owned_by": "library"}),
            json!({"id": "qwen", "max_model_len": 32_768}),
            json!({"id": "phi", "meta": {"n_ctx_train": 16_384}}),
        ];
    });
    let models = openai.models().await.unwrap();
    let shown: Vec<_> = models
        .iter()
        .map(|model| {
            let id = model.id.to_string();
            (
                id,
                model.window_tokens,
                model.is_default,
                model.refused.is_some(),
            )
        })
        .collect();
    let expect = [
        ("openai/gpt-oss:120b-cloud", None, false, true),
        ("openai/qwen", Some(32_768), true, false),
        ("openai/phi", Some(16_384), false, false),
    ]
    .map(|(id, window, default, refused)| (id.to_owned(), window, default, refused));
    assert_eq!(shown, expect);
    assert_eq!(openai.default_model().await.unwrap(), "qwen");
    assert_eq!(
        openai.check("phi").await.unwrap().window_tokens,
        Some(16_384)
    );
}

#[tokio::test]
async fn an_ollama_behind_it_may_not_pass_documents_on() {
    let (fake, openai) = start();
    for model in ["gpt-oss:120b-cloud", "kimi:cloud"] {
        for error in [
            openai.check(model).await.unwrap_err(),
            openai.warm(model).await.unwrap_err(),
            hear(&openai, model, prompt(1)).await.unwrap_err().1,
        ] {
            assert!(shown(error).contains("nothing was sent"));
        }
    }
    fake.script(|script| {
        script.models = vec![json!({"id": "mine:latest"})];
        script.refusals = vec![Refusal {
            path: "/api/show".to_owned(),
            status: 200,
            body: json!({"remote_host": "http://10.1.2.3", "remote_model": "x"}),
            times: usize::MAX,
        }];
    });
    let error = openai.check("mine:latest").await.unwrap_err();
    assert!(shown(error).contains("`http://10.1.2.3`"));
    assert!(openai.models().await.unwrap()[0].refused.is_some());
    let error = openai.default_model().await.unwrap_err();
    assert!(shown(error).contains("has no model that can answer"));
    assert!(fake.bodies(CHAT).is_empty());
}

#[tokio::test]
async fn a_server_without_a_list_answers_with_the_named_model() {
    let (fake, openai) = start();
    fake.script(|script| {
        script.refusals = vec![Refusal {
            path: "/v1/models".to_owned(),
            status: 404,
            body: json!({"detail": "Not Found"}),
            times: usize::MAX,
        }];
    });
    assert_eq!(openai.check(MODEL).await.unwrap().window_tokens, None);
    let heard = hear(&openai, MODEL, prompt(1)).await.unwrap();
    assert!(!heard.text.is_empty());
    let error = openai.default_model().await.unwrap_err();
    assert!(shown(error).contains("`generation.model`"));
}

#[tokio::test]
async fn a_model_that_is_missing_names_those_there_are() {
    let (fake, openai) = start();
    let error = openai.check("mistral").await.unwrap_err();
    let text = shown(error);
    assert!(text.contains("`mistral` not found"), "{text}");
    assert!(text.contains("`phi-4-mini`"), "{text}");
    let (_, error) = hear(&openai, "mistral", prompt(1)).await.unwrap_err();
    assert!(shown(error).contains("`mistral` not found"));
    fake.script(|script| script.models.clear());
    let error = openai.default_model().await.unwrap_err();
    assert!(shown(error).contains("load a model in it"));
}

#[tokio::test]
async fn the_key_is_sent_and_asked_for() {
    let (fake, openai) = start_with(GenerationSettings {
        openai_key: "secret-key".to_owned(),
        ..settings()
    });
    fake.script(|script| script.key = Some("secret-key".to_owned()));
    assert!(hear(&openai, MODEL, prompt(1)).await.is_ok());
    fake.script(|script| script.key = Some("another".to_owned()));
    for error in [
        openai.models().await.unwrap_err(),
        hear(&openai, MODEL, prompt(1)).await.unwrap_err().1,
    ] {
        let shown = shown(error);
        assert!(shown.contains("`generation.openai_key`"), "{shown}");
        assert!(!shown.contains("secret-key"), "{shown}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_run_names_the_remedy() {
    let (fake, openai) = start();
    let url = fake.url();
    drop(fake);
    let expect = format!(
        "could not reach the OpenAI-compatible server at {url}; start the server that \
         `generation.openai_url` names"
    );
    assert_eq!(shown(openai.models().await.unwrap_err()), expect);
    assert_eq!(shown(openai.check(MODEL).await.unwrap_err()), expect);
    let (_, error) = hear(&openai, MODEL, prompt(1)).await.unwrap_err();
    assert_eq!(shown(error), expect);
}

#[tokio::test]
async fn what_goes_wrong_in_the_middle_ends_the_answer() {
    let (fake, openai) = start();
    fake.script(|script| script.speech.thoughts = String::new());
    for (ending, expect) in [
        (
            Ending::ErrorAfter(3, format!("bad input '{SECRET}'")),
            "the OpenAI-compatible server answered: (its words repeat the prompt",
        ),
        (
            Ending::ErrorAfter(3, "out of memory".to_owned()),
            "the OpenAI-compatible server answered: out of memory",
        ),
        (
            Ending::CutAfter(3),
            "the answer of the OpenAI-compatible server broke off",
        ),
        (
            Ending::StopAfter(3),
            "the answer of the OpenAI-compatible server broke off",
        ),
    ] {
        fake.script(|script| script.speech.ending = ending.clone());
        let (text, error) = hear(&openai, MODEL, prompt(1)).await.unwrap_err();
        assert_eq!(text, "Refunds are paid", "{ending:?}");
        let shown = shown(error);
        assert!(shown.starts_with(expect), "{ending:?}: {shown}");
    }
    for (event, expect) in [
        ("event: error\ndata: the GPU is gone\n\n", "the GPU is gone"),
        ("data: {\"cho\n\n", "no JSON object"),
    ] {
        fake.script(|script| script.prelude = vec![event.to_owned()]);
        let (_, error) = hear(&openai, MODEL, prompt(1)).await.unwrap_err();
        let shown = shown(error);
        assert!(shown.contains(expect), "{event}: {shown}");
    }
}

#[tokio::test]
async fn an_answer_that_is_refused_says_why() {
    let (fake, openai) = start();
    // Each refusal is met twice, with and without the numbers, where it may be due to them.
    for (status, times, words, expect) in [
        (429, 1, "slow down", "has all the answers it can work on"),
        (
            503,
            1,
            "Loading model",
            "has all the answers it can work on",
        ),
        (
            400,
            2,
            "the request exceeds the available context size",
            "answered: the request exceeds the available context size",
        ),
        (500, 1, "", "answered: HTTP status 500"),
    ] {
        fake.script(|script| script.refuse(CHAT, status, words, times));
        let (_, error) = hear(&openai, MODEL, prompt(1)).await.unwrap_err();
        let shown = shown(error);
        assert!(shown.contains(expect), "{status}: {shown}");
    }
}

#[tokio::test]
async fn silence_has_an_end_and_thoughts_are_not_shown() {
    let (fake, openai) = start_with(GenerationSettings {
        first_token_secs: 1,
        token_pause_secs: 1,
        ..settings()
    });
    fake.script(|script| script.speech.ending = Ending::StallAfter(2));
    let (text, error) = hear(&openai, MODEL, prompt(1)).await.unwrap_err();
    assert_eq!(text, "Refunds are");
    assert!(shown(error).contains("`generation.token_pause_secs`"));
    open_are(0, || fake.open()).await;

    // The head of the answer and the role come at once, the first token does not.
    fake.script(|script| script.speech.first_token = Duration::from_hours(1));
    let (text, error) = hear(&openai, MODEL, prompt(1)).await.unwrap_err();
    assert_eq!(text, "");
    assert!(shown(error).contains("`generation.first_token_secs`"));
    open_are(0, || fake.open()).await;
}

#[tokio::test]
async fn dropping_the_answer_ends_the_work() {
    let (fake, openai) = start();
    fake.script(|script| {
        script.speech.text = Text::Fixed("one two three".to_owned());
        script.speech.ending = Ending::StallAfter(2);
    });
    let mut pieces = openai.generate(MODEL, prompt(1)).await.unwrap();
    let first = pieces.next().await.unwrap().unwrap();
    assert_eq!(first, Piece::Text("one".to_owned()));
    open_are(1, || fake.open()).await;
    drop(pieces);
    open_are(0, || fake.open()).await;
}

#[tokio::test]
async fn warming_asks_for_one_token() {
    let (fake, openai) = start();
    openai.warm(MODEL).await.unwrap();
    let body = &fake.bodies(CHAT)[0];
    assert_eq!(body["max_tokens"], 1);
    assert!(openai.warm("mistral").await.is_err());
}

#[test]
fn an_address_elsewhere_is_refused() {
    let settings = GenerationSettings {
        openai_url: "http://api.example/v1".to_owned(),
        ..settings()
    };
    let error = OpenAi::new(&settings, &Network::default()).err().unwrap();
    assert!(error.to_string().contains("add `api.example`"), "{error}");
}
