//! Which documents are lost, judged by what the streams hold of them and by signs of life.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use shared::contract::{DocumentId, Generation};

use crate::catalog::InFlight;

/// Leases of silence after which a document is handed out again although a stream holds its work:
/// an hour with the usual lease. Behind a large book on a busy machine, documents were seen to wait
/// for more than ten minutes.
const PATIENCE: u32 = 180;

/// The leases of all documents in flight. In memory only: after a restart each one begins anew.
#[derive(Debug)]
pub struct Leases {
    lease: Duration,
    documents: HashMap<DocumentId, Lease>,
}

/// A document that must be published again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The document.
    pub id: DocumentId,
    /// Its generation.
    pub generation: Generation,
    /// Times its work vanished from the streams unfinished.
    pub losses: u32,
}

#[derive(Debug, Clone, Copy)]
struct Lease {
    generation: Generation,
    handed_out: Instant,
    heard: Instant,
    /// It could not be published.
    unpublished: bool,
    /// Since when no stream is seen to hold anything of it.
    missing_since: Option<Instant>,
    losses: u32,
    /// Times it was handed out again because of silence.
    silences: u32,
}

impl Lease {
    fn new(generation: Generation, now: Instant) -> Self {
        Self {
            generation,
            handed_out: now,
            heard: now,
            unpublished: false,
            missing_since: None,
            losses: 0,
            silences: 0,
        }
    }

    /// Whether two looks in a row found nothing of it, both after it was handed out.
    fn is_gone(&mut self, held: Option<bool>, now: Instant) -> bool {
        if held != Some(false) {
            self.missing_since = None;
            return false;
        }
        let since = self
            .missing_since
            .replace(self.missing_since.unwrap_or(now));
        since.is_some_and(|since| self.handed_out <= since)
    }
}

impl Leases {
    /// No leases; the silence of a document is measured in `lease`.
    pub fn new(lease: Duration) -> Self {
        Self {
            lease,
            documents: HashMap::new(),
        }
    }

    /// A document was published.
    pub fn handed_out(&mut self, id: DocumentId, generation: Generation, now: Instant) {
        self.begin(id, generation, now).unpublished = false;
    }

    /// A document could not be published.
    pub fn not_published(&mut self, id: DocumentId, generation: Generation, now: Instant) {
        self.begin(id, generation, now).unpublished = true;
    }

    fn begin(&mut self, id: DocumentId, generation: Generation, now: Instant) -> &mut Lease {
        let lease = self.of(id, generation, now);
        *lease = Lease {
            losses: lease.losses,
            silences: lease.silences,
            ..Lease::new(generation, now)
        };
        lease
    }

    /// The lease of a document in `generation`; another generation begins anew.
    fn of(&mut self, id: DocumentId, generation: Generation, now: Instant) -> &mut Lease {
        let fresh = Lease::new(generation, now);
        let lease = self.documents.entry(id).or_insert(fresh);
        if lease.generation != generation {
            *lease = fresh;
        }
        lease
    }

    /// Someone works on a document.
    pub fn sign_of_life(&mut self, id: &DocumentId, generation: Generation, now: Instant) {
        if let Some(lease) = self.documents.get_mut(id)
            && lease.generation == generation
        {
            lease.heard = now;
        }
    }

    /// Which of `in_flight`, which is all there are, must be published again.
    ///
    /// `held` are the documents of which a stream holds work, if that is known. Work stays in a
    /// stream until what comes after it is durable, so a document of which none holds anything is
    /// lost. One that is held waits, for hours if the model's server is away for hours: handing it
    /// out again would only have its work done twice. Should a stage hang all the same, long
    /// silence helps it; the wait doubles each time and is no reason to give a document up.
    pub fn due(
        &mut self,
        in_flight: &[InFlight],
        held: Option<&HashSet<DocumentId>>,
        now: Instant,
    ) -> Vec<Due> {
        self.forget_all_but(in_flight);
        let patience = self.lease.saturating_mul(PATIENCE);
        let mut due = Vec::new();
        for document in in_flight {
            let lease = self.of(document.id.clone(), document.generation, now);
            let gone = lease.is_gone(held.map(|held| held.contains(&document.id)), now);
            let patience = patience.saturating_mul(2_u32.saturating_pow(lease.silences));
            let silent = now.saturating_duration_since(lease.heard) >= patience;
            if gone {
                lease.losses += 1;
            } else if silent {
                lease.silences += 1;
            }
            if lease.unpublished || gone || silent {
                due.push(Due {
                    id: document.id.clone(),
                    generation: document.generation,
                    losses: lease.losses,
                });
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
