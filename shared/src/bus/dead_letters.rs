//! Hearing of work that was given up.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::Message;
use async_trait::async_trait;
use tokio::task::JoinHandle;
use tracing::{Instrument as _, error, info_span};

use super::pull::{Drained, Judge, Loop, Source, Verdict};
use super::{Bus, Failure, trace};
use crate::contract::DeadLetter;
use crate::contract::subject::{DEAD_LETTER_DURABLE, DEAD_LETTER_STREAM};
use crate::service::{Drain, HealthBoard};

/// Takes note of dead letters. Must be idempotent.
#[async_trait]
pub trait DeadLetterHandler: Send + Sync + 'static {
    /// Makes the note durable.
    ///
    /// # Errors
    /// Any failure brings the letter again.
    async fn note(&self, letter: DeadLetter) -> Result<(), Failure>;
}

struct Coroner<H>(Arc<H>);

#[async_trait]
impl<H: DeadLetterHandler> Judge for Coroner<H> {
    async fn judge(&self, message: &Message) -> Verdict {
        match serde_json::from_slice::<DeadLetter>(&message.payload) {
            Ok(letter) => {
                let span = info_span!(
                    "dead_letter",
                    otel.kind = "consumer",
                    document.id = %letter.document_id,
                    code = ?letter.error.code
                );
                trace::adopt(&span, message.headers.as_ref());
                match self.0.note(letter).instrument(span).await {
                    Ok(()) => Verdict::Done,
                    Err(Failure::Stop(_)) => Verdict::Stop,
                    Err(Failure::Retry { .. } | Failure::Reject(_)) => {
                        Verdict::Again(Duration::from_secs(1))
                    }
                }
            }
            Err(error) => {
                error!(subject = %message.subject, %error, "a dead letter does not decode");
                Verdict::Dead
            }
        }
    }
}

impl Bus {
    /// Starts the loop over dead letters, one at a time, until `drain` begins.
    pub fn consume_dead_letters<H: DeadLetterHandler>(
        &self,
        handler: Arc<H>,
        drain: &Drain,
        health: &HealthBoard,
    ) -> JoinHandle<Drained> {
        Loop {
            bus: self.clone(),
            source: Source {
                stream: DEAD_LETTER_STREAM,
                durable: DEAD_LETTER_DURABLE,
            },
            judge: Arc::new(Coroner(handler)),
            in_flight: 1,
            drain: drain.clone(),
            health: health.clone(),
        }
        .spawn()
    }
}
