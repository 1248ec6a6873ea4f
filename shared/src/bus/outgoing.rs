//! Messages to a stage's stream.

use async_nats::HeaderMap;
use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;
use serde::Serialize;

use super::{Bus, BusError, trace};
use crate::contract::subject::{self, Stage};
use crate::contract::{Batch, DeadLetter, Sha256Hex, Work};

/// A message on its way to a stream, with the id that lets the server drop a repeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    subject: String,
    id: String,
    payload: Bytes,
}

impl Outgoing {
    /// `message` for `stage`.
    ///
    /// Its id is the hash of stage, document, generation, batch and attempt: the same work
    /// published twice within two minutes is stored once, while a new attempt always passes. It
    /// only saves work; every handler is idempotent without it.
    ///
    /// # Errors
    /// When the message does not encode.
    pub fn stage<M: Serialize>(
        stage: Stage,
        work: &Work,
        batch: Option<Batch>,
        message: &M,
    ) -> Result<Self, BusError> {
        let batch = batch.map_or(0, |batch| batch.index);
        let identity = format!(
            "{}/{}/{}/{batch}/{}",
            stage.name(),
            work.document_id,
            work.generation.0,
            work.attempt
        );
        Self::encode(stage.subject(&work.document_id), &identity, message)
    }

    pub(super) fn dead_letter(letter: &DeadLetter, message_id: &str) -> Result<Self, BusError> {
        let subject = subject::dead_letter(letter.stage, &letter.document_id);
        let identity = format!("deadletter/{message_id}");
        Self::encode(subject, &identity, letter)
    }

    fn encode<M: Serialize>(
        subject: String,
        identity: &str,
        message: &M,
    ) -> Result<Self, BusError> {
        let payload = serde_json::to_vec(message).map_err(|source| BusError::Encode {
            subject: subject.clone(),
            source,
        })?;
        let id = Sha256Hex::of(identity.as_bytes()).to_string();
        Ok(Self {
            subject,
            id,
            payload: payload.into(),
        })
    }

    /// Where it goes.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Its bytes.
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }
}

impl Bus {
    /// Publishes and waits until the stream has stored it.
    ///
    /// # Errors
    /// When the stream refuses or does not answer in time.
    pub async fn publish_work(&self, out: Outgoing) -> Result<(), BusError> {
        let mut headers = HeaderMap::new();
        trace::inject(&mut headers);
        let subject = out.subject;
        let error = |source: Box<dyn std::error::Error + Send + Sync>| BusError::Publish {
            subject: subject.clone(),
            source,
        };
        let message = PublishMessage::build()
            .payload(out.payload)
            .headers(headers)
            .message_id(&out.id);
        self.jetstream
            .send_publish(subject.clone(), message)
            .await
            .map_err(|e| error(e.into()))?
            .await
            .map(|_| ())
            .map_err(|e| error(e.into()))
    }
}
