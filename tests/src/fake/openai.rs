//! A server that speaks OpenAI's protocol, as llama.cpp, LM Studio, vLLM and Foundry Local do:
//! `/v1/models`, `/v1/chat/completions`, `/v1/embeddings`.

mod chat;

use std::sync::{Arc, Mutex};

use anyhow::Result;
use axum::body::Body;
use axum::response::Response;
use serde_json::{Value, json};

use super::server::{Asked, Open, Refusal, Server, json as answer, locked, refused, typed};
use super::speech::Speech;
use super::vectors::{inputs, vector};

/// What a [`FakeOpenAi`] has and does.
#[derive(Debug, Clone)]
pub struct OpenAiScript {
    /// The entries of `/v1/models`, as they are sent; each needs an `id`.
    pub models: Vec<Value>,
    /// The key it asks for.
    pub key: Option<String>,
    /// Whether it knows `stream_options`; else it answers 400 to them.
    pub knows_usage: bool,
    /// Raw server-sent events before the first token: comments, odd deltas.
    pub prelude: Vec<String>,
    /// Whether a stream ends with `[DONE]`.
    pub says_done: bool,
    /// What is said in answer to every chat.
    pub speech: Speech,
    /// Length of the vectors.
    pub dimension: usize,
    /// Whether the vectors come in reverse order, told apart by `index`.
    pub reversed: bool,
    /// Answers that replace the real ones.
    pub refusals: Vec<Refusal>,
}

impl Default for OpenAiScript {
    fn default() -> Self {
        let model = |id: &str| json!({"id": id, "object": "model", "owned_by": "fake"});
        Self {
            models: vec![model("phi-4-mini"), model("text-embedding-all-minilm")],
            key: None,
            knows_usage: true,
            prelude: Vec::new(),
            says_done: true,
            speech: Speech::default(),
            dimension: 384,
            reversed: false,
            refusals: Vec::new(),
        }
    }
}

impl OpenAiScript {
    /// The next `times` requests for `path` get `status` and an error of these `words`.
    pub fn refuse(&mut self, path: &str, status: u16, words: &str, times: usize) {
        self.refusals.push(Refusal {
            path: path.to_owned(),
            status,
            body: error(words, "server_error"),
            times,
        });
    }

    fn has(&self, id: &str) -> bool {
        self.models
            .iter()
            .any(|model| model.get("id") == Some(&json!(id)))
    }
}

/// An OpenAI-compatible server within the test; ended when dropped.
pub struct FakeOpenAi {
    server: Server,
    script: Arc<Mutex<OpenAiScript>>,
}

impl FakeOpenAi {
    /// Starts one on a free port.
    ///
    /// # Errors
    /// No port is free.
    pub fn start() -> Result<Self> {
        let script = Arc::new(Mutex::new(OpenAiScript::default()));
        let scripted = Arc::clone(&script);
        let server = Server::start(
            0,
            Arc::new(move |asked, open| {
                let scripted = Arc::clone(&scripted);
                Box::pin(async move { respond(&scripted, &asked, open) })
            }),
        )?;
        Ok(Self { server, script })
    }

    /// Its address with `/v1`, as it stands in settings.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.server.address())
    }

    /// Changes the script, for requests from now on.
    pub fn script(&self, change: impl FnOnce(&mut OpenAiScript)) {
        change(&mut locked(&self.script));
    }

    /// All requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.server.asked()
    }

    /// The bodies of the requests for `path`, such as `/v1/embeddings`, so far.
    pub fn bodies(&self, path: &str) -> Vec<Value> {
        let asked = self.asked().into_iter();
        asked
            .filter(|asked| asked.path == path)
            .map(|asked| asked.body)
            .collect()
    }

    /// Requests that are being answered now.
    pub fn open(&self) -> usize {
        self.server.open()
    }
}

fn respond(script: &Mutex<OpenAiScript>, asked: &Asked, open: Open) -> Response {
    let now = {
        let mut script = locked(script);
        if let Some(response) = refused(&mut script.refusals, &asked.path) {
            return response;
        }
        script.clone()
    };
    let given = asked.authorization.as_deref();
    if let Some(key) = &now.key
        && given != Some(&format!("Bearer {key}"))
    {
        return answer(401, &error("Incorrect API key provided", "invalid_api_key"));
    }
    match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", "/v1/models") => answer(200, &json!({"object": "list", "data": now.models})),
        ("POST", "/v1/chat/completions") => chat::respond(&now, &asked.body, open),
        ("POST", "/v1/embeddings") => embed(&now, &asked.body),
        _unknown => typed(404, "text/plain", Body::from("Not Found")),
    }
}

fn embed(script: &OpenAiScript, body: &Value) -> Response {
    let model = named(body);
    if !script.has(model) {
        return missing(model);
    }
    let texts = body.get("input").and_then(inputs).unwrap_or_default();
    if texts.is_empty() {
        return answer(400, &error("`input` is not valid", "invalid_request_error"));
    }
    let wanted = body.get("dimensions").and_then(Value::as_u64);
    let dimension = wanted
        .and_then(|wanted| usize::try_from(wanted).ok())
        .unwrap_or(script.dimension);
    let mut data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            json!({
                "object": "embedding",
                "index": index,
                "embedding": vector(text, dimension),
            })
        })
        .collect();
    if script.reversed {
        data.reverse();
    }
    let read: usize = texts.iter().map(|text| super::tokens(text).len()).sum();
    answer(
        200,
        &json!({
            "object": "list",
            "data": data,
            "model": model,
            "usage": {"prompt_tokens": read, "total_tokens": read},
        }),
    )
}

fn named(body: &Value) -> &str {
    let name = body.get("model").and_then(Value::as_str);
    name.unwrap_or_default()
}

fn missing(model: &str) -> Response {
    let words = format!("The model `{model}` does not exist.");
    answer(404, &error(&words, "model_not_found"))
}

fn error(words: &str, code: &str) -> Value {
    json!({"error": {"message": words, "type": code, "param": null, "code": code}})
}
