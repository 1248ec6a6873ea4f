//! Any server that speaks OpenAI's chat completions: llama.cpp, LM Studio, vLLM, Foundry Local.
//! They leave out and add fields as they like, so little is asked of them.

mod chat;
mod events;
mod wire;

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use reqwest::{Method, Response, StatusCode};
use serde_json::json;
use shared::contract::{GeneratorId, GeneratorView, Provider};
use shared::http::HttpError;
use shared::ollama::cloud_name;
use shared::settings::Network;

use super::ollama::{Shown, remote};
use super::progress::{Patience, pieces};
use super::server::{Reply, Server};
use super::words::Sent;
use super::{GenerateError, GenerationSettings, Generator, Limits, Pieces, Prompt, cut};

const NAME: &str = "the OpenAI-compatible server";
const START: &str = "start the server that `generation.openai_url` names";
const SETTING: &str = "generation.openai_url";
/// Models that an error names.
const NAMED: usize = 3;

/// Answers through an OpenAI-compatible server.
pub struct OpenAi {
    server: Server,
    /// The same server without `/v1`, where an Ollama would say where its models run.
    root: Option<Server>,
    settings: GenerationSettings,
    /// Whether it has refused `stream_options`.
    no_usage: AtomicBool,
}

impl OpenAi {
    /// The server that `settings` name. Nothing is sent yet.
    ///
    /// # Errors
    /// An address that does not parse or is not allowed.
    pub fn new(settings: &GenerationSettings, network: &Network) -> Result<Self, HttpError> {
        let url = settings.openai_url.trim_end_matches('/');
        let server = |url| Server::new((SETTING, url), network, (NAME, START));
        Ok(Self {
            server: server(url)?.with_key(&settings.openai_key),
            root: url.strip_suffix("/v1").map(server).transpose()?,
            settings: settings.clone(),
            no_usage: AtomicBool::new(false),
        })
    }

    /// The models it lists. A server without a list has none.
    async fn there(&self) -> Result<Vec<wire::Model>, GenerateError> {
        let request = self.server.request(Method::GET, "/models");
        let reply = self.server.ask(request).await?;
        if reply.status == StatusCode::NOT_FOUND {
            return Ok(Vec::new());
        }
        let list: wire::Models = self.server.read(&reply)?;
        Ok(list.models())
    }

    /// The model's entry in the list, if there is a list.
    async fn examine(&self, model: &str) -> Result<Option<wire::Model>, GenerateError> {
        if cloud_name(model) {
            return Err(remote(model, ""));
        }
        let models = self.there().await?;
        let entry = models.iter().find(|entry| entry.id == model).cloned();
        if entry.is_none() && !models.is_empty() {
            let ids: Vec<&str> = models.iter().take(NAMED).map(|m| m.id.as_str()).collect();
            return Err(GenerateError::NoModel {
                model: model.to_owned(),
                remedy: format!(
                    "choose one that {NAME} lists, such as `{}`",
                    ids.join("`, `")
                ),
            });
        }
        self.refuse_remote(model).await?;
        Ok(entry)
    }

    /// An Ollama speaks this protocol too, but tells only in its own where a model runs. Other
    /// servers do not know the path and answer with some error.
    async fn refuse_remote(&self, model: &str) -> Result<(), GenerateError> {
        let Some(root) = &self.root else {
            return Ok(());
        };
        let request = root.request(Method::POST, "/api/show");
        let reply = match root.ask(request.json(&json!({"model": model}))).await {
            Ok(reply) => reply,
            Err(error @ GenerateError::Unreachable { .. }) => return Err(error),
            Err(_no_ollama) => return Ok(()),
        };
        match root.read::<Shown>(&reply) {
            Ok(shown) if shown.is_remote() => Err(remote(model, &shown.remote_host)),
            _no_ollama_or_here => Ok(()),
        }
    }

