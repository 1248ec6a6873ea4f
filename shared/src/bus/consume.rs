//! The one consume loop: pull within a limit, heartbeat, handle, then acknowledge.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::{AckKind, Message};
use async_trait::async_trait;
use futures::StreamExt as _;
use serde::de::DeserializeOwned;
use tokio::task::{JoinHandle, JoinSet};
use tracing::{Instrument as _, debug, error, info_span, warn};

use super::{Bus, BusError, Outgoing, trace};
use crate::contract::subject::Stage;
use crate::contract::{DeadLetter, DocumentId, ErrorBody, ErrorCode, Work};
use crate::service::{Drain, HealthBoard};

/// How long one pull waits for messages; also the longest a drain waits for the pull to end.
const PULL_WAIT: Duration = Duration::from_secs(1);
/// How long a drain waits for work in hand before it gives up on it.
const DRAIN_WAIT: Duration = Duration::from_secs(20);
/// Longest wait before a message is handed out again.
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// Why a message was not handled, with its retry class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It may work later: handed out again after `after`, doubled per delivery up to 30 s.
    Retry {
        /// The first wait.
        after: Duration,
        /// What happened.
        error: ErrorBody,
    },
    /// It will never work: a dead letter.
    Reject(ErrorBody),
    /// This process cannot go on: the message is given back and the loop ends.
    Stop(ErrorBody),
}

impl Failure {
    /// A rejection.
    pub fn reject(code: ErrorCode, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Reject(ErrorBody::new(code, message, remedy))
    }

    /// A retry after one second for something on our side that broke.
    pub fn retry(what: impl std::fmt::Display) -> Self {
        Self::Retry {
            after: Duration::from_secs(1),
            error: ErrorBody::new(ErrorCode::Internal, what.to_string(), "it is tried again"),
        }
    }
}

/// A stage: what is done with each message.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// What the stage's stream carries.
    type Message: DeserializeOwned + Send + 'static;

    /// The stage.
    fn stage(&self) -> Stage;

    /// Whose work a message is.
    fn work<'a>(&self, message: &'a Self::Message) -> &'a Work;

    /// Does the work. Called concurrently up to the limit. It must be idempotent: the same
    /// message may come again at any time. What it returns is published before the message is
    /// acknowledged.
    ///
    /// # Errors
    /// With the retry class; the loop does the rest.
    async fn handle(&self, message: Self::Message) -> Result<Vec<Outgoing>, Failure>;
}

/// Limits of a consume loop.
#[derive(Debug, Clone, Copy)]
pub struct ConsumeOptions {
    /// Messages handled at once, at least 1.
    pub in_flight: usize,
}

/// How a loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drained {
    /// Messages that were still in hand when the time was up; they are handed out again.
    pub given_up: usize,
    /// Whether a handler asked to stop.
    pub stopped: bool,
}

/// What becomes of a message.
pub(super) enum Verdict {
    Done,
    Again(Duration),
    Dead,
    Stop,
}

/// Gives each message its verdict.
#[async_trait]
pub(super) trait Judge: Send + Sync + 'static {
    async fn judge(&self, message: &Message) -> Verdict;
}

/// Which consumer a loop pulls from.
#[derive(Clone, Copy)]
pub(super) struct Source {
    pub stream: &'static str,
    pub durable: &'static str,
}

impl Bus {
    /// Starts the consume loop of `handler`'s stage. It runs until `drain` begins, through lost
    /// connections and lost streams.
    pub fn consume<H: Handler>(
        &self,
        handler: Arc<H>,
        options: ConsumeOptions,
        drain: &Drain,
        health: &HealthBoard,
    ) -> JoinHandle<Drained> {
        let stage = handler.stage();
        Loop {
            bus: self.clone(),
            source: Source {
                stream: stage.stream(),
                durable: stage.durable(),
            },
            judge: Arc::new(StageJudge {
                bus: self.clone(),
                handler,
            }),
            in_flight: options.in_flight,
            drain: drain.clone(),
            health: health.clone(),
        }
        .spawn()
    }
}

/// Handles one stage's messages: decode, count deliveries, handle, publish.
struct StageJudge<H> {
    bus: Bus,
    handler: Arc<H>,
}

