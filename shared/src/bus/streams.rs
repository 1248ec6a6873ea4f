//! The streams: one per stage, so that a full stage never blocks the one that empties it.

use std::collections::HashSet;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};
use futures::TryStreamExt as _;

use super::{Bus, BusError};
use crate::contract::DocumentId;
use crate::contract::subject::{DEAD_LETTER_FILTER, DEAD_LETTER_STREAM, Stage};

/// Bounds of one stage's stream. The feeder keeps far less in flight; a stream that reaches them
/// refuses, and the publisher's own message is handed out again later.
const MAX_MESSAGES: i64 = 100_000;
const MAX_BYTES: i64 = 2 << 30;

/// How much of a stage's work waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueDepth {
    /// The stage.
    pub stage: Stage,
    /// Messages that no instance has been given yet.
    pub waiting: u64,
    /// Messages that instances have in hand, or that wait to be tried again.
    pub in_hand: u64,
    /// Those of them that were handed out more than once.
    pub repeated: u64,
}

impl Bus {
    /// Makes the streams that are not there yet. Any service may call it, any number of times.
    ///
    /// # Errors
    /// When the server does not answer or refuses.
    pub async fn ensure_streams(&self) -> Result<(), BusError> {
        for stage in Stage::ALL {
            self.ensure_stream(stage.stream(), stage.filter()).await?;
        }
        self.ensure_stream(DEAD_LETTER_STREAM, DEAD_LETTER_FILTER.to_owned())
            .await
    }

    async fn ensure_stream(&self, name: &str, filter: String) -> Result<(), BusError> {
        let config = Config {
            name: name.to_owned(),
            subjects: vec![filter],
            retention: RetentionPolicy::WorkQueue,
            storage: StorageType::File,
            discard: DiscardPolicy::New,
            max_messages: MAX_MESSAGES,
            max_bytes: MAX_BYTES,
            duplicate_window: Duration::from_mins(2),
            num_replicas: 1,
            ..Config::default()
        };
        self.jetstream
            .get_or_create_stream(config)
            .await
            .map(|_| ())
            .map_err(|error| failed(name, error))
    }

    /// Removes what the streams still hold of a document, dead letters included.
    ///
    /// # Errors
    /// When a stream cannot be reached.
    pub async fn purge_document(&self, id: &DocumentId) -> Result<(), BusError> {
        for stage in Stage::ALL {
            self.purge(stage.stream(), stage.subject(id)).await?;
            let letters = crate::contract::subject::dead_letter(stage, id);
            self.purge(DEAD_LETTER_STREAM, letters).await?;
        }
        Ok(())
    }

    async fn purge(&self, name: &str, filter: String) -> Result<(), BusError> {
        let stream = self
            .jetstream
            .get_stream_no_info(name)
            .await
            .map_err(|error| failed(name, error))?;
        stream
            .purge()
            .filter(filter)
            .await
            .map(|_| ())
            .map_err(|error| failed(name, error))
    }

    /// Messages that wait in a stage's stream, handed out ones included.
    ///
    /// # Errors
    /// When the stream cannot be reached.
    pub async fn waiting(&self, stage: Stage) -> Result<u64, BusError> {
        let name = stage.stream();
        let stream = self
            .jetstream
            .get_stream(name)
            .await
            .map_err(|error| failed(name, error))?;
        Ok(stream.cached_info().state.messages)
    }

    /// The documents of which a stage's stream holds work, that in hand included.
    ///
    /// # Errors
    /// When the stream cannot be reached.
    pub async fn held(&self, stage: Stage) -> Result<HashSet<DocumentId>, BusError> {
        let name = stage.stream();
        let stream = self
            .jetstream
            .get_stream_no_info(name)
            .await
            .map_err(|error| failed(name, error))?;
        let mut subjects = stream
            .info_with_subjects(stage.filter())
            .await
            .map_err(|error| failed(name, error))?;
        let mut held = HashSet::new();
        while let Some((subject, _)) = subjects
            .try_next()
            .await
            .map_err(|error| failed(name, error))?
        {
            held.extend(subject.rsplit('.').next().and_then(|id| id.parse().ok()));
        }
        Ok(held)
    }

    /// How much of each stage's work waits; without the stages that no instance has served yet,
    /// or that cannot be asked.
    pub async fn queue_depths(&self) -> Vec<QueueDepth> {
        let asked = Stage::ALL.map(|stage| async move {
            let stream = self.jetstream.get_stream_no_info(stage.stream()).await;
            let info = stream.ok()?.consumer_info(stage.durable()).await.ok()?;
            let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
            Some(QueueDepth {
                stage,
                waiting: info.num_pending,
                in_hand: count(info.num_ack_pending),
                repeated: count(info.num_redelivered),
            })
        });
        futures::future::join_all(asked)
            .await
            .into_iter()
            .flatten()
            .collect()
    }

    /// The durable consumer that a stage's instances share.
    pub(super) async fn consumer(
        &self,
        stream: &str,
        durable: &str,
    ) -> Result<PullConsumer, BusError> {
        self.ensure_streams().await?;
        let config = pull::Config {
            durable_name: Some(durable.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: Duration::from_secs(self.settings.ack_wait_secs),
            // The consume loop counts deliveries itself and writes the dead letter before the
            // work is tried again; a limit here would leave the message stuck in the stream.
            max_deliver: -1,
            max_ack_pending: 4096,
            ..pull::Config::default()
        };
        self.jetstream
            .get_stream_no_info(stream)
            .await
            .map_err(|e| BusError::Stream {
                name: stream.to_owned(),
                source: e.into(),
            })?
            .get_or_create_consumer(durable, config)
            .await
            .map_err(|e| BusError::Stream {
                name: durable.to_owned(),
                source: e.into(),
            })
    }
}

fn failed(name: &str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> BusError {
    BusError::Stream {
        name: name.to_owned(),
        source: source.into(),
    }
}
