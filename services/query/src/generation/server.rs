//! One model server: requests with deadlines, bounded bodies, and errors that name it.

use std::time::Duration;

use bytes::BytesMut;
use futures::StreamExt as _;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use shared::http::{HttpError, HttpServer};
use shared::settings::Network;

use super::GenerateError;
use super::words;

/// A list of models or what is known of one: a server that runs knows it at once.
const REPLY_WITHIN: Duration = Duration::from_secs(5);
/// `/api/show` of a model with thousands of tensors has about 1 MiB.
const REPLY_BYTES: usize = 16 << 20;

/// A model server.
#[derive(Debug, Clone)]
pub(super) struct Server {
    http: HttpServer,
    /// What people call it.
    pub(super) name: &'static str,
    /// How to start it.
    start: &'static str,
    /// What it asks for, if it may ask for a key; empty when none is set.
    key: Option<String>,
}

/// A whole reply.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
}

impl Server {
    /// The server at `url`, which stands in `setting`.
    pub(super) fn new(
        (setting, url): (&'static str, &str),
        network: &Network,
        (name, start): (&'static str, &'static str),
    ) -> Result<Self, HttpError> {
        Ok(Self {
            http: HttpServer::new(setting, url, network)?,
            name,
            start,
            key: None,
        })
    }

    /// Sends `key` with each request; none when empty.
    pub(super) fn with_key(self, key: &str) -> Self {
        let key = Some(key.trim().to_owned());
        Self { key, ..self }
    }

    /// A request for `path`.
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, path);
        match &self.key {
            Some(key) if !key.is_empty() => request.bearer_auth(key),
            _none => request,
        }
    }

    /// The head of the response to `request`. It has no deadline but for connecting.
    pub(super) async fn open(&self, request: RequestBuilder) -> Result<Response, GenerateError> {
        request.send().await.map_err(|error| {
            if error.is_connect() || error.is_timeout() {
                self.unreachable(self.start.to_owned())
            } else {
                self.broken()
            }
        })
    }

    /// The whole response to a request that is answered at once.
    pub(super) async fn ask(&self, request: RequestBuilder) -> Result<Reply, GenerateError> {
        let asking = async { self.whole(self.open(request).await?).await };
        match tokio::time::timeout(REPLY_WITHIN, asking).await {
            Ok(reply) => reply,
            Err(_late) => Err(self.unreachable(format!(
                "it accepts connections but did not answer within {} s; start it again",
                REPLY_WITHIN.as_secs()
            ))),
        }
    }

    /// All of `response`.
    pub(super) async fn whole(&self, response: Response) -> Result<Reply, GenerateError> {
        let status = response.status();
        let mut body = BytesMut::new();
        let mut bytes = response.bytes_stream();
        while let Some(more) = bytes.next().await {
            let more = more.map_err(|_cut| self.broken())?;
            if body.len() + more.len() > REPLY_BYTES {
                return Err(self.strange("it is too long"));
            }
            body.extend_from_slice(&more);
        }
        let body = body.to_vec();
        Ok(Reply { status, body })
    }

    /// The value in a reply that is a success.
    pub(super) fn read<T: DeserializeOwned>(&self, reply: &Reply) -> Result<T, GenerateError> {
        if !reply.status.is_success() {
            return Err(self.refusal(reply, &words::Sent::default()));
        }
        serde_json::from_slice(&reply.body).map_err(|error| {
            // What serde says may quote the value; where it is says enough.
            self.strange(&format!(
                "it is not the JSON that is documented (line {}, column {})",
                error.line(),
                error.column()
            ))
        })
    }

    /// A reply that is no success, for which no model need be named.
    pub(super) fn refusal(&self, reply: &Reply, sent: &words::Sent) -> GenerateError {
        match reply.status {
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
                GenerateError::Busy { server: self.name }
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if self.key.is_some() => {
                GenerateError::Key { server: self.name }
            }
            status => {
                let words = sent.shown(&words::of_body(&reply.body));
                let message = if words.is_empty() {
                    format!("HTTP status {}", status.as_u16())
                } else {
                    words
                };
                self.said(message)
            }
        }
    }

    pub(super) fn said(&self, message: String) -> GenerateError {
        GenerateError::Said {
            server: self.name,
            message,
        }
    }

    pub(super) fn strange(&self, reason: &str) -> GenerateError {
        GenerateError::Strange {
            server: self.name,
            reason: reason.to_owned(),
        }
    }

    pub(super) fn broken(&self) -> GenerateError {
        GenerateError::BrokeOff { server: self.name }
    }

    fn unreachable(&self, remedy: String) -> GenerateError {
        GenerateError::Unreachable {
            server: self.name,
            url: self.http.url().to_owned(),
            remedy,
        }
    }
}