#[async_trait]
impl<H: Handler> Judge for StageJudge<H> {
    async fn judge(&self, message: &Message) -> Verdict {
        let stage = self.handler.stage();
        let deliveries = deliveries(message);
        let Some(document) = document_of(message) else {
            error!(subject = %message.subject, "no document id in the subject, dropped");
            return Verdict::Dead;
        };
        let parsed = match serde_json::from_slice::<H::Message>(&message.payload) {
            Ok(parsed) => parsed,
            Err(error) => {
                let body = ErrorBody::new(
                    ErrorCode::BadMessage,
                    format!("a message for `{}` does not decode: {error}", stage.name()),
                    "check that all services are of the same version, then retry the document",
                );
                return self
                    .bury(
                        message,
                        DeadLetter {
                            stage,
                            document_id: document,
                            generation: None,
                            deliveries,
                            error: body,
                        },
                    )
                    .await;
            }
        };
        let generation = self.handler.work(&parsed).generation;
        let span = info_span!(
            "stage", otel.name = stage.name(), document.id = %document, attempt = deliveries
        );
        trace::adopt(&span, message.headers.as_ref());
        let letter = |error| DeadLetter {
            stage,
            document_id: document.clone(),
            generation: Some(generation),
            deliveries,
            error,
        };
        async {
            if deliveries > self.bus.settings.max_deliveries {
                let error = ErrorBody::new(
                    ErrorCode::TooManyAttempts,
                    format!(
                        "`{}` gave up after {} attempts",
                        stage.name(),
                        deliveries - 1
                    ),
                    "look for earlier errors of this document in the log, then retry it",
                );
                return self.bury(message, letter(error)).await;
            }
            match self.handle(parsed).await {
                Ok(()) => Verdict::Done,
                Err(Failure::Retry { after, error }) => {
                    warn!(code = ?error.code, message = %error.message, "will try again");
                    let doublings = u32::try_from(deliveries.clamp(1, 8) - 1).unwrap_or(0);
                    Verdict::Again((after * 2_u32.pow(doublings)).min(LONGEST_RETRY))
                }
                Err(Failure::Reject(error)) => {
                    warn!(code = ?error.code, message = %error.message, "rejected");
                    self.bury(message, letter(error)).await
                }
                Err(Failure::Stop(error)) => {
                    error!(code = ?error.code, message = %error.message, "cannot go on");
                    Verdict::Stop
                }
            }
        }
        .instrument(span)
        .await
    }
}

impl<H: Handler> StageJudge<H> {
    async fn handle(&self, parsed: H::Message) -> Result<(), Failure> {
        let outgoing = self.handler.handle(parsed).await?;
        for out in outgoing {
            self.bus.publish_work(out).await.map_err(Failure::retry)?;
        }
        Ok(())
    }

    /// Writes the dead letter, then gives the message up; when it cannot be written, the message
    /// comes again.
    async fn bury(&self, message: &Message, letter: DeadLetter) -> Verdict {
        let id = format!("{}/{}", message.subject, sequence(message));
        let written = match Outgoing::dead_letter(&letter, &id) {
            Ok(out) => self.bus.publish_work(out).await,
            Err(error) => Err(error),
        };
        match written {
            Ok(()) => Verdict::Dead,
            Err(error) => {
                error!(%error, "could not write a dead letter");
                Verdict::Again(Duration::from_secs(2))
            }
        }
    }
}

fn deliveries(message: &Message) -> u64 {
    message
        .info()
        .ok()
        .and_then(|info| u64::try_from(info.delivered).ok())
        .unwrap_or(1)
}

fn sequence(message: &Message) -> u64 {
    message
        .info()
        .map(|info| info.stream_sequence)
        .unwrap_or_default()
}

fn document_of(message: &Message) -> Option<DocumentId> {
    message.subject.as_str().rsplit('.').next()?.parse().ok()
}

/// A running consume loop.
pub(super) struct Loop<J> {
    pub bus: Bus,
    pub source: Source,
    pub judge: Arc<J>,
    pub in_flight: usize,
    pub drain: Drain,
    pub health: HealthBoard,
}

impl<J: Judge> Loop<J> {
    /// Starts it: pulls and handles until the drain begins.
    pub(super) fn spawn(self) -> JoinHandle<Drained> {
        tokio::spawn(self.run())
    }

