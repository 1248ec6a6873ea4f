//! Questions that every running service answers.

use std::time::Duration;

use futures::StreamExt as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::task::JoinHandle;
use tracing::debug;

use super::{Bus, BusError};
use crate::service::Drain;

impl Bus {
    /// Collects every answer on `subject` that comes within `wait`.
    pub(super) async fn gather<T: DeserializeOwned>(
        &self,
        subject: &'static str,
        wait: Duration,
    ) -> Vec<T> {
        let inbox = self.client.new_inbox();
        let Ok(answers) = self.client.subscribe(inbox.clone()).await else {
            return Vec::new();
        };
        if self
            .client
            .publish_with_reply(subject, inbox, Vec::new().into())
            .await
            .is_err()
        {
            return Vec::new();
        }
        answers
            .take_until(tokio::time::sleep(wait))
            .filter_map(|message| async move { serde_json::from_slice(&message.payload).ok() })
            .collect()
            .await
    }

    /// Answers such questions with what `tell` gives until `drain` begins.
    pub(super) async fn answer_all<T: Serialize>(
        &self,
        subject: &'static str,
        drain: Drain,
        tell: impl Fn() -> T + Send + 'static,
    ) -> Result<JoinHandle<()>, BusError> {
        let mut questions =
            self.client
                .subscribe(subject)
                .await
                .map_err(|error| BusError::Subscribe {
                    subject: subject.to_owned(),
                    source: error.into(),
                })?;
        let client = self.client.clone();
        Ok(tokio::spawn(async move {
            while let Some(question) = tokio::select! {
                question = questions.next() => question,
                () = drain.begun() => None,
            } {
                let answer = serde_json::to_vec(&tell()).unwrap_or_default();
                if let Some(reply) = question.reply
                    && let Err(error) = client.publish(reply, answer.into()).await
                {
                    debug!(%error, subject, "a question to all was not answered");
                }
            }
        }))
    }
}
