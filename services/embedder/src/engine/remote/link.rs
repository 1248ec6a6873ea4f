//! Whether the server is there, watched by one task.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use shared::service::{Drain, HealthBoard};
use tokio::sync::{Notify, watch};
use tracing::{info, warn};

use super::client::{Client, Purpose};
use super::error::ServerError;
use crate::batch::Pace;

/// Texts of ours: the first tells the dimension, all together the speed.
const PROBES: [&str; 4] = [
    "Which pages speak of refunds, and within how many days are they paid?",
    "Refunds are paid within thirty days of the return, to the account the payment came from.",
    "The pump is switched off before the lid is opened, and the valve behind it is closed by hand.",
    "Receipts are handed in within a month, together with the approval of the line manager.",
];
/// How long a batch of chunks should take. A question may have to wait for one.
const BATCH_TIME: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Away(ServerError),
    Ready { dimension: usize },
}

/// The state of a server, and the way to it.
pub(super) struct Link {
    client: Client,
    health: HealthBoard,
    state: watch::Sender<State>,
    /// Asks the keeper to look now.
    look: Notify,
    /// The first dimension that was told; vectors of another are never mixed with it.
    dimension: Mutex<Option<usize>>,
    /// What people are told at present.
    note: Mutex<Option<String>>,
    /// Held while a batch of chunks is in flight.
    pub(super) bulk: tokio::sync::Mutex<Pace>,
}

impl Link {
    pub(super) fn new(client: Client, health: HealthBoard) -> Self {
        let state = State::Away(client.starting());
        Self {
            client,
            health,
            state: watch::Sender::new(state),
            look: Notify::new(),
            dimension: Mutex::new(None),
            note: Mutex::new(None),
            // Replaced by a measurement as soon as the server is there.
            bulk: tokio::sync::Mutex::new(Pace::new(BATCH_TIME, 1, BATCH_TIME)),
        }
    }

    /// Looks for the server until `drain` begins: while it is away, and when a request has failed;
    /// where the model runs is looked at now and then also when all is well.
    pub(super) async fn keep(self: Arc<Self>, drain: Drain) {
        let mut states = self.state.subscribe();
        loop {
            let away = matches!(*states.borrow_and_update(), State::Away(_));
            let found = tokio::select! {
                found = self.find(away) => found,
                () = drain.begun() => return,
            };
            self.tell(found);
            let waits = &self.client.waits;
            let is_away = |state: &State| matches!(state, State::Away(_));
            tokio::select! {
                _ = states.wait_for(is_away) => {}
                () = tokio::time::sleep(waits.check) => continue,
                () = drain.begun() => return,
            }
            // A server that takes probes and fails at work is not asked without end.
            tokio::select! {
                () = tokio::time::sleep(waits.retry) => {}
                () = self.look.notified() => {}
                () = drain.begun() => return,
            }
        }
    }

    /// What the server is like now; with `wholly`, also whether it embeds.
    async fn find(&self, wholly: bool) -> Result<usize, ServerError> {
        self.client.check().await?;
        if !wholly {
            return self.dimension();
        }
        let [first, ..] = PROBES;
        self.ask_client(&[first], Purpose::Probe).await?;
        let bytes = PROBES.iter().map(|text| text.len()).sum();
        let start = Instant::now();
        let vectors = self.ask_client(&PROBES, Purpose::Probe).await?;
        *self.bulk.lock().await = Pace::new(BATCH_TIME, bytes, start.elapsed());
        Ok(vectors.first().map_or(0, Vec::len))
    }

    /// Vectors of a server that is there; nothing is sent to one that is away, as its model may
    /// run elsewhere by now. A failure that is the server's is remembered.
    pub(super) async fn ask(
        &self,
        texts: &[&str],
        purpose: Purpose,
    ) -> Result<Vec<Vec<f32>>, ServerError> {
        self.dimension()?;
        let asked = self.ask_client(texts, purpose).await;
        if let Err(error) = &asked
            && (error.is_away() || error.is_doubtful())
        {
            self.state.send_replace(State::Away(error.clone()));
        }
        asked
    }

    async fn ask_client(
        &self,
        texts: &[&str],
        purpose: Purpose,
    ) -> Result<Vec<Vec<f32>>, ServerError> {
        let vectors = self.client.ask(texts, purpose).await?;
        let found = vectors.first().map_or(0, Vec::len);
        let wanted = *self.dimension.lock().get_or_insert(found);
        if found == wanted {
            return Ok(vectors);
        }
        Err(ServerError::Dimension {
            model: self.client.model().to_owned(),
            found,
            wanted,
        })
    }

    /// Returns once the server is there.
    pub(super) async fn ready(&self) {
        let mut states = self.state.subscribe();
        let is_ready = |state: &State| matches!(state, State::Ready { .. });
        // It fails when the sender is gone, which is `self`.
        drop(states.wait_for(is_ready).await);
    }

    /// As [`Link::ready`], but has a server that is away looked at now, and waits no longer than
    /// for that look or for `limit`.
    pub(super) async fn ready_within(&self, limit: Duration) -> Result<(), ServerError> {
        let mut states = self.state.subscribe();
        if matches!(*states.borrow_and_update(), State::Away(_)) {
            self.look.notify_one();
            drop(tokio::time::timeout(limit, states.changed()).await);
        }
        self.dimension().map(drop)
    }

    /// Length of the vectors, if the server is there.
    pub(super) fn dimension(&self) -> Result<usize, ServerError> {
        match &*self.state.borrow() {
            State::Ready { dimension } => Ok(*dimension),
            State::Away(error) => Err(error.clone()),
        }
    }

    /// Says that texts were longer than the model reads.
    pub(super) fn tell_cut(&self) {
        self.health.note(format!(
            "some texts are longer than `{}` reads and were embedded without their end; lower \
             `model.window_tokens`",
            self.client.model()
        ));
    }

    fn tell(&self, found: Result<usize, ServerError>) {
        let state = match found {
            Ok(dimension) => State::Ready { dimension },
            Err(error) => State::Away(error),
        };
        let note = match &state {
            State::Ready { .. } => None,
            State::Away(error) => Some(format!("{error}; {}", error.remedy())),
        };
        let mut told = self.note.lock();
        if *told != note {
            if let Some(old) = told.take() {
                self.health.withdraw(&old);
            }
            if let Some(new) = &note {
                warn!(reason = new, "no vectors are made for now");
                self.health.note(new);
            }
            *told = note;
        }
        drop(told);
        let before = self.state.send_replace(state.clone());
        if let (State::Away(_), State::Ready { dimension }) = (before, state) {
            let model = self.client.model();
            info!(model, dimension, "the embedding server is there");
        }
    }
}
