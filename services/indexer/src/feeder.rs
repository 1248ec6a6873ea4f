//! The feeder: hands documents to the parser, at most so many at once, and again whatever was
//! lost on the way.
//!
//! JetStream only carries; what is to be done stands in the catalog. Publishing too often costs
//! work and nothing else, so a doubt is settled by publishing.

mod lease;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;
use shared::blobs::Blobs;
use shared::bus::{Bus, BusError, Outgoing};
use shared::contract::subject::Stage;
use shared::contract::{
    DeadLetter, DocumentAdmitted, DocumentId, ErrorBody, ErrorCode, Generation, PageManifest,
};
use shared::service::Drain;
use shared::telemetry;
use tokio::sync::Notify;
use tracing::{Instrument as _, error, info, info_span, warn};

use crate::catalog::{Catalog, Handout, InFlight};
use crate::clock;
use crate::error::{CatalogError, chain};

use lease::Due;
pub use lease::Leases;

/// How often leases are looked at.
const TICK: Duration = Duration::from_secs(2);
/// Times that a document's work may vanish from the streams unfinished before it is given up. The
/// stages' own limits come first; this one ends what a stage takes and never hands on.
const MAX_LOSSES: u32 = 50;

/// What carries the feeder's messages.
#[async_trait]
pub trait Postman: Send + Sync + 'static {
    /// Publishes durably.
    ///
    /// # Errors
    /// When the stream does not take it.
    async fn publish(&self, message: &DocumentAdmitted) -> Result<(), BusError>;

    /// The documents of which the stream of any stage holds work, that in hand included. Stages
    /// are asked in order, so that work moving on meanwhile is seen.
    ///
    /// # Errors
    /// When a stream is not there.
    async fn held(&self) -> Result<HashSet<DocumentId>, BusError>;

    /// Makes the streams that are not there.
    ///
    /// # Errors
    /// When the server does not answer.
    async fn repair(&self) -> Result<(), BusError>;
}

#[async_trait]
impl Postman for Bus {
    async fn publish(&self, message: &DocumentAdmitted) -> Result<(), BusError> {
        self.publish_work(Outgoing::stage(Stage::Parse, &message.work, None, message)?)
            .await
    }

    async fn held(&self) -> Result<HashSet<DocumentId>, BusError> {
        let mut held = HashSet::new();
        for stage in Stage::ALL {
            held.extend(Self::held(self, stage).await?);
        }
        Ok(held)
    }

    async fn repair(&self) -> Result<(), BusError> {
        self.ensure_streams().await
    }
}

/// The feeder.
pub struct Feeder<P> {
    catalog: Catalog,
    blobs: Blobs,
    postman: P,
    window: usize,
    leases: Arc<Mutex<Leases>>,
    wake: Arc<Notify>,
}

impl<P: Postman> Feeder<P> {
    /// A feeder that keeps at most `window` documents in flight. `wake` tells it that there may
    /// be room or something new.
    pub fn new(
        (catalog, blobs): (Catalog, Blobs),
        postman: P,
        window: usize,
        leases: Arc<Mutex<Leases>>,
        wake: Arc<Notify>,
    ) -> Self {
        Self {
            catalog,
            blobs,
            postman,
            window: window.max(1),
            leases,
            wake,
        }
    }

