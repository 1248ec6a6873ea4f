//! Answering requests, at most so many at once.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use async_nats::{HeaderMap, Message, Subject};
use futures::StreamExt as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tracing::{Instrument as _, debug, field, info_span, warn};

use super::{Bus, BusError, trace};
use crate::contract::{ErrorBody, ErrorCode, Reply};
use crate::metrics::{self, ReplyClock, ReplyOutcome};
use crate::service::Drain;

/// How often a streaming responder says that it is still at work.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// The header of such a message; its payload means nothing.
pub(super) const ALIVE: &str = "Ibid-Alive";

/// Where a caller says that it no longer listens to the stream sent to `inbox`.
pub(super) fn stop_subject(inbox: &str) -> String {
    format!("{inbox}.stop")
}

/// Where a streaming responder puts its events.
pub struct EventSink<E> {
    client: async_nats::Client,
    reply: Subject,
    events: PhantomData<fn(E)>,
}

impl<E: Serialize> EventSink<E> {
    /// Sends one event; `false` when it could not be sent and the rest need not be made.
    pub fn send(&self, event: E) -> impl Future<Output = bool> + Send + use<E> {
        publish(&self.client, &self.reply, &Reply::Ok(event))
    }
}

impl Bus {
    /// Answers requests on `subject`, shared with all instances of `queue`, until `drain` begins.
    /// Requests beyond `limit` at once are refused as busy.
    ///
    /// # Errors
    /// When the bus refuses the subscription.
    pub async fn respond<Q, A, F, Fut>(
        &self,
        (subject, queue): (&'static str, &str),
        limit: usize,
        drain: &Drain,
        handler: F,
    ) -> Result<JoinHandle<()>, BusError>
    where
        Q: DeserializeOwned + Send + 'static,
        A: Serialize + Send + 'static,
        F: Fn(Q) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, ErrorBody>> + Send + 'static,
    {
        let client = self.client.clone();
        let handler = Arc::new(handler);
        self.serve((subject, queue), limit, drain, move |request: Q, reply| {
            let (client, handler) = (client.clone(), Arc::clone(&handler));
            async move {
                let clock = ReplyClock::start(subject);
                let answer = handler(request).await;
                let outcome = match &answer {
                    Ok(_) => ReplyOutcome::Ok,
                    Err(_) => ReplyOutcome::Error,
                };
                let sent = publish(&client, &reply, &Reply::from(answer));
                sent.await;
                clock.end(outcome);
            }
        })
        .await
    }

    /// As [`Bus::respond`], for answers that are a stream of events. The end is told by an empty
    /// message when the handler returns; until then the caller hears every two seconds that the
    /// handler is at work. When the caller stops listening, the handler is dropped.
    ///
    /// # Errors
    /// When the bus refuses the subscription.
    pub async fn respond_stream<Q, E, F, Fut>(
        &self,
        (subject, queue): (&'static str, &str),
        limit: usize,
        drain: &Drain,
        handler: F,
    ) -> Result<JoinHandle<()>, BusError>
    where
        Q: DeserializeOwned + Send + 'static,
        E: Serialize + Send + 'static,
        F: Fn(Q, EventSink<E>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let client = self.client.clone();
        let handler = Arc::new(handler);
        self.serve(
            (subject, queue),
            limit,
            drain,
            move |request: Q, reply: Subject| {
                let (client, handler) = (client.clone(), Arc::clone(&handler));
                async move {
                    let clock = ReplyClock::start(subject);
                    let sink = EventSink {
                        client: client.clone(),
                        reply: reply.clone(),
                        events: PhantomData,
                    };
                    // The subscription comes first: what is said before it is not heard.
                    let stop = client.subscribe(stop_subject(&reply)).await;
                    let work = handler(request, sink);
                    if !attended(&client, &reply, stop.ok(), work).await {
                        debug!("the caller stopped listening");
                        clock.end(ReplyOutcome::Left);
                        return;
                    }
                    clock.end(ReplyOutcome::Ok);
                    if let Err(error) = client.publish(reply, Vec::new().into()).await {
                        debug!(%error, "the end of a stream was not told");
                    }
                }
            },
        )
        .await
    }

    async fn serve<Q, F, Fut>(
        &self,
        (subject, queue): (&'static str, &str),
        limit: usize,
        drain: &Drain,
        handler: F,
    ) -> Result<JoinHandle<()>, BusError>
    where
        Q: DeserializeOwned + Send + 'static,
        F: Fn(Q, Subject) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let mut requests = self
            .client
            .queue_subscribe(subject, queue.to_owned())
            .await
            .map_err(|error| BusError::Subscribe {
                subject: subject.to_owned(),
                source: error.into(),
            })?;
        let responder = Responder {
            subject,
            client: self.client.clone(),
            permits: Arc::new(Semaphore::new(limit.max(1))),
            handler,
        };
        let drain = drain.clone();
        Ok(tokio::spawn(async move {
            let mut tasks = JoinSet::new();
            while let Some(message) = tokio::select! {
                message = requests.next() => message,
                () = drain.begun() => None,
            } {
                while tasks.try_join_next().is_some() {}
                responder.take(&message, &mut tasks).await;
            }
            if let Err(error) = requests.unsubscribe().await {
                debug!(%error, subject, "could not unsubscribe");
            }
            while tasks.join_next().await.is_some() {}
        }))
    }
}

/// Runs `work` with heartbeats to `reply`; `false` when the caller stopped it.
async fn attended(
    client: &async_nats::Client,
    reply: &Subject,
    mut stop: Option<async_nats::Subscriber>,
    work: impl Future<Output = ()>,
) -> bool {
    let mut work = std::pin::pin!(work);
    let mut beat = tokio::time::interval(HEARTBEAT);
    beat.reset();
    loop {
        let stopped = async {
            match &mut stop {
                Some(stop) => stop.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = &mut work => return true,
            Some(_) = stopped => return false,
            _ = beat.tick() => {
                let mut headers = HeaderMap::new();
                headers.insert(ALIVE, "1");
                let sent = client.publish_with_headers(reply.clone(), headers, "-".into());
                if let Err(error) = sent.await {
                    debug!(%error, "a heartbeat was not sent");
                }
            }
        }
    }
}

/// Takes requests on one subject, or refuses them.
struct Responder<F> {
    subject: &'static str,
    client: async_nats::Client,
    permits: Arc<Semaphore>,
    handler: F,
}

impl<F> Responder<F> {
    async fn take<Q, Fut>(&self, message: &Message, tasks: &mut JoinSet<()>)
    where
        Q: DeserializeOwned,
        F: Fn(Q, Subject) -> Fut,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let Some(reply) = message.reply.clone() else {
            return;
        };
        let taken = match Arc::clone(&self.permits).try_acquire_owned() {
            Err(_full) => Err(busy(self.subject)),
            Ok(permit) => decode(self.subject, message).map(|request| (permit, request)),
        };
        match taken {
            Ok((permit, request)) => {
                let span = info_span!(
                    "answer",
                    otel.name = self.subject,
                    otel.kind = "server",
                    outcome = field::Empty
                );
                trace::adopt(&span, message.headers.as_ref());
                let work = (self.handler)(request, reply).instrument(span);
                tasks.spawn(async move {
                    work.await;
                    drop(permit);
                });
            }
            Err(refusal) => {
                metrics::refused(self.subject, refusal.code);
                publish(&self.client, &reply, &Reply::<()>::Error(refusal)).await;
            }
        }
    }
}

fn decode<Q: DeserializeOwned>(subject: &str, message: &Message) -> Result<Q, ErrorBody> {
    let payload: &[u8] = if message.payload.is_empty() {
        b"null"
    } else {
        &message.payload
    };
    serde_json::from_slice(payload).map_err(|error| {
        ErrorBody::new(
            ErrorCode::BadRequest,
            format!("a request on `{subject}` does not decode: {error}"),
            "see docs/contracts.md for the request's shape",
        )
    })
}

fn busy(subject: &str) -> ErrorBody {
    ErrorBody::new(
        ErrorCode::Busy,
        format!("`{subject}` has all the requests it can work on"),
        "try again in a moment",
    )
}

/// Sends `answer`; an answer too large for the bus becomes an error that says so. Encoding is done
/// when called, sending when awaited.
fn publish<A: Serialize>(
    client: &async_nats::Client,
    reply: &Subject,
    answer: &Reply<A>,
) -> impl Future<Output = bool> + Send + use<A> {
    let payload = serde_json::to_vec(answer).unwrap_or_default();
    let payload = if payload.is_empty() || payload.len() > client.max_payload() {
        warn!(bytes = payload.len(), "an answer does not fit the bus");
        let error = ErrorBody::new(
            ErrorCode::TooLarge,
            "the answer is larger than one message may be",
            "ask for less at once",
        );
        serde_json::to_vec(&Reply::<()>::Error(error)).unwrap_or_default()
    } else {
        payload
    };
    let (client, reply) = (client.clone(), reply.clone());
    async move {
        client
            .publish(reply, payload.into())
            .await
            .inspect_err(|error| debug!(%error, "an answer was not sent"))
            .is_ok()
    }
}
