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
use super::patience::Patience;
use crate::client::{ClientError, Listing};
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

/// Watches documents on their way.
pub(super) struct Watch<'a> {
    patience: &'a Patience<'a>,
    collection: &'a CollectionName,
    seen: u64,
    changed: Instant,
}

type Open = HashMap<DocumentId, (usize, Generation)>;

impl<'a> Watch<'a> {
    /// Over documents of `collection`.
    pub(super) fn new(patience: &'a Patience<'a>, collection: &'a CollectionName) -> Self {
        Self {
            patience,
            collection,
            seen: 0,
            changed: Instant::now(),
        }
    }

    /// Waits until every admitted document of `taken` is final, and notes how it ended.
    ///
    /// # Errors
    /// When the gateway stays away, or nothing changes for 15 minutes.
    pub(super) async fn until_final(
        mut self,
        taken: &mut [Taken],
        meter: &mut Meter,
    ) -> Result<(), Complaint> {
        let mut open = open(taken, |_| true);
        let mut first = true;
        while !open.is_empty() {
            let asked = Instant::now();
            for (index, view) in self.over(&mut open).await? {
                let Some(file) = taken.get_mut(index) else {
                    continue;
                };
                if is_unchanged(file) && !file.was_open {
                    meter.skipped(file.work);
                } else {
                    meter.done(file.work, view.as_ref().map_or(0, |view| view.pages));
                }
                file.view = view;
            }
            if std::mem::take(&mut first) {
                note_open(taken, &open);
            }
            meter.tell();
            if self.changed.elapsed() > STUCK_AFTER {
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

    /// Notes which of the unchanged files of `taken` are not searchable yet, without waiting.
    ///
    /// # Errors
    /// When the gateway stays away.
    pub(super) async fn look_once(mut self, taken: &mut [Taken]) -> Result<(), Complaint> {
        let mut open = open(taken, is_unchanged);
        if !open.is_empty() {
            self.over(&mut open).await?;
            note_open(taken, &open);
        }
        Ok(())
    }

    /// Takes those out of `open` that are final or deleted, with their last views.
    async fn over(
        &mut self,
        open: &mut Open,
    ) -> Result<Vec<(usize, Option<DocumentView>)>, ClientError> {
        let mut over = Vec::new();
        for (id, view) in self.candidates(open).await? {
            let Some((index, generation)) = open.get(&id).copied() else {
                continue;
            };
            let is_over = view
                .as_ref()
                .is_none_or(|v| v.state.is_final() && v.generation >= generation);
            if is_over {
                open.remove(&id);
                over.push((index, view));
            }
        }
        Ok(over)
    }

    /// Views of those among `open` that may be final; without a view if deleted meanwhile.
    async fn candidates(
        &mut self,
        open: &Open,
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
        match self
            .patience
            .with(|| self.patience.gateway.document(id))
            .await
        {
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
            let views = self
                .patience
                .with(|| self.patience.gateway.documents(&listing))
                .await?;
            moving.extend(
                views
                    .into_iter()
                    .map(|view| (view.id.clone(), trace(&view))),
            );
        }
        Ok(moving)
    }
}

/// The admitted files of `taken` that `wanted` picks.
fn open(taken: &[Taken], wanted: impl Fn(&Taken) -> bool) -> Open {
    let mut open = Open::new();
    for (index, file) in taken.iter().enumerate() {
        if let (Ok(admitted), true) = (&file.admitted, wanted(file)) {
            open.insert(admitted.document_id.clone(), (index, admitted.generation));
        }
    }
    open
}

fn is_unchanged(file: &Taken) -> bool {
    let admitted = file.admitted.as_ref();
    admitted.is_ok_and(|admitted| admitted.outcome == Outcome::Unchanged)
}

/// Unchanged files that are still open were queued before.
fn note_open(taken: &mut [Taken], open: &Open) {
    for (index, _) in open.values() {
        if let Some(file) = taken.get_mut(*index).filter(|file| is_unchanged(file)) {
            file.was_open = true;
        }
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