    async fn run(self) -> Drained {
        let stop = Drain::new();
        let mut tasks = JoinSet::new();
        while !self.drain.is_draining() && !stop.is_draining() {
            if let Err(error) = self.pull(&mut tasks, &stop).await {
                warn!(%error, stream = self.source.stream, "cannot pull work, trying again");
                tokio::select! {
                    () = self.drain.begun() => {}
                    () = tokio::time::sleep(Duration::from_millis(500)) => {}
                }
            }
        }
        let finish = async { while tasks.join_next().await.is_some() {} };
        let late = tokio::time::timeout(DRAIN_WAIT, finish).await.is_err();
        let given_up = if late { tasks.len() } else { 0 };
        tasks.abort_all();
        Drained {
            given_up,
            stopped: stop.is_draining(),
        }
    }

    /// Makes sure of the consumer, then pulls until an error or the drain.
    async fn pull(&self, tasks: &mut JoinSet<()>, stop: &Drain) -> Result<(), BusError> {
        let consumer = self
            .bus
            .consumer(self.source.stream, self.source.durable)
            .await?;
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| BusError::Stream {
            name: self.source.durable.to_owned(),
            source,
        };
        while !self.drain.is_draining() && !stop.is_draining() {
            let Some(room) = self.room(tasks).await else {
                return Ok(());
            };
            let mut batch = consumer
                .batch()
                .max_messages(room)
                .expires(PULL_WAIT)
                .messages()
                .await
                .map_err(|e| failed(e.into()))?;
            while let Some(message) = batch.next().await {
                let message = message.map_err(failed)?;
                if self.drain.is_draining() {
                    acknowledge(&message, AckKind::Nak(None)).await;
                } else {
                    self.take(message, tasks, stop);
                }
            }
        }
        Ok(())
    }

    /// Waits until fewer messages than the limit are in hand and tells how many more may be;
    /// `None` when the drain begins first.
    async fn room(&self, tasks: &mut JoinSet<()>) -> Option<usize> {
        while tasks.try_join_next().is_some() {}
        let limit = self.in_flight.max(1);
        while tasks.len() >= limit {
            tokio::select! {
                _ = tasks.join_next() => {}
                () = self.drain.begun() => return None,
            }
        }
        Some(limit - tasks.len())
    }

    fn take(&self, message: Message, tasks: &mut JoinSet<()>, stop: &Drain) {
        let (judge, guard, stop) = (Arc::clone(&self.judge), self.health.in_hand(), stop.clone());
        let heartbeat = Duration::from_secs(self.bus.settings.ack_wait_secs.max(3)) / 3;
        tasks.spawn(async move {
            let _in_hand = guard;
            settle(&message, judge.as_ref(), heartbeat, &stop).await;
        });
    }
}

/// Judges one message under heartbeats and acknowledges accordingly.
async fn settle<J: Judge>(message: &Message, judge: &J, heartbeat: Duration, stop: &Drain) {
    let verdict = {
        let work = std::panic::AssertUnwindSafe(judge.judge(message));
        let work = futures::FutureExt::catch_unwind(work);
        tokio::pin!(work);
        loop {
            tokio::select! {
                verdict = &mut work => break verdict,
                () = tokio::time::sleep(heartbeat) => {
                    acknowledge(message, AckKind::Progress).await;
                }
            }
        }
    };
    let kind = match verdict {
        Ok(Verdict::Done) => AckKind::Ack,
        Ok(Verdict::Again(after)) => AckKind::Nak(Some(after)),
        Ok(Verdict::Dead) => AckKind::Term,
        Ok(Verdict::Stop) => {
            stop.begin();
            AckKind::Nak(Some(Duration::from_secs(1)))
        }
        Err(_panic) => {
            error!(subject = %message.subject, "a handler panicked, the message is tried again");
            AckKind::Nak(Some(Duration::from_secs(1)))
        }
    };
    acknowledge(message, kind).await;
}

async fn acknowledge(message: &Message, kind: AckKind) {
    if let Err(error) = message.ack_with(kind).await {
        debug!(%error, "an acknowledgement was lost, the message comes again");
    }
}
