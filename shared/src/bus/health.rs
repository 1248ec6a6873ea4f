//! Asking everyone how they are.

use std::time::Duration;

use futures::StreamExt as _;
use tokio::task::JoinHandle;

use super::{Bus, BusError};
use crate::contract::Health;
use crate::contract::subject::HEALTH;
use crate::service::{Drain, HealthBoard};

impl Bus {
    /// Collects the word of every running service for `wait`, sorted by service, host and process.
    pub async fn gather_health(&self, wait: Duration) -> Vec<Health> {
        let mut all: Vec<Health> = self.gather(HEALTH, wait).await;
        all.sort_by(|a, b| (&a.service, &a.host, a.pid).cmp(&(&b.service, &b.host, b.pid)));
        all
    }

    /// The first word of a running service that `wanted` takes; `None` when there is none within
    /// `wait`.
    pub async fn find_health(
        &self,
        wait: Duration,
        wanted: impl Fn(&Health) -> bool,
    ) -> Option<Health> {
        let inbox = self.client.new_inbox();
        let mut answers = self.client.subscribe(inbox.clone()).await.ok()?;
        self.client
            .publish_with_reply(HEALTH, inbox, Vec::new().into())
            .await
            .ok()?;
        let find = async {
            while let Some(message) = answers.next().await {
                let health = serde_json::from_slice::<Health>(&message.payload).ok();
                if let Some(health) = health.filter(&wanted) {
                    return Some(health);
                }
            }
            None
        };
        tokio::time::timeout(wait, find).await.ok().flatten()
    }

    /// Answers such questions from `board` until `drain` begins.
    pub(crate) async fn answer_health(
        &self,
        board: HealthBoard,
        drain: Drain,
    ) -> Result<JoinHandle<()>, BusError> {
        self.answer_all(HEALTH, drain, move || board.read()).await
    }
}
