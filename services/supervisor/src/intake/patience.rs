//! Trying again while whatever is behind the gateway restarts, and no longer than that.

use std::cell::Cell;
use std::time::Duration;

use tokio::time::Instant;

use crate::client::{ClientError, Gateway};
use crate::screen::Screen;

/// Longer than any restart takes; what is asked is idempotent, so that trying again is safe.
const PATIENCE: Duration = Duration::from_mins(2);
/// A supervisor that is gone for so long has not only been replaced.
const ENDED_AFTER: Duration = Duration::from_secs(3);
/// After so long without an answer, people are told why nothing moves.
const TOLD_AFTER: Duration = Duration::from_secs(5);

/// How long a gateway may stay away.
pub(super) struct Patience<'a> {
    pub(super) gateway: &'a Gateway,
    screen: &'a Screen,
    told: Cell<bool>,
}

impl<'a> Patience<'a> {
    /// With `gateway`; what people should know goes to `screen`, once.
    pub(super) fn new(gateway: &'a Gateway, screen: &'a Screen) -> Self {
        Self {
            gateway,
            screen,
            told: Cell::new(false),
        }
    }

    /// Tries `attempt` until it works, fails for good, or has failed for two minutes.
    ///
    /// # Errors
    /// The last one; [`ClientError::Ended`] within seconds when Ibid has ended.
    pub(super) async fn with<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let started = Instant::now();
        let mut pause = Duration::from_millis(100);
        let mut gone: Option<Instant> = None;
        loop {
            let error = match attempt().await {
                Err(error) if error.is_passing() && started.elapsed() < PATIENCE => error,
                result => return result,
            };
            if self.gateway.has_ended() {
                if gone.get_or_insert_with(Instant::now).elapsed() >= ENDED_AFTER {
                    return Err(ClientError::Ended);
                }
            } else {
                gone = None;
            }
            if started.elapsed() >= TOLD_AFTER {
                self.tell(&error);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }

    fn tell(&self, error: &ClientError) {
        if !self.told.replace(true) {
            let minutes = PATIENCE.as_secs() / 60;
            self.screen
                .warn(format!("{error}; trying again for up to {minutes} minutes"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::try_lock;
    use crate::supervise::endpoint::{Endpoint, lock_file};
    use shared::contract::{ErrorBody, ErrorCode};

    fn said(code: ErrorCode) -> ClientError {
        ClientError::Said(ErrorBody::new(code, "no", "wait"))
    }

    #[tokio::test(start_paused = true)]
    async fn passing_errors_are_waited_out_and_others_are_not() {
        let (gateway, screen) = (Gateway::at("http://127.0.0.1:9").unwrap(), Screen::stderr());
        let patience = Patience::new(&gateway, &screen);
        let mut calls = 0;
        let got = patience.with(|| {
            calls += 1;
            std::future::ready(if calls < 5 {
                Err(said(ErrorCode::Busy))
            } else {
                Ok(calls)
            })
        });
        assert_eq!(got.await.unwrap(), 5);

        let mut calls = 0;
        let refused = patience.with(|| {
            calls += 1;
            async { Err::<(), _>(said(ErrorCode::TooLarge)) }
        });
        assert!(refused.await.is_err());
        assert_eq!(calls, 1);

        let started = Instant::now();
        let gone = patience.with(|| async { Err::<(), _>(said(ErrorCode::Unavailable)) });
        assert!(gone.await.is_err());
        let waited = started.elapsed();
        assert!(waited >= PATIENCE && waited < PATIENCE * 2, "{waited:?}");
        assert!(patience.told.get());
    }

    #[tokio::test(start_paused = true)]
    async fn an_ibid_that_has_ended_is_told_within_seconds() {
        let data = tempfile::tempdir().unwrap();
        let endpoint = Endpoint {
            url: "http://127.0.0.1:9".to_owned(),
            bus_url: String::new(),
            bus_token: String::new(),
            pid: std::process::id(),
        };
        let up = try_lock(&lock_file(data.path())).unwrap();
        endpoint.publish(data.path()).unwrap();
        let (gateway, screen) = (Gateway::find(data.path()).unwrap(), Screen::stderr());
        let patience = Patience::new(&gateway, &screen);
        assert!(!gateway.has_ended());

        drop(up);
        let started = Instant::now();
        let gone = patience.with(|| async { Err::<(), _>(said(ErrorCode::Unavailable)) });
        assert!(matches!(gone.await, Err(ClientError::Ended)));
        assert!(
            started.elapsed() < Duration::from_secs(6),
            "{:?}",
            started.elapsed()
        );
    }
}
