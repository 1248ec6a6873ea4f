//! Handing files to the gateway, a few at once, through restarts of whatever is behind it.

use std::time::Duration;

use futures::StreamExt as _;
use shared::contract::{Admitted, ErrorBody};
use tokio::time::Instant;

use super::meter::Meter;
use super::walk::Candidate;
use super::{Request, Taken};
use crate::client::{ClientError, Gateway, Upload};
use crate::error::Complaint;

/// Uploads at once.
const AT_ONCE: usize = 8;
/// Longer than any restart takes; admission is idempotent, so that trying again is safe.
const PATIENCE: Duration = Duration::from_mins(2);

/// Sends all `files`, in any order.
///
/// # Errors
/// When the gateway stays away.
pub(super) async fn all(
    gateway: &Gateway,
    request: &Request,
    files: &[Candidate],
    meter: &mut Meter,
) -> Result<Vec<Taken>, Complaint> {
    let mut sending = futures::stream::iter(files)
        .map(|file| async move { (file, send(gateway, request, file).await) })
        .buffer_unordered(AT_ONCE);
    let mut taken = Vec::with_capacity(files.len());
    while let Some((file, sent)) = sending.next().await {
        meter.sent();
        let admitted: Result<Admitted, ErrorBody> = match sent {
            Err(error @ ClientError::Unreachable(_)) => return Err(error.into()),
            sent => sent.map_err(ClientError::into_body),
        };
        if admitted.is_err() {
            meter.done(file.work, 0);
        }
        taken.push(Taken {
            path: file.path.clone(),
            work: file.work,
            admitted,
            view: None,
        });
    }
    taken.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(taken)
}

async fn send(
    gateway: &Gateway,
    request: &Request,
    file: &Candidate,
) -> Result<Admitted, ClientError> {
    let upload = Upload {
        path: &file.path,
        collection: &request.collection,
        force: request.force,
    };
    patiently(|| gateway.upload(&upload)).await
}

/// Tries `attempt` until it works, fails for good, or has failed for two minutes.
///
/// # Errors
/// The last one.
pub(super) async fn patiently<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, ClientError>
where
    F: Future<Output = Result<T, ClientError>>,
{
    let started = Instant::now();
    let mut pause = Duration::from_millis(100);
    loop {
        match attempt().await {
            Err(error) if error.is_passing() && started.elapsed() < PATIENCE => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(3));
            }
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::contract::ErrorCode;

    fn said(code: ErrorCode) -> ClientError {
        ClientError::Said(ErrorBody::new(code, "no", "wait"))
    }

    #[tokio::test(start_paused = true)]
    async fn passing_errors_are_waited_out_and_others_are_not() {
        let mut calls = 0;
        let got = patiently(|| {
            calls += 1;
            std::future::ready(if calls < 5 {
                Err(said(ErrorCode::Busy))
            } else {
                Ok(calls)
            })
        });
        assert_eq!(got.await.unwrap(), 5);

        let mut calls = 0;
        let refused = patiently(|| {
            calls += 1;
            async { Err::<(), _>(said(ErrorCode::TooLarge)) }
        });
        assert!(refused.await.is_err());
        assert_eq!(calls, 1);

        let started = Instant::now();
        let gone = patiently(|| async { Err::<(), _>(said(ErrorCode::Unavailable)) }).await;
        assert!(gone.is_err());
        let waited = started.elapsed();
        assert!(waited >= PATIENCE && waited < PATIENCE * 2, "{waited:?}");
    }
}
