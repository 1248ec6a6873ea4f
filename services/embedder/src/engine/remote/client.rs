//! One request, and everything that is checked of its answer.

use std::time::Duration;

use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use shared::http::HttpServer;
use shared::ollama::{ShownModel, cloud_name};

use super::Waits;
use super::dialect::{Dialect, words};
use super::error::ServerError;
use crate::encoder::to_unit_length;

/// Longest vectors: a batch of 16 fits the bus beside its text.
const MOST_DIMENSIONS: usize = 8192;
/// Longest answer: 32 such vectors with 22 characters per value, and some room.
const MOST_BYTES: usize = 8 << 20;
/// Of a server's own words.
const MOST_WORDS: usize = 200;
/// What servers say of a text that is longer than the model reads.
const ABOUT_LENGTH: [&str; 6] = [
    "context length",
    "context size",
    "context window",
    "too large",
    "too long",
    "maximum length",
];

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To see that the server is there; the texts are ours.
    Probe,
    /// Text of documents.
    Chunks,
    /// What someone asks.
    Question,
}

/// A server, asked for one model.
pub(super) struct Client {
    dialect: Dialect,
    server: HttpServer,
    model: String,
    key: String,
    pub(super) waits: Waits,
}

impl Client {
    pub(super) fn new(
        (dialect, server): (Dialect, HttpServer),
        model: &str,
        key: &str,
        waits: Waits,
    ) -> Self {
        Self {
            dialect,
            server,
            model: model.to_owned(),
            key: key.to_owned(),
            waits,
        }
    }

    /// What is wrong before it has been asked.
    pub(super) fn starting(&self) -> ServerError {
        ServerError::Starting {
            server: self.dialect.server(),
            url: self.server.url().to_owned(),
        }
    }

    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// Makes sure that the model runs on the server's own machine. Nothing but its name is sent.
    pub(super) async fn check(&self) -> Result<(), ServerError> {
        let mut shown = ShownModel::default();
        // Only Ollama can be asked; by another way of speaking it may still be the one that runs.
        if self.dialect == Dialect::Ollama && !cloud_name(&self.model) {
            let body = json!({"model": self.model});
            let reply = self.post("/api/show", &body, Purpose::Probe).await?;
            shown = serde_json::from_slice(&reply).map_err(|error| self.strange(error))?;
        }
        shown
            .elsewhere(&self.model)
            .map_or(Ok(()), |host| Err(self.elsewhere(host)))
    }

    /// One vector of unit length per text, in order, all as long as the first.
    pub(super) async fn ask(
        &self,
        texts: &[&str],
        purpose: Purpose,
    ) -> Result<Vec<Vec<f32>>, ServerError> {
        let body = self.dialect.body(&self.model, texts);
        let reply = self.post(self.dialect.path(), &body, purpose).await?;
        let vectors = self.dialect.vectors(&reply);
        let mut vectors = vectors.map_err(|reason| self.strange(reason))?;
        if vectors.len() != texts.len() {
            let (found, wanted) = (vectors.len(), texts.len());
            return Err(self.strange(format!("{found} vectors where {wanted} were asked for")));
        }
        let length = vectors.first().map_or(0, Vec::len);
        for vector in &mut vectors {
            if vector.len() != length || vector.is_empty() {
                return Err(self.strange("vectors of unlike length"));
            }
            to_unit_length(vector);
            // Of a zero, an infinite or an undefined value no unit length can be made.
            let norm: f32 = vector.iter().map(|value| value * value).sum();
            if (norm - 1.0).abs() > 1e-3 || norm.is_nan() {
                return Err(self.strange("a vector that has no direction"));
            }
        }
        if length > MOST_DIMENSIONS {
            return Err(ServerError::TooManyDimensions {
                model: self.model.clone(),
                found: length,
                most: MOST_DIMENSIONS,
            });
        }
        Ok(vectors)
    }

    async fn post(
        &self,
        path: &str,
        body: &Value,
        purpose: Purpose,
    ) -> Result<Vec<u8>, ServerError> {
        let mut request = self.server.request(Method::POST, path).json(body);
        if !self.key.is_empty() {
            request = request.bearer_auth(&self.key);
        }
        let wait = match purpose {
            Purpose::Probe => self.waits.load,
            Purpose::Chunks => self.waits.chunks,
            Purpose::Question => self.waits.question,
        };
        let response = tokio::time::timeout(wait, request.send())
            .await
            .map_err(|_elapsed| self.silent(wait))?
            .map_err(|error| self.unsent(&error))?;
        let status = response.status();
        let reply = self.read(response).await?;
        if status.is_success() {
            return Ok(reply);
        }
        Err(self.failure(status, &words(&reply), purpose))
    }

    /// The whole body, as long as more of it keeps coming.
    async fn read(&self, mut response: Response) -> Result<Vec<u8>, ServerError> {
        let pause = self.waits.pause;
        let mut reply = Vec::new();
        loop {
            let part = tokio::time::timeout(pause, response.chunk())
                .await
                .map_err(|_elapsed| self.silent(pause))?
                .map_err(|_broken| self.broken())?;
            match part {
                None => return Ok(reply),
                Some(part) if reply.len() + part.len() > MOST_BYTES => {
                    return Err(self.strange("it is too large"));
                }
                Some(part) => reply.extend_from_slice(&part),
            }
        }
    }

    fn failure(&self, status: StatusCode, words: &str, purpose: Purpose) -> ServerError {
        let (server, code) = (self.dialect.server(), status.as_u16());
        let lower = words.to_lowercase();
        let too_long = ABOUT_LENGTH.iter().any(|part| lower.contains(part));
        // A server may quote what it was sent, so what it says of other texts stays unsaid.
        let words = if purpose == Purpose::Probe {
            words.chars().take(MOST_WORDS).collect()
        } else {
            String::new()
        };
        match code {
            404 => self.dialect.no_model(&self.model),
            401 | 403 => ServerError::Key { server },
            429 | 503 => ServerError::Busy { server },
            413 => self.too_long(),
            501 => ServerError::NoVectors {
                model: self.model.clone(),
            },
            400 | 422 | 500 if too_long => self.too_long(),
            400 | 422 => ServerError::Refused {
                server,
                status: code,
                words,
            },
            _ => ServerError::Failed {
                server,
                status: code,
                words,
            },
        }
    }

    fn unsent(&self, error: &reqwest::Error) -> ServerError {
        if error.is_connect() {
            self.dialect.unreachable(&self.server)
        } else {
            self.broken()
        }
    }

    fn too_long(&self) -> ServerError {
        ServerError::TooLong {
            model: self.model.clone(),
        }
    }

    fn elsewhere(&self, host: String) -> ServerError {
        ServerError::Remote {
            model: self.model.clone(),
            host,
        }
    }

    fn silent(&self, pause: Duration) -> ServerError {
        ServerError::Silent {
            server: self.dialect.server(),
            pause,
        }
    }

    fn broken(&self) -> ServerError {
        ServerError::Broken {
            server: self.dialect.server(),
        }
    }

    fn strange(&self, reason: impl std::fmt::Display) -> ServerError {
        ServerError::Strange {
            server: self.dialect.server(),
            reason: reason.to_string(),
        }
    }
}
