//! The request to end.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// Tells everyone who waits that the process is to finish its work and end. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Drain(CancellationToken);

impl Drain {
    /// One that has not begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins it.
    pub fn begin(&self) {
        self.0.cancel();
    }

    /// Whether it has begun.
    pub fn is_draining(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Returns once it has begun.
    pub async fn begun(&self) {
        self.0.cancelled().await;
    }

    /// Begins it at SIGTERM or SIGINT.
    pub fn begin_on_signal(&self) {
        let (terminate, interrupt) = match (
            signal(SignalKind::terminate()),
            signal(SignalKind::interrupt()),
        ) {
            (Ok(terminate), Ok(interrupt)) => (terminate, interrupt),
            (Err(error), _) | (_, Err(error)) => {
                warn!(%error, "cannot listen for signals, end with SIGKILL");
                return;
            }
        };
        let drain = self.clone();
        let (mut terminate, mut interrupt) = (terminate, interrupt);
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            info!("draining");
            drain.begin();
        });
    }
}
