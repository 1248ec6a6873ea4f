//! Asking another service, within a deadline.

use std::time::Duration;

use async_nats::{HeaderMap, RequestErrorKind};
use bytes::Bytes;
use futures::{Stream, StreamExt as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::warn;

use super::respond::{ALIVE, stop_subject};
use super::{Bus, trace};
use crate::contract::subject::progress;
use crate::contract::{ErrorBody, ErrorCode, Reply, StageProgress};
use crate::metrics;

impl Bus {
    /// Asks on `subject` and waits for the one reply.
    ///
    /// # Errors
    /// What the service answered; [`ErrorCode::Unavailable`] when none listens,
    /// [`ErrorCode::Deadline`] when the time is up.
    pub async fn call<Q: Serialize, A: DeserializeOwned>(
        &self,
        subject: &str,
        request: &Q,
        deadline: Duration,
    ) -> Result<A, ErrorBody> {
        let payload = encode(subject, request)?;
        let mut headers = HeaderMap::new();
        trace::inject(&mut headers);
        let request = async_nats::Request::new()
            .payload(payload)
            .headers(headers)
            .timeout(Some(deadline));
        match self.client.send_request(subject.to_owned(), request).await {
            Ok(message) => decode(subject, &message.payload)?,
            Err(error) => Err(match error.kind() {
                RequestErrorKind::NoResponders => no_one(subject),
                RequestErrorKind::TimedOut => too_late(subject, deadline),
                _ => ErrorBody::new(
                    ErrorCode::Unavailable,
                    format!("`{subject}` could not be asked: {error}"),
                    "check with `ibid status` that the services run, then ask again",
                ),
            }),
        }
    }

    /// Asks on `subject` for a stream of events, which the peer ends. Dropping the stream ends the
    /// peer's work.
    ///
    /// # Errors
    /// As [`Bus::call`]; within the stream, an error is the last item. `pause` is the longest
    /// allowed without an event or a sign of life, never the whole time.
    pub async fn call_stream<Q: Serialize, E: DeserializeOwned + Send + 'static>(
        &self,
        subject: &str,
        request: &Q,
        pause: Duration,
    ) -> Result<impl Stream<Item = Result<E, ErrorBody>> + Send + use<Q, E>, ErrorBody> {
        let payload = encode(subject, request)?;
        let unavailable = |error: &dyn std::fmt::Display| {
            ErrorBody::new(
                ErrorCode::Unavailable,
                format!("`{subject}` could not be asked: {error}"),
                "check with `ibid status` that the services run, then ask again",
            )
        };
        let inbox = self.client.new_inbox();
        let events = self
            .client
            .subscribe(inbox.clone())
            .await
            .map_err(|e| unavailable(&e))?;
        let mut headers = HeaderMap::new();
        trace::inject(&mut headers);
        self.client
            .publish_with_reply_and_headers(subject.to_owned(), inbox.clone(), headers, payload)
            .await
            .map_err(|e| unavailable(&e))?;
        let listening = Listening {
            subject: subject.to_owned(),
            events,
            pause,
            stop: Some(Stop {
                client: self.client.clone(),
                subject: stop_subject(&inbox),
            }),
        };
        Ok(futures::stream::unfold(
            Some(listening),
            async |listening| {
                let mut listening = listening?;
                let event = listening.next().await?;
                let open = event.is_ok().then_some(listening);
                Some((event, open))
            },
        ))
    }

    /// Tells whoever listens how far a document has come; may be lost.
    pub async fn progress(&self, event: &StageProgress) {
        metrics::made(event.stage, event.pages, event.chunks);
        let subject = progress(&event.document_id);
        match serde_json::to_vec(event) {
            Ok(payload) => {
                if let Err(error) = self.client.publish(subject, payload.into()).await {
                    warn!(%error, "progress was not told");
                }
            }
            Err(error) => warn!(%error, "progress does not encode"),
        }
    }
}

/// The caller's end of a stream of events.
struct Listening {
    subject: String,
    events: async_nats::Subscriber,
    pause: Duration,
    /// While the peer is at work.
    stop: Option<Stop>,
}

impl Listening {
    /// The next event, heartbeats left out; `None` when the peer has ended the stream.
    async fn next<E: DeserializeOwned>(&mut self) -> Option<Result<E, ErrorBody>> {
        loop {
            let message = match tokio::time::timeout(self.pause, self.events.next()).await {
                Err(_elapsed) => return Some(Err(too_late(&self.subject, self.pause))),
                Ok(None) => return Some(Err(no_one(&self.subject))),
                Ok(Some(message)) => message,
            };
            if message.status == Some(async_nats::StatusCode::NO_RESPONDERS) {
                self.end();
                return Some(Err(no_one(&self.subject)));
            }
            if message.payload.is_empty() {
                self.end();
                return None;
            }
            let headers = message.headers.as_ref();
            if headers.is_some_and(|headers| headers.get(ALIVE).is_some()) {
                continue;
            }
            return Some(match decode(&self.subject, &message.payload) {
                Ok(Ok(event)) => Ok(event),
                Ok(Err(error)) | Err(error) => Err(error),
            });
        }
    }

    /// The peer has nothing more to do.
    fn end(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop.forget();
        }
    }
}

/// Tells the peer, when dropped, that nobody listens any more.
struct Stop {
    client: async_nats::Client,
    subject: String,
}

impl Stop {
    fn forget(mut self) {
        self.subject.clear();
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        if self.subject.is_empty() {
            return;
        }
        let (client, subject) = (self.client.clone(), std::mem::take(&mut self.subject));
        // Without a runtime the process is ending, and the peer's stream with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = client.publish(subject, "-".into()).await {
                    warn!(%error, "a peer was not told to stop");
                }
            });
        }
    }
}

fn encode<Q: Serialize>(subject: &str, request: &Q) -> Result<Bytes, ErrorBody> {
    serde_json::to_vec(request)
        .map(Bytes::from)
        .map_err(|error| {
            ErrorBody::new(
                ErrorCode::Internal,
                format!("a request for `{subject}` does not encode: {error}"),
                "report this with the log",
            )
        })
}

/// The outer result is about the bytes, the inner one is the peer's.
fn decode<A: DeserializeOwned>(
    subject: &str,
    payload: &[u8],
) -> Result<Result<A, ErrorBody>, ErrorBody> {
    serde_json::from_slice::<Reply<A>>(payload)
        .map(Into::into)
        .map_err(|error| {
            ErrorBody::new(
                ErrorCode::BadMessage,
                format!("the reply of `{subject}` does not decode: {error}"),
                "check that all services are of the same version",
            )
        })
}

fn no_one(subject: &str) -> ErrorBody {
    ErrorBody::new(
        ErrorCode::Unavailable,
        format!("no service answers on `{subject}`"),
        "wait a moment for it to start, or look at `ibid status`",
    )
}

fn too_late(subject: &str, deadline: Duration) -> ErrorBody {
    ErrorBody::new(
        ErrorCode::Deadline,
        format!(
            "`{subject}` did not answer within {} ms",
            deadline.as_millis()
        ),
        "try again; `ibid status` shows how busy the services are",
    )
}
