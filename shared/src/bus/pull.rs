//! The one consume loop: pull within a limit, heartbeat while working, then acknowledge.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::{AckKind, Message};
use async_trait::async_trait;
use futures::StreamExt as _;
use tokio::task::{JoinHandle, JoinSet};
use tracing::{debug, error, warn};

use super::{Bus, BusError};
use crate::service::{Drain, HealthBoard};

/// How long one pull waits for messages; also the longest a drain waits for the pull to end.
const PULL_WAIT: Duration = Duration::from_secs(1);
/// How long a drain waits for work in hand before it gives up on it.
const DRAIN_WAIT: Duration = Duration::from_secs(20);

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
