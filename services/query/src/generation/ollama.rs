//! The user's own Ollama. The protocol is that of its `docs/api.md` and `api/types.go`.

mod chat;
mod list;
mod wire;

use std::collections::HashMap;

use async_trait::async_trait;
use parking_lot::Mutex;
use reqwest::{Method, StatusCode};
use serde_json::json;
use shared::contract::{GeneratorView, Provider};
use shared::http::HttpError;
use shared::ollama::cloud_name;
use shared::settings::Network;

use super::progress::{Patience, pieces};
use super::server::{Reply, Server};
use super::words::Sent;
use super::{GenerateError, GenerationSettings, Generator, Limits, Pieces, Prompt, cut};
use chat::{Asking, TEMPLATE_TOKENS, window_for};
pub(super) use list::remote;
pub(super) use wire::Shown;

const NAME: &str = "Ollama";
const START: &str = "run: ollama serve";
/// Rules, a long question, and what the chat template adds.
const OTHER_PROMPT_TOKENS: u32 = 1_024;
/// Models that are remembered; more only costs asking again.
const MOST_KNOWN: usize = 64;

/// Answers through Ollama.
pub struct Ollama {
    server: Server,
    settings: GenerationSettings,
    known: Mutex<HashMap<String, Known>>,
}

/// What was learnt of a model.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// Tokens of its window.
    window: Option<u32>,
    /// Whether it thinks unless told not to.
    thinks: bool,
    /// The largest `num_ctx` it was asked with. Ollama loads a model anew whenever this number
    /// changes, up or down, so it never shrinks.
    num_ctx: u32,
}

impl Ollama {
    /// The Ollama that `settings` name. Nothing is sent yet.
    ///
    /// # Errors
    /// An address that does not parse or is not allowed.
    pub fn new(settings: &GenerationSettings, network: &Network) -> Result<Self, HttpError> {
        let address = ("generation.ollama_url", settings.ollama_url.as_str());
        Ok(Self {
            server: Server::new(address, network, (NAME, START))?,
            settings: settings.clone(),
            known: Mutex::default(),
        })
    }

    /// What Ollama knows of `model` now, unless it runs elsewhere or writes no answers.
    async fn examine(&self, model: &str) -> Result<Known, GenerateError> {
        if cloud_name(model) {
            // Not even its name is looked up: Ollama would pass that on.
            return Err(remote(model, ""));
        }
        let request = self.server.request(Method::POST, "/api/show");
        let reply = self
            .server
            .ask(request.json(&json!({"model": model})))
            .await?;
        refuse_missing(&reply, model)?;
        let shown: Shown = self.server.read(&reply)?;
        if shown.is_remote() {
            return Err(remote(model, &shown.remote_host));
        }
        if !list::writes_answers(shown.capabilities.as_deref(), &shown.details, model) {
            return Err(GenerateError::NoChat {
                model: model.to_owned(),
            });
        }
        let mut known = self.known.lock();
        if known.len() >= MOST_KNOWN && !known.contains_key(model) {
            known.clear();
        }
        let entry = known.entry(model.to_owned()).or_default();
        entry.window = shown.window();
        entry.thinks = shown.thinks();
        Ok(*entry)
    }

    /// The `num_ctx` for a prompt and answer of `tokens`.
    fn num_ctx(&self, model: &str, tokens: u32, window: Option<u32>) -> u32 {
        let mut known = self.known.lock();
        let Some(entry) = known.get_mut(model) else {
            return window_for(tokens, window);
        };
        entry.num_ctx = window_for(tokens.max(entry.num_ctx), window);
        entry.num_ctx
    }

    fn asking<'a>(&'a self, model: &'a str, tokens: u32, known: Known) -> Asking<'a> {
        Asking {
            model,
            num_ctx: self.num_ctx(model, tokens, known.window),
            gpu_layers: self.settings.gpu_layers,
            thinks: known.thinks,
        }
    }
}

fn refuse_missing(reply: &Reply, model: &str) -> Result<(), GenerateError> {
    if reply.status == StatusCode::NOT_FOUND {
        return Err(GenerateError::NoModel {
            model: model.to_owned(),
            remedy: format!("run: ollama pull {model}"),
        });
    }
    Ok(())
}

#[async_trait]
impl Generator for Ollama {
    fn provider(&self) -> Provider {
        Provider::Ollama
    }

    async fn models(&self) -> Result<Vec<GeneratorView>, GenerateError> {
        self.list().await
    }

    async fn default_model(&self) -> Result<String, GenerateError> {
        self.choose().await
    }

    async fn check(&self, model: &str) -> Result<Limits, GenerateError> {
        let known = self.examine(model.trim()).await?;
        Ok(Limits {
            window_tokens: known.window,
            ..Limits::default()
        })
    }

    async fn warm(&self, model: &str) -> Result<(), GenerateError> {
        let model = model.trim();
        let known = self.examine(model).await?;
        let settings = &self.settings;
        // Passages, and earlier turns of a third as much.
        let passages = settings.context_tokens;
        let expected = passages
            .saturating_add(passages / 3)
            .saturating_add(settings.answer_tokens)
            .saturating_add(OTHER_PROMPT_TOKENS);
        let body = self.asking(model, expected, known).loading();
        let patience = Patience::new(NAME, &self.settings);
        let request = self.server.request(Method::POST, "/api/chat").json(&body);
        let loading = async { self.server.whole(self.server.open(request).await?).await };
        let reply = patience.first(loading).await?;
        refuse_missing(&reply, model)?;
        let _loaded: wire::ChatLine = self.server.read(&reply)?;
        Ok(())
    }

    async fn generate(&self, model: &str, prompt: Prompt) -> Result<Pieces, GenerateError> {
        let model = model.trim();
        let known = self.known.lock().get(model).copied();
        let known = match known {
            Some(known) => known,
            None => self.examine(model).await?,
        };
        let tokens = prompt
            .tokens
            .saturating_add(prompt.answer_tokens)
            .saturating_add(TEMPLATE_TOKENS);
        let asking = self.asking(model, tokens, known);
        let patience = Patience::new(NAME, &self.settings);
        let request = self.server.request(Method::POST, "/api/chat");
        let request = request.json(&asking.question(&prompt));
        let sent = Sent::new(&prompt);
        let response = patience.first(self.server.open(request)).await?;
        if !response.status().is_success() {
            let reply = patience.first(self.server.whole(response)).await?;
            refuse_missing(&reply, model)?;
            return Err(self.server.refusal(&reply, &sent));
        }
        let reading = chat::Reading {
            server: self.server.clone(),
            sent,
            num_ctx: asking.num_ctx,
            least_tokens: cut::least_tokens(&prompt),
        };
        let heard = reading.heard(response);
        Ok(pieces(heard, patience, prompt.answer_tokens))
    }
}
