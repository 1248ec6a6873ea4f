//! What a stage does with a message: decode, count deliveries, handle, publish, or bury.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::Message;
use async_trait::async_trait;
use serde::de::DeserializeOwned;
use tokio::task::JoinHandle;
use tracing::{Instrument as _, Span, error, field, info_span, warn};

use super::pull::{Drained, Judge, Loop, Source, Verdict};
use super::{Bus, Outgoing, trace};
use crate::contract::subject::Stage;
use crate::contract::{DeadLetter, DocumentId, ErrorBody, ErrorCode, Work};
use crate::metrics::{self, FailureClass, WorkClock, WorkOutcome};
use crate::service::{Drain, HealthBoard};

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
        let clock = WorkClock::start(self.handler.stage());
        let verdict = self.decide(message).await;
        clock.end(outcome(&verdict));
        verdict
    }
}

impl<H: Handler> StageJudge<H> {
    async fn decide(&self, message: &Message) -> Verdict {
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
            "stage",
            otel.name = stage.name(),
            otel.kind = "consumer",
            document.id = %document,
            attempt = deliveries,
            outcome = field::Empty
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
            let verdict = if deliveries > self.bus.settings.max_deliveries {
                let error = ErrorBody::new(
                    ErrorCode::TooManyAttempts,
                    format!(
                        "`{}` gave up after {} attempts",
                        stage.name(),
                        deliveries - 1
                    ),
                    "look for earlier errors of this document in the log, then retry it",
                );
                self.bury(message, letter(error)).await
            } else {
                match self.handle(parsed).await {
                    Ok(()) => Verdict::Done,
                    Err(failure) => self.after(failure, message, letter).await,
                }
            };
            Span::current().record("outcome", outcome(&verdict).name());
            verdict
        }
        .instrument(span)
        .await
    }

    /// What a failure leads to.
    async fn after(
        &self,
        failure: Failure,
        message: &Message,
        letter: impl FnOnce(ErrorBody) -> DeadLetter,
    ) -> Verdict {
        let stage = self.handler.stage();
        match failure {
            Failure::Retry { after, error } => {
                metrics::failed(stage, FailureClass::Retry, error.code);
                warn!(code = ?error.code, message = %error.message, "will try again");
                let doublings = u32::try_from(deliveries(message).clamp(1, 8) - 1).unwrap_or(0);
                Verdict::Again((after * 2_u32.pow(doublings)).min(LONGEST_RETRY))
            }
            Failure::Reject(error) => {
                metrics::failed(stage, FailureClass::Reject, error.code);
                warn!(code = ?error.code, message = %error.message, "rejected");
                self.bury(message, letter(error)).await
            }
            Failure::Stop(error) => {
                metrics::failed(stage, FailureClass::Stop, error.code);
                error!(code = ?error.code, message = %error.message, "cannot go on");
                Verdict::Stop
            }
        }
    }

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
        let (stage, code) = (letter.stage, letter.error.code);
        let written = match Outgoing::dead_letter(&letter, &id) {
            Ok(out) => self.bus.publish_work(out).await,
            Err(error) => Err(error),
        };
        match written {
            Ok(()) => {
                metrics::buried(stage, code);
                Verdict::Dead
            }
            Err(error) => {
                error!(%error, "could not write a dead letter");
                Verdict::Again(Duration::from_secs(2))
            }
        }
    }
}

fn outcome(verdict: &Verdict) -> WorkOutcome {
    match verdict {
        Verdict::Done => WorkOutcome::Done,
        Verdict::Again(_) => WorkOutcome::Again,
        Verdict::Dead => WorkOutcome::Dead,
        Verdict::Stop => WorkOutcome::Stop,
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
