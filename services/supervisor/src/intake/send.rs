//! Handing files to the gateway, a few at once, through restarts of whatever is behind it.

use futures::StreamExt as _;
use shared::contract::{Admitted, ErrorBody};

use super::meter::Meter;
use super::patience::Patience;
use super::walk::Candidate;
use super::{Request, Taken};
use crate::client::{ClientError, Upload};
use crate::error::Complaint;

/// Uploads at once.
const AT_ONCE: usize = 8;

/// Sends all `files`, in any order.
///
/// # Errors
/// When the gateway stays away, or Ibid has ended.
pub(super) async fn all(
    patience: &Patience<'_>,
    request: &Request,
    files: &[Candidate],
    meter: &mut Meter,
) -> Result<Vec<Taken>, Complaint> {
    let mut sending = futures::stream::iter(files)
        .map(|file| async move { (file, send(patience, request, file).await) })
        .buffer_unordered(AT_ONCE);
    let mut taken = Vec::with_capacity(files.len());
    while let Some((file, sent)) = sending.next().await {
        meter.sent();
        let admitted: Result<Admitted, ErrorBody> = match sent {
            Err(
                error @ (ClientError::Unreachable(_) | ClientError::Ended | ClientError::Token),
            ) => return Err(error.into()),
            sent => sent.map_err(ClientError::into_body),
        };
        if admitted.is_err() {
            meter.done(file.work, 0);
        }
        taken.push(Taken {
            path: file.path.clone(),
            work: file.work,
            admitted,
            was_open: false,
            view: None,
            gaps: Vec::new(),
        });
    }
    taken.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(taken)
}

async fn send(
    patience: &Patience<'_>,
    request: &Request,
    file: &Candidate,
) -> Result<Admitted, ClientError> {
    let upload = Upload {
        path: &file.path,
        collection: &request.collection,
        force: request.force,
        password: request.password.as_ref(),
    };
    patience.with(|| patience.gateway.upload(&upload)).await
}
