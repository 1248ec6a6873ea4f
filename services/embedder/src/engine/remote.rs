//! A model on a server: Ollama, or any that is OpenAI-compatible.
//!
//! Chunks have one request in flight and questions one: a server that works on one request after
//! the other has at most one small batch before a question. While the server is away, chunks
//! wait and questions fail soon, so that a search goes on with keywords.

mod batch;
mod client;
mod dialect;
mod error;
mod link;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use shared::contract::{DocumentId, EncoderDescription, Sha256Hex};
use shared::http::HttpServer;
use shared::service::{Drain, HealthBoard};
use shared::settings::{self, ModelProvider, Network};
use tokio::sync::Mutex;
use tracing::warn;

use self::batch::{Order, first_half};
use self::client::{Client, Purpose};
use self::dialect::Dialect;
pub use self::error::ServerError;
use self::link::Link;
use super::{Engine, MadeFor};
use crate::error::{EncodeError, ModelError};
use crate::model::{Prompts, TOKENIZER_FILE, read_error};

/// How long a question waits for a server that was away to be asked again.
const QUESTION_WAITS: Duration = Duration::from_millis(500);

/// How long the server is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Waits {
    /// For the first answer, for which it may have to load the model.
    pub load: Duration,
    /// For the answer to a batch of chunks.
    pub chunks: Duration,
    /// For the answer to a question; less than a search waits for its vector.
    pub question: Duration,
    /// Between two parts of an answer.
    pub pause: Duration,
    /// Before a server that is away is asked again.
    pub retry: Duration,
    /// Before a model is asked again where it runs.
    pub check: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            load: Duration::from_mins(3),
            chunks: Duration::from_mins(1),
            question: Duration::from_secs(4),
            pause: Duration::from_secs(10),
            retry: Duration::from_secs(1),
            check: Duration::from_mins(1),
        }
    }
}

/// A model on a server.
pub struct Remote {
    made_for: MadeFor,
    prompts: Prompts,
    link: Arc<Link>,
    question: Mutex<()>,
    drain: Drain,
}

impl Remote {
    /// The model that `named` names. Returns at once and looks for the server from then on; what
    /// keeps it away stands in `health`.
    ///
    /// # Errors
    /// When the address is not allowed, or the tokenizer's folder has none.
    pub fn start(
        named: &settings::Model,
        network: &Network,
        waits: Waits,
        drain: &Drain,
        health: &HealthBoard,
    ) -> anyhow::Result<Self> {
        let path = named.folder().join(TOKENIZER_FILE);
        let tokenizer = std::fs::read(&path).map_err(read_error(&path))?;
        let made_for = MadeFor {
            model: named.id().map_err(ModelError::Name)?,
            window: named.window_tokens,
            tokenizer_hash: Sha256Hex::of(&tokenizer).to_string(),
        };
        let dialect = match named.provider {
            ModelProvider::Ollama => Dialect::Ollama,
            ModelProvider::Onnx | ModelProvider::OpenAi => Dialect::OpenAi,
        };
        let server = HttpServer::new("model.url", named.server_url(), network)?;
        let client = Client::new((dialect, server), &named.name, &named.key, waits);
        let link = Arc::new(Link::new(client, health.clone()));
        // It ends by itself at the drain.
        tokio::spawn(Arc::clone(&link).keep(drain.clone()));
        Ok(Self {
            made_for,
            prompts: Prompts {
                query: named.query_prefix.clone(),
                document: named.document_prefix.clone(),
            },
            link,
            question: Mutex::new(()),
            drain: drain.clone(),
        })
    }

    /// One request's worth of texts, each cut until it fits the model.
    async fn ask(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, ServerError> {
        match self.link.ask(texts, purpose).await {
            Err(error) if error.blames_a_text() && texts.len() > 1 => {
                let mut vectors = Vec::with_capacity(texts.len());
                for text in texts {
                    vectors.push(self.ask_cutting(text, purpose).await?);
                }
                Ok(vectors)
            }
            Err(ServerError::TooLong { .. }) => {
                let text = texts.first().copied().unwrap_or_default();
                Ok(vec![self.ask_cutting(text, purpose).await?])
            }
            outcome => outcome,
        }
    }

    async fn ask_cutting(&self, text: &str, purpose: Purpose) -> Result<Vec<f32>, ServerError> {
        let mut part = text;
        loop {
            match self.link.ask(&[part], purpose).await {
                Ok(mut vectors) => {
                    if part.len() < text.len() {
                        self.link.tell_cut();
                    }
                    return Ok(vectors.pop().unwrap_or_default());
                }
                Err(error @ ServerError::TooLong { .. }) => {
                    part = first_half(part).ok_or(error)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn ready(&self) -> Result<(), EncodeError> {
        tokio::select! {
            () = self.link.ready() => Ok(()),
            () = self.drain.begun() => Err(EncodeError::Draining),
        }
    }
}

#[async_trait]
impl Engine for Remote {
    fn made_for(&self) -> &MadeFor {
        &self.made_for
    }

    fn describe(&self) -> Result<EncoderDescription, EncodeError> {
        let dimension = self.link.dimension()?;
        Ok(self
            .made_for
            .describe(u32::try_from(dimension).unwrap_or(u32::MAX)))
    }

    async fn embed_chunks(
        &self,
        _document: &DocumentId,
        texts: Vec<String>,
    ) -> Result<Vec<Vec<f32>>, EncodeError> {
        let texts: Vec<String> = texts
            .into_iter()
            .map(|text| format!("{}{text}", self.prompts.document))
            .collect();
        let mut order = Order::new(&texts);
        while !order.is_done() {
            self.ready().await?;
            // Handed on in turn, so that messages of many documents get along together.
            let mut pace = self.link.bulk.lock().await;
            if self.link.dimension().is_err() {
                continue;
            }
            let batch = order.next(pace.budget());
            let asked: Vec<&str> = batch
                .iter()
                .filter_map(|waiting| texts.get(waiting.index))
                .map(String::as_str)
                .collect();
            let start = Instant::now();
            match self.ask(&asked, Purpose::Chunks).await {
                Ok(vectors) => {
                    pace.learn(asked.iter().map(|text| text.len()).sum(), start.elapsed());
                    order.done(&batch, vectors);
                }
                Err(error) if error.is_away() => order.put_back(batch),
                Err(error) => {
                    warn!(texts = asked.len(), reason = %error, "a batch failed");
                    return Err(error.into());
                }
            }
        }
        Ok(order.into_vectors())
    }

    async fn embed_question(&self, text: String) -> Result<Vec<f32>, EncodeError> {
        let text = format!("{}{text}", self.prompts.query);
        self.link.ready_within(QUESTION_WAITS).await?;
        let _turn = self.question.lock().await;
        let mut vectors = self.ask(&[&text], Purpose::Question).await?;
        vectors.pop().ok_or(EncodeError::Output {
            found: 0,
            wanted: 1,
        })
    }
}