    /// Feeds until `drain` begins.
    pub async fn run(self, drain: Drain) {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let look_at_leases = tokio::select! {
                _ = ticks.tick() => true,
                () = self.wake.notified() => false,
                () = drain.begun() => return,
            };
            if let Err(failure) = self.feed(look_at_leases, Instant::now()).await {
                error!(
                    error = chain(&failure),
                    "nothing could be handed out, trying again"
                );
            }
        }
    }

    /// One round: fills the window, and with `look_at_leases` hands out again what was lost.
    ///
    /// # Errors
    /// When the catalog fails.
    pub async fn feed(&self, look_at_leases: bool, now: Instant) -> Result<(), CatalogError> {
        let in_flight = self.catalog.run(Catalog::in_flight).await?;
        let mut documents = if look_at_leases && !in_flight.is_empty() {
            self.lost(&in_flight, now).await?
        } else {
            Vec::new()
        };
        let room = self.window.saturating_sub(in_flight.len());
        if room > 0 {
            for queued in self
                .catalog
                .run(move |catalog| catalog.next_queued(room))
                .await?
            {
                if !queued.reparse || self.forget_pages(&queued).await {
                    documents.push((queued.id, queued.generation));
                }
            }
        }
        if documents.is_empty() {
            return Ok(());
        }
        let (messages, traces) = self
            .catalog
            .run(move |catalog| {
                let messages = catalog.hand_out(&documents)?;
                let traces = catalog.traces(&messages)?;
                Ok((messages, traces))
            })
            .await?;
        self.publish(messages, &traces, now).await;
        Ok(())
    }

    /// Removes the manifest of a document that is to be read again: the parser takes its absence
    /// as the order to read. Without success the document waits.
    async fn forget_pages(&self, queued: &Handout) -> bool {
        let folder = PageManifest::folder(&queued.file_hash, &self.catalog.pipeline().parser);
        let forgotten = self
            .blobs
            .delete(&format!("{folder}/{}", PageManifest::FILE))
            .await;
        if let Err(failure) = &forgotten {
            error!(document.id = %queued.id, error = chain(failure), "old pages stay, it waits");
        }
        forgotten.is_ok()
    }

    /// What of `in_flight` has to be published again; what was lost too often is given up.
    async fn lost(
        &self,
        in_flight: &[InFlight],
        now: Instant,
    ) -> Result<Vec<(DocumentId, Generation)>, CatalogError> {
        let held = match self.postman.held().await {
            Ok(held) => Some(held),
            Err(failure) => {
                warn!(
                    error = chain(&failure),
                    "the streams cannot be seen, making them"
                );
                self.repair().await;
                None
            }
        };
        let due = self.leases.lock().due(in_flight, held.as_ref(), now);
        if !due.is_empty() {
            info!(documents = due.len(), "no sign of life, handing out again");
        }
        let mut again = Vec::with_capacity(due.len());
        for document in due {
            if document.losses >= MAX_LOSSES {
                self.give_up(&document).await?;
            } else {
                again.push((document.id, document.generation));
            }
        }
        Ok(again)
    }

    async fn give_up(&self, document: &Due) -> Result<(), CatalogError> {
        let letter = DeadLetter {
            stage: Stage::Parse,
            document_id: document.id.clone(),
            generation: Some(document.generation),
            deliveries: u64::from(document.losses),
            error: ErrorBody::new(
                ErrorCode::TooManyAttempts,
                format!(
                    "no stage finished or refused it in {} attempts",
                    document.losses
                ),
                "look for errors of this document in the log, then retry it",
            ),
        };
        self.catalog
            .run(move |catalog| catalog.fail(&letter, clock::now_ms()))
            .await
            .map(|_| ())
    }

    async fn publish(
        &self,
        messages: Vec<DocumentAdmitted>,
        traces: &HashMap<DocumentId, String>,
        now: Instant,
    ) {
        let mut broken = false;
        for message in messages {
            let (id, generation) = (message.work.document_id.clone(), message.work.generation);
            if broken {
                self.leases.lock().not_published(id, generation, now);
                continue;
            }
            // The stages' spans follow it, in the trace of whoever queued the document.
            let span = info_span!("feed", document.id = %id, attempt = message.work.attempt);
            telemetry::follow(&span, traces.get(&id).map(String::as_str));
            match self.postman.publish(&message).instrument(span).await {
                Ok(()) => self.leases.lock().handed_out(id, generation, now),
                Err(failure) => {
                    warn!(document.id = %id, error = chain(&failure), "not handed out yet");
                    self.leases.lock().not_published(id, generation, now);
                    broken = true;
                }
            }
        }
        if broken {
            self.repair().await;
        }
    }

    async fn repair(&self) {
        if let Err(failure) = self.postman.repair().await {
            warn!(
                error = chain(&failure),
                "the streams could not be made, trying again"
            );
        }
    }
}
