//! Hearing how far documents have come: signs of life for the leases, states for the listing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use parking_lot::Mutex;
use shared::bus::{Bus, BusError};
use shared::contract::subject::{PROGRESS_FILTER, Stage};
use shared::contract::{DocumentId, DocumentState, StageProgress};
use shared::service::Drain;
use tokio::task::JoinHandle;
use tracing::warn;

use crate::catalog::{Catalog, Progress};
use crate::error::chain;
use crate::feeder::Leases;

/// States are written together, so often.
const WRITE_EVERY: Duration = Duration::from_millis(500);

/// Starts to listen; ends when `drain` begins.
///
/// # Errors
/// When the bus refuses the subscription.
pub async fn listen(
    bus: &Bus,
    catalog: Catalog,
    leases: Arc<Mutex<Leases>>,
    drain: Drain,
) -> Result<JoinHandle<()>, BusError> {
    let events = bus.subscribe::<StageProgress>(PROGRESS_FILTER).await?;
    Ok(tokio::spawn(async move {
        tokio::pin!(events);
        let mut heard: HashMap<DocumentId, Progress> = HashMap::new();
        let mut ticks = tokio::time::interval(WRITE_EVERY);
        loop {
            tokio::select! {
                () = drain.begun() => return,
                event = events.next() => {
                    let Some(event) = event else { return };
                    let now = Instant::now();
                    leases.lock().sign_of_life(&event.document_id, event.generation, now);
                    note(&mut heard, event);
                }
                _ = ticks.tick() => {
                    let batch: Vec<Progress> = heard.drain().map(|(_, progress)| progress).collect();
                    let written = catalog.run(move |catalog| catalog.note_progress(&batch)).await;
                    if let Err(failure) = written {
                        warn!(error = chain(&failure), "progress was not noted");
                    }
                }
            }
        }
    }))
}

/// Keeps the furthest state of each document's latest generation.
fn note(heard: &mut HashMap<DocumentId, Progress>, event: StageProgress) {
    let state = match event.stage {
        Stage::Parse => DocumentState::Chunking,
        Stage::Chunk | Stage::Embed => DocumentState::Embedding,
        // The commit itself writes what comes after.
        Stage::Index => return,
    };
    let progress = Progress {
        id: event.document_id,
        generation: event.generation,
        state,
        pages: event.pages,
    };
    match heard.get_mut(&progress.id) {
        Some(before) if before.generation > progress.generation => {}
        Some(before) if before.generation == progress.generation => {
            before.pages = before.pages.max(progress.pages);
            if progress.state == DocumentState::Embedding {
                before.state = progress.state;
            }
        }
        _ => {
            heard.insert(progress.id.clone(), progress);
        }
    }
}
