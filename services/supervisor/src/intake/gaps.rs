//! Which pages of the partly read files are missing, and why.

use futures::StreamExt as _;
use shared::contract::{DocumentId, DocumentState};

use super::Taken;
use super::patience::Patience;
use crate::client::ClientError;
use crate::error::Complaint;
use crate::ledger::{Gap, gaps};

/// Requests at once.
const AT_ONCE: usize = 8;
/// So many partly read files are looked into; of the others the numbers of the pages are told.
const MOST_FILES: usize = 200;
/// So many missing pages of each.
const MOST_PAGES: usize = 5_000;

/// Notes the gaps of the partly read files of `taken`.
///
/// # Errors
/// When the gateway stays away.
pub(super) async fn look(patience: &Patience<'_>, taken: &mut [Taken]) -> Result<(), Complaint> {
    let partial: Vec<(usize, DocumentId)> = taken
        .iter()
        .enumerate()
        .filter_map(|(index, file)| Some((index, file.view.as_ref()?)))
        .filter(|(_, view)| view.state == DocumentState::Partial)
        .take(MOST_FILES)
        .map(|(index, view)| (index, view.id.clone()))
        .collect();
    let looked: Vec<Result<_, Complaint>> = futures::stream::iter(partial)
        .map(|(index, id)| async move { of(patience, &id).await.map(|gaps| (index, gaps)) })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    for found in looked {
        let (index, gaps) = found?;
        if let Some(file) = taken.get_mut(index) {
            file.gaps = gaps;
        }
    }
    Ok(())
}

async fn of(patience: &Patience<'_>, id: &DocumentId) -> Result<Vec<Gap>, Complaint> {
    let asked = patience
        .with(|| patience.gateway.ledger(id, true, MOST_PAGES))
        .await;
    match asked {
        Ok(ledger) => Ok(gaps(ledger.pages.into_iter().map(|page| {
            let reason = page.record.error.unwrap_or_default();
            (page.record.number, reason)
        }))),
        // Deleted or changed meanwhile.
        Err(ClientError::Said(_)) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}
