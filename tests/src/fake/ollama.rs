//! An Ollama, as its `docs/api.md`, `api/types.go` and `server/routes.go` say (its main
//! branch of 21 August 2026): `/api/version`, `/api/tags`, `/api/ps`,
//! `/api/show`, `/api/chat`, `/api/embed`.

mod chat;
mod model;

use std::sync::{Arc, Mutex};

use anyhow::Result;
use axum::body::Body;
use axum::response::Response;
use serde_json::{Value, json};

use super::server::{Asked, Open, Refusal, Server, json as answer, locked, refused, typed};
use super::speech::Speech;
use super::vectors::{inputs, vector};
pub use model::FakeModel;

/// Where this Ollama says what a model can do; its versions differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Nowhere, as before 0.6.4.
    Nowhere,
    /// In `/api/show`.
    InShow,
    /// In `/api/show` and `/api/tags`.
    InTags,
}

/// What a [`FakeOllama`] has and does.
#[derive(Debug, Clone)]
pub struct OllamaScript {
    /// The models it has; at first `llama3.2:latest` and, for embedding, `all-minilm:latest`.
    pub models: Vec<FakeModel>,
    /// The names of those in memory; a chat adds its own.
    pub loaded: Vec<String>,
    /// Where capabilities are told.
    pub told: Told,
    /// What is said in answer to every chat.
    pub speech: Speech,
    /// Answers that replace the real ones.
    pub refusals: Vec<Refusal>,
}

impl Default for OllamaScript {
    fn default() -> Self {
        Self {
            models: vec![
                FakeModel::chat("llama3.2:latest"),
                FakeModel::embedding("all-minilm:latest", 384),
            ],
            loaded: Vec::new(),
            told: Told::InShow,
            speech: Speech::default(),
            refusals: Vec::new(),
        }
    }
}

impl OllamaScript {
    /// The next `times` requests for `path` get `status` and `words`.
    pub fn refuse(&mut self, path: &str, status: u16, words: &str, times: usize) {
        self.refusals.push(Refusal {
            path: path.to_owned(),
            status,
            body: json!({"error": words}),
            times,
        });
    }

    fn find(&self, name: &str) -> Option<&FakeModel> {
        self.models.iter().find(|model| model.is_called(name))
    }
}

/// An Ollama within the test; ended when dropped.
pub struct FakeOllama {
    server: Server,
    script: Arc<Mutex<OllamaScript>>,
}

impl FakeOllama {
    /// Starts one on a free port.
    ///
    /// # Errors
    /// No port is free.
    pub fn start() -> Result<Self> {
        Self::start_at(0)
    }

    /// Starts one on `port`.
    ///
    /// # Errors
    /// The port is taken.
    pub fn start_at(port: u16) -> Result<Self> {
        let script = Arc::new(Mutex::new(OllamaScript::default()));
        let scripted = Arc::clone(&script);
        let server = Server::start(
            port,
            Arc::new(move |asked, open| {
                let scripted = Arc::clone(&scripted);
                Box::pin(async move { respond(&scripted, &asked, open).await })
            }),
        )?;
        Ok(Self { server, script })
    }

    /// Its address, as it stands in settings.
    pub fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// Changes the script, for requests from now on.
    pub fn script(&self, change: impl FnOnce(&mut OllamaScript)) {
        change(&mut locked(&self.script));
    }

    /// All requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.server.asked()
    }

    /// The bodies of the requests for `path` so far.
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

async fn respond(script: &Mutex<OllamaScript>, asked: &Asked, open: Open) -> Response {
    let now = {
        let mut script = locked(script);
        if let Some(response) = refused(&mut script.refusals, &asked.path) {
            return response;
        }
        script.clone()
    };
    match (asked.method.as_str(), asked.path.as_str()) {
        ("GET" | "HEAD", "/") => typed(200, "text/plain", Body::from("Ollama is running")),
        ("GET", "/api/version") => answer(200, &json!({"version": "0.12.0"})),
        ("GET", "/api/tags") => answer(200, &tags(&now)),
        ("GET", "/api/ps") => answer(200, &running(&now)),
        ("POST", "/api/show") => show(&now, &asked.body),
        ("POST", "/api/embed") => embed(&now, &asked.body),
        ("POST", "/api/chat") => {
            let (response, loaded) = chat::respond(now, &asked.body, open).await;
            if let Some(name) = loaded {
                load(&mut locked(script).loaded, name);
            }
            response
        }
        _unknown => typed(404, "text/plain", Body::from("404 page not found")),
    }
}

fn load(loaded: &mut Vec<String>, name: String) {
    loaded.retain(|other| *other != name);
    loaded.insert(0, name);
}

fn tags(script: &OllamaScript) -> Value {
    let told = script.told == Told::InTags;
    let models: Vec<Value> = script.models.iter().map(|m| m.listed(told)).collect();
    json!({"models": models})
}

fn running(script: &OllamaScript) -> Value {
    let loaded = script.loaded.iter();
    let models: Vec<Value> = loaded
        .filter_map(|name| script.find(name))
        .map(FakeModel::running)
        .collect();
    json!({"models": models})
}

fn show(script: &OllamaScript, body: &Value) -> Response {
    let name = named(body);
    match script.find(name) {
        Some(model) => answer(200, &model.shown(script.told != Told::Nowhere)),
        None => missing(name),
    }
}

fn embed(script: &OllamaScript, body: &Value) -> Response {
    let name = named(body);
    let Some(model) = script.find(name) else {
        let words = format!("model {name:?} not found, try pulling it first");
        return answer(404, &json!({"error": words}));
    };
    let Some(texts) = body.get("input").map_or(Some(Vec::new()), inputs) else {
        return answer(400, &json!({"error": "invalid input type"}));
    };
    let window = usize::try_from(model.context_length).unwrap_or(usize::MAX);
    let count = |text: &str| super::tokens(text).len();
    let cuts = body.get("truncate").and_then(Value::as_bool) != Some(false);
    if !cuts && texts.iter().any(|text| count(text) > window) {
        let words = "the input length exceeds the context length";
        return answer(400, &json!({"error": words}));
    }
    if model.dimension == 0 {
        let words = "this model does not support embeddings";
        return answer(501, &json!({"error": words}));
    }
    let wanted = body.get("dimensions").and_then(Value::as_u64).unwrap_or(0);
    let dimension = match usize::try_from(wanted) {
        Ok(wanted) if wanted > 0 => wanted.min(model.dimension),
        _all => model.dimension,
    };
    let vectors: Vec<Vec<f32>> = texts.iter().map(|text| vector(text, dimension)).collect();
    answer(
        200,
        &json!({
            "model": name,
            "embeddings": vectors,
            "total_duration": 14_143_917,
            "load_duration": 1_019_500,
            "prompt_eval_count": texts.iter().map(|text| count(text).min(window)).sum::<usize>(),
        }),
    )
}

fn named(body: &Value) -> &str {
    let name = body.get("model").or_else(|| body.get("name"));
    name.and_then(Value::as_str).unwrap_or_default()
}

fn missing(name: &str) -> Response {
    answer(404, &json!({"error": format!("model '{name}' not found")}))
}
