//! Waiting until documents are final. A few are asked for one by one; many are watched through
//! the listings of what is not final yet, so that a large folder is not asked for file by file.

use std::collections::HashMap;
use std::time::Duration;

use futures::StreamExt as _;
use shared::contract::{
    CollectionName, DocumentId, DocumentState, DocumentView, ErrorCode, Generation, Outcome,
};
use tokio::time::Instant;

use super::Taken;
use super::meter::Meter;
use super::send::patiently;
use crate::client::{ClientError, Gateway, Listing};
use crate::error::Complaint;

/// So many are asked for one by one.
const FEW: usize = 32;
/// Requests at once.
const AT_ONCE: usize = 8;
const PAUSE: Duration = Duration::from_millis(250);
/// Without any change for so long, something is stuck.
const STUCK_AFTER: Duration = Duration::from_mins(15);

const OPEN_STATES: [DocumentState; 5] = [
    DocumentState::Queued,
    DocumentState::Parsing,
    DocumentState::Chunking,
    DocumentState::Embedding,
    DocumentState::Indexing,
];

/// Waits until every admitted document of `taken` is final, and notes how it ended.
///
/// # Errors
/// When the gateway stays away, or nothing changes for 15 minutes.
pub(super) async fn until_final(
    gateway: &Gateway,
    collection: &CollectionName,
    taken: &mut [Taken],
    meter: &mut Meter,
) -> Result<(), Complaint> {
    let mut open: HashMap<DocumentId, (usize, Generation)> = HashMap::new();
    for (index, file) in taken.iter().enumerate() {
        if let Ok(admitted) = &file.admitted {
            open.insert(admitted.document_id.clone(), (index, admitted.generation));
        }
    }
    let mut watch = Watch {
        gateway,
        collection,
        seen: 0,
        changed: Instant::now(),
    };
    while !open.is_empty() {
        let asked = Instant::now();
        for (id, view) in watch.candidates(&open).await? {
            let Some((index, generation)) = open.get(&id).copied() else {
                continue;
            };
            let is_over = view
                .as_ref()
                .is_none_or(|v| v.state.is_final() && v.generation >= generation);
            if let Some(file) = taken.get_mut(index).filter(|_| is_over) {
                open.remove(&id);
                match (&view, &file.admitted) {
                    (Some(_), Ok(admitted)) if admitted.outcome == Outcome::Unchanged => {
                        meter.skipped(file.work);
                    }
                    _ => meter.done(file.work, view.as_ref().map_or(0, |view| view.pages)),
                }
                file.view = view;
            }
        }
        meter.tell();
        if watch.changed.elapsed() > STUCK_AFTER {
            return Err(Complaint::new(
                format!("{} documents have not moved for 15 minutes", open.len()),
                "see the log of `ibid up` and `ibid status`; the work goes on by itself",
            ));
        }
        if !open.is_empty() {
            // Asking must not become the work.
            tokio::time::sleep(PAUSE.max(asked.elapsed() * 4)).await;
        }
    }
    Ok(())
}

struct Watch<'a> {
    gateway: &'a Gateway,
    collection: &'a CollectionName,
    seen: u64,
    changed: Instant,
}

impl Watch<'_> {
    /// Views of those among `open` that may be final; without a view if deleted meanwhile.
    async fn candidates(
        &mut self,
        open: &HashMap<DocumentId, (usize, Generation)>,
    ) -> Result<Vec<(DocumentId, Option<DocumentView>)>, ClientError> {
        let few = open.len() <= FEW;
        let mut seen = open.len() as u64;
        let mut asked: Vec<DocumentId> = open.keys().cloned().collect();
        if !few {
            let moving = self.moving().await?;
            seen = moving.values().copied().fold(seen, u64::wrapping_add);
            asked.retain(|id| !moving.contains_key(id));
        }
        let this = &*self;
        let views: Vec<_> = futures::stream::iter(asked)
            .map(|id| async move { Ok((id.clone(), this.view(&id).await?)) })
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        let views = views.into_iter().collect::<Result<Vec<_>, ClientError>>()?;
        if few {
            seen = views
                .iter()
                .filter_map(|(_, v)| v.as_ref())
                .map(trace)
                .fold(seen, u64::wrapping_add);
        }
        if seen != self.seen {
            self.seen = seen;
            self.changed = Instant::now();
        }
        Ok(views)
    }

    async fn view(&self, id: &DocumentId) -> Result<Option<DocumentView>, ClientError> {
        match patiently(|| self.gateway.document(id)).await {
            Ok(view) => Ok(Some(view)),
            Err(ClientError::Said(error)) if error.code == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All documents of the collection that are not final, with a trace of how far each is.
    async fn moving(&self) -> Result<HashMap<DocumentId, u64>, ClientError> {
        let mut moving = HashMap::new();
        for state in OPEN_STATES {
            let listing = Listing {
                collection: Some(self.collection.clone()),
                state: Some(state),
            };
            let views = patiently(|| self.gateway.documents(&listing)).await?;
            moving.extend(
                views
                    .into_iter()
                    .map(|view| (view.id.clone(), trace(&view))),
            );
        }
        Ok(moving)
    }
}

fn trace(view: &DocumentView) -> u64 {
    hash(&(&view.id, view.state, view.chunks))
}

fn hash(value: &impl std::hash::Hash) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
