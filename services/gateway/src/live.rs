//! What happens to the documents, told to everyone who listens.
//!
//! However many listen, the bus has one subscription and the catalog is asked once per look; with
//! no one listening, neither. A listener that falls behind misses events and is told how many.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _, stream};
use schemars::JsonSchema;
use serde::Serialize;
use shared::bus::Bus;
use shared::contract::subject::{PROGRESS_FILTER, call};
use shared::contract::{CatalogStatus, ErrorBody, StageProgress, StateCounts};
use shared::service::Drain;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};
use tracing::debug;

use crate::error::ApiError;
use crate::limit::busy;

/// How often the catalog is asked.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How long it has to answer.
const LOOK_WITHIN: Duration = Duration::from_secs(2);
/// Events a listener may be behind.
const BEHIND: usize = 256;
/// Listeners at once; each also takes one of the places for requests.
const LISTENERS: usize = 32;

/// Documents as they stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// Documents per state.
    documents: StateCounts,
    /// Visible pages.
    pages: u64,
    /// Visible chunks.
    chunks: u64,
    /// Dead letters that no retry has taken up.
    dead_letters: u64,
    /// Visible pages that could not be read.
    missing_pages: u64,
    /// Documents that an earlier version of the program made.
    outdated: u64,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LiveEvent {
    /// A stage has done its part of a document.
    Progress(StageProgress),
    /// Documents as they stand: first of all, and whenever that has changed, every two seconds at
    /// most.
    Counts(Counts),
    /// The catalog does not answer.
    Unavailable {
        /// Why.
        error: ErrorBody,
    },
    /// This listener was too slow.
    Missed {
        /// So many events were left out.
        events: u64,
    },
}

impl LiveEvent {
    /// The event's name in the stream.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Progress(_) => "progress",
            Self::Counts(_) => "counts",
            Self::Unavailable { .. } => "unavailable",
            Self::Missed { .. } => "missed",
        }
    }
}

/// Where events come together. Cheap to clone.
#[derive(Clone)]
pub struct Live(Arc<Inner>);

struct Inner {
    bus: Bus,
    drain: Drain,
    events: broadcast::Sender<LiveEvent>,
    places: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whether a task gathers events.
    gathers: bool,
    /// What the catalog last said.
    last: Option<LiveEvent>,
}

/// One who listens, until dropped.
struct Listener {
    first: Option<LiveEvent>,
    events: broadcast::Receiver<LiveEvent>,
    drain: Drain,
    _place: OwnedSemaphorePermit,
}

impl Live {
    /// Over `bus`, until `drain`.
    pub fn new(bus: Bus, drain: Drain) -> Self {
        Self(Arc::new(Inner {
            bus,
            drain,
            events: broadcast::Sender::new(BEHIND),
            places: Arc::new(Semaphore::new(LISTENERS)),
            state: Mutex::default(),
        }))
    }

    /// Events from now on, the last counts first; ends with the drain.
    ///
    /// # Errors
    /// When too many listen.
    pub fn listen(&self) -> Result<impl Stream<Item = LiveEvent> + Send + use<>, ApiError> {
        let Ok(place) = Arc::clone(&self.0.places).try_acquire_owned() else {
            return Err(busy("listeners"));
        };
        let listener = self.join(place);
        Ok(stream::unfold(listener, async |mut listener| {
            let event = listener.next().await?;
            Some((event, listener))
        }))
    }

    fn join(&self, place: OwnedSemaphorePermit) -> Listener {
        let mut state = self.0.state();
        let listener = Listener {
            first: state.last.clone(),
            events: self.0.events.subscribe(),
            drain: self.0.drain.clone(),
            _place: place,
        };
        if !state.gathers {
            state.gathers = true;
            tokio::spawn(gather(Arc::clone(&self.0)));
        }
        listener
    }
}

impl Listener {
    async fn next(&mut self) -> Option<LiveEvent> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        let event = tokio::select! {
            event = self.events.recv() => event,
            () = self.drain.begun() => return None,
        };
        match event {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(events)) => Some(LiveEvent::Missed { events }),
            Err(RecvError::Closed) => None,
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends `event` to whoever listens.
    fn tell(&self, event: LiveEvent) {
        // Fails only when no one listens.
        self.events.send(event).ok();
    }

    /// Asks the catalog, and tells what it says when that has changed.
    async fn look(&self) {
        let status: Result<CatalogStatus, _> =
            self.bus.call(call::CATALOG_STATUS, &(), LOOK_WITHIN).await;
        let event = match status {
            Ok(status) => LiveEvent::Counts(Counts {
                documents: status.documents,
                pages: status.pages,
                chunks: status.chunks,
                dead_letters: status.dead_letters,
                missing_pages: status.missing_pages,
                outdated: status.outdated,
            }),
            Err(error) => LiveEvent::Unavailable { error },
        };
        let mut state = self.state();
        if state.last.as_ref() != Some(&event) {
            state.last = Some(event.clone());
            self.tell(event);
        }
    }

    /// Whether the task that gathers is to end, as no one listens.
    fn is_over(&self) -> bool {
        let mut state = self.state();
        // Under the lock: whoever joins now either is counted or starts a new task.
        if self.events.receiver_count() > 0 {
            return false;
        }
        *state = State::default();
        true
    }

    async fn progress(&self) -> BoxStream<'static, StageProgress> {
        match self.bus.subscribe(PROGRESS_FILTER).await {
            Ok(events) => events.boxed(),
            Err(error) => {
                debug!(%error, "no progress is heard");
                stream::pending().boxed()
            }
        }
    }
}

async fn gather(inner: Arc<Inner>) {
    let mut progress = inner.progress().await;
    let mut looks = tokio::time::interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            Some(event) = progress.next() => inner.tell(LiveEvent::Progress(event)),
            _ = looks.tick() => {
                if inner.is_over() {
                    return;
                }
                inner.look().await;
            }
            () = inner.drain.begun() => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_listener_that_falls_behind_is_told_how_far() {
        let events = broadcast::Sender::new(BEHIND);
        let places = Arc::new(Semaphore::new(1));
        let mut listener = Listener {
            first: None,
            events: events.subscribe(),
            drain: Drain::new(),
            _place: Arc::clone(&places).try_acquire_owned().unwrap(),
        };
        let event = LiveEvent::Missed { events: 0 };
        for _ in 0..BEHIND + 44 {
            events.send(event.clone()).unwrap();
        }
        let missed = LiveEvent::Missed { events: 44 };
        assert_eq!(listener.next().await, Some(missed));
        assert_eq!(listener.next().await, Some(event));
        listener.drain.begin();
        assert!(places.try_acquire().is_err());
        drop(listener);
        assert!(places.try_acquire().is_ok());
    }
}