    /// The first model that may answer.
    fn first<'a>(&self, models: &'a [wire::Model]) -> Option<&'a wire::Model> {
        let set = self.settings.model.trim();
        let mut models = models.iter();
        if set.is_empty() {
            models.find(|model| !cloud_name(&model.id))
        } else {
            models.find(|model| model.id == set)
        }
    }

    /// Posts `body`, without what some servers do not know if they refuse it.
    async fn open(&self, body: &mut wire::ChatRequest<'_>) -> Result<Response, GenerateError> {
        let request = || self.server.request(Method::POST, "/chat/completions");
        if self.no_usage.load(Ordering::Relaxed) {
            body.stream_options = None;
        }
        let response = self.server.open(request().json(body)).await?;
        let refused = matches!(
            response.status(),
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY
        );
        if !refused || body.stream_options.take().is_none() {
            return Ok(response);
        }
        let response = self.server.open(request().json(body)).await?;
        if response.status().is_success() {
            self.no_usage.store(true, Ordering::Relaxed);
        }
        Ok(response)
    }

    fn refusal(&self, reply: &Reply, model: &str, sent: &Sent) -> GenerateError {
        if reply.status == StatusCode::NOT_FOUND {
            return GenerateError::NoModel {
                model: model.to_owned(),
                remedy: "choose one that `ibid models` lists, and let `generation.openai_url` \
                         end in `/v1`"
                    .to_owned(),
            };
        }
        self.server.refusal(reply, sent)
    }
}

#[async_trait]
impl Generator for OpenAi {
    fn provider(&self) -> Provider {
        Provider::OpenAi
    }

    async fn models(&self) -> Result<Vec<GeneratorView>, GenerateError> {
        let mut models = self.there().await?;
        models.retain(|model| !model.makes_vectors());
        let default = self.first(&models).map(|model| model.id.clone());
        let mut views = Vec::new();
        for model in models {
            let refused = match self.refuse_remote(&model.id).await {
                _named if cloud_name(&model.id) => Some(remote(&model.id, "")),
                checked => checked.err(),
            };
            views.push(GeneratorView {
                is_default: refused.is_none() && default.as_ref() == Some(&model.id),
                window_tokens: model.window(),
                bytes: None,
                loaded: None,
                refused: refused.map(Into::into),
                id: GeneratorId::new(Provider::OpenAi, model.id),
            });
        }
        Ok(views)
    }

    async fn default_model(&self) -> Result<String, GenerateError> {
        let set = self.settings.model.trim();
        if !set.is_empty() {
            self.examine(set).await?;
            return Ok(set.to_owned());
        }
        let mut models = self.there().await?;
        models.retain(|model| !model.makes_vectors());
        for model in models {
            match self.refuse_remote(&model.id).await {
                _named if cloud_name(&model.id) => {}
                Ok(()) => return Ok(model.id),
                Err(GenerateError::Remote { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Err(GenerateError::NoModels {
            server: NAME,
            remedy: "load a model in it, or name one in `generation.model`".to_owned(),
        })
    }

    async fn check(&self, model: &str) -> Result<Limits, GenerateError> {
        let entry = self.examine(model.trim()).await?;
        Ok(Limits {
            window_tokens: entry.and_then(|entry| entry.window()),
            ..Limits::default()
        })
    }

    async fn warm(&self, model: &str) -> Result<(), GenerateError> {
        let model = model.trim();
        self.examine(model).await?;
        // The protocol has nothing that only loads: one token of an answer to nothing.
        let body = wire::ChatRequest::warming(model);
        let patience = Patience::new(NAME, &self.settings);
        let request = self.server.request(Method::POST, "/chat/completions");
        let request = request.json(&body);
        let loading = async { self.server.whole(self.server.open(request).await?).await };
        let reply = patience.first(loading).await?;
        if reply.status.is_success() {
            Ok(())
        } else {
            Err(self.refusal(&reply, model, &Sent::default()))
        }
    }

    async fn generate(&self, model: &str, prompt: Prompt) -> Result<Pieces, GenerateError> {
        let model = model.trim();
        if cloud_name(model) {
            return Err(remote(model, ""));
        }
        let patience = Patience::new(NAME, &self.settings);
        let sent = Sent::new(&prompt);
        let mut body = wire::ChatRequest::asking(model, &prompt);
        let response = patience.first(self.open(&mut body)).await?;
        if !response.status().is_success() {
            let reply = patience.first(self.server.whole(response)).await?;
            return Err(self.refusal(&reply, model, &sent));
        }
        let reading = chat::Reading {
            server: self.server.clone(),
            sent,
            least_tokens: cut::least_tokens(&prompt),
        };
        let heard = if events::are_in(&response) {
            reading.stream(response)
        } else {
            let reply = patience.first(self.server.whole(response)).await?;
            reading.whole(&reply)
        };
        Ok(pieces(heard, patience, prompt.answer_tokens))
    }
}
