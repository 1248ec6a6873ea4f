//! Asking everyone how they are.

use std::time::Duration;

use futures::StreamExt as _;
use tokio::task::JoinHandle;
use tracing::debug;

use super::{Bus, BusError};
use crate::contract::Health;
use crate::contract::subject::HEALTH;
use crate::service::{Drain, HealthBoard};

impl Bus {
    /// Collects the word of every running service for `wait`, sorted by service and process.
    pub async fn gather_health(&self, wait: Duration) -> Vec<Health> {
        let inbox = self.client.new_inbox();
        let Ok(answers) = self.client.subscribe(inbox.clone()).await else {
            return Vec::new();
        };
        if self
            .client
            .publish_with_reply(HEALTH, inbox, Vec::new().into())
            .await
            .is_err()
        {
            return Vec::new();
        }
        let mut all: Vec<Health> = answers
            .take_until(tokio::time::sleep(wait))
            .filter_map(|message| async move { serde_json::from_slice(&message.payload).ok() })
            .collect()
            .await;
        all.sort_by(|a, b| (&a.service, a.pid).cmp(&(&b.service, b.pid)));
        all
    }

    /// Answers such questions from `board` until `drain` begins.
    pub(crate) async fn answer_health(
        &self,
        board: HealthBoard,
        drain: Drain,
    ) -> Result<JoinHandle<()>, BusError> {
        let mut questions =
            self.client
                .subscribe(HEALTH)
                .await
                .map_err(|error| BusError::Subscribe {
                    subject: HEALTH.to_owned(),
                    source: error.into(),
                })?;
        let client = self.client.clone();
        Ok(tokio::spawn(async move {
            while let Some(question) = tokio::select! {
                question = questions.next() => question,
                () = drain.begun() => None,
            } {
                let answer = serde_json::to_vec(&board.read()).unwrap_or_default();
                if let Some(reply) = question.reply
                    && let Err(error) = client.publish(reply, answer.into()).await
                {
                    debug!(%error, "health was not told");
                }
            }
        }))
    }
}
