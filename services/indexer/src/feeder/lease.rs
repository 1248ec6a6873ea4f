//! Who is still being worked on, judged by signs of life.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use shared::contract::{DocumentId, Generation};

use crate::catalog::InFlight;

/// A document is given at most this many leases of silence while others move on.
const PATIENCE: u32 = 15;
/// The lease doubles with each attempt, so often at most.
const DOUBLINGS: u32 = 4;

/// The leases of all documents in flight. In memory only: after a restart each one begins anew.
#[derive(Debug)]
pub struct Leases {
    lease: Duration,
    documents: HashMap<DocumentId, Lease>,
    /// The last sign of life of any document.
    heard: Instant,
    /// Since when no stream has held any work.
    empty_since: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Lease {
    generation: Generation,
    handed_out: Instant,
    heard: Instant,
    /// It could not be published.
    lost: bool,
}

impl Leases {
    /// No leases; each lasts `lease`.
    pub fn new(lease: Duration, now: Instant) -> Self {
        Self {
            lease,
            documents: HashMap::new(),
            heard: now,
            empty_since: None,
        }
    }

    /// A document was published.
    pub fn handed_out(&mut self, id: DocumentId, generation: Generation, now: Instant) {
        let lease = Lease {
            generation,
            handed_out: now,
            heard: now,
            lost: false,
        };
        self.documents.insert(id, lease);
    }

    /// A document could not be published.
    pub fn lost(&mut self, id: DocumentId, generation: Generation, now: Instant) {
        let lease = Lease {
            generation,
            handed_out: now,
            heard: now,
            lost: true,
        };
        self.documents.insert(id, lease);
    }

    /// Someone works on a document.
    pub fn sign_of_life(&mut self, id: &DocumentId, generation: Generation, now: Instant) {
        self.heard = now;
        if let Some(lease) = self.documents.get_mut(id)
            && lease.generation == generation
        {
            lease.heard = now;
        }
    }

    /// Which of `in_flight`, which is all there are, must be published again.
    ///
    /// `waiting` is the number of messages in all stages' streams, if known. Work stays in a
    /// stream until what comes after it is durable, so nothing waiting twice in a row means that
    /// everything handed out before is lost, as after the deletion of the streams' store. Silence
    /// alone means little while others move on: a document may just wait behind them.
    pub fn due(
        &mut self,
        in_flight: &[InFlight],
        waiting: Option<u64>,
        now: Instant,
    ) -> Vec<(DocumentId, Generation)> {
        self.forget_all_but(in_flight);
        let emptied = match (waiting, self.empty_since) {
            (Some(0), Some(since)) => Some(since),
            (Some(0), None) => {
                self.empty_since = Some(now);
                None
            }
            _ => {
                self.empty_since = None;
                None
            }
        };
        let all_there =
            waiting.is_some_and(|waiting| waiting >= u64::try_from(in_flight.len()).unwrap_or(0));
        let quiet = now.saturating_duration_since(self.heard);
        let mut due = Vec::new();
        for document in in_flight {
            let fresh = Lease {
                generation: document.generation,
                handed_out: now,
                heard: now,
                lost: false,
            };
            let lease = self.documents.entry(document.id.clone()).or_insert(fresh);
            if lease.generation != document.generation {
                *lease = fresh;
            }
            let patience =
                self.lease * 2_u32.pow(document.attempt.saturating_sub(1).min(DOUBLINGS));
            let silent = now.saturating_duration_since(lease.heard);
            let gone = emptied.is_some_and(|since| lease.handed_out <= since);
            let silent_alone = silent >= patience.max(self.lease * PATIENCE);
            let silent_with_all = silent >= patience && quiet >= patience && !all_there;
            if lease.lost || gone || silent_alone || silent_with_all {
                due.push((document.id.clone(), document.generation));
            }
        }
        due
    }

    fn forget_all_but(&mut self, in_flight: &[InFlight]) {
        if self.documents.len() > in_flight.len() {
            let known: HashSet<&DocumentId> = in_flight.iter().map(|one| &one.id).collect();
            self.documents.retain(|id, _| known.contains(id));
        }
    }
}
