//! Asking everyone what they have counted.

use std::time::Duration;

use tokio::task::JoinHandle;

use super::{Bus, BusError};
use crate::contract::ProcessMetrics;
use crate::contract::subject::METRICS;
use crate::metrics;
use crate::service::{Drain, HealthBoard};

impl Bus {
    /// Collects the metrics of every running service for `wait`, sorted by service and process.
    pub async fn gather_metrics(&self, wait: Duration) -> Vec<ProcessMetrics> {
        let mut all: Vec<ProcessMetrics> = self.gather(METRICS, wait).await;
        all.sort_by(|a, b| (&a.service, &a.host, a.pid).cmp(&(&b.service, &b.host, b.pid)));
        all
    }

    /// Answers such questions until `drain` begins; `board` says for which service.
    pub(crate) async fn answer_metrics(
        &self,
        board: HealthBoard,
        drain: Drain,
    ) -> Result<JoinHandle<()>, BusError> {
        self.answer_all(METRICS, drain, move || metrics::read(&board.read()))
            .await
    }
}
