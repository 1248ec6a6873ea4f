//! The indexer: owner of the catalog, which is the queue of record, and of the keyword and vector
//! index derived from it.
//!
//! A document's way: [`responder`] admits it into the [`catalog`] → the [`feeder`] hands it to the
//! parser → [`stage`] takes its embedded chunks and commits them → [`sync`] brings both indexes up
//! to the commit, and the document is ready. The [`janitor`] completes deletions.

pub mod background;
pub mod catalog;
pub mod chunk_set;
mod clock;
pub mod error;
pub mod feeder;
pub mod fsck;
pub mod indexes;
pub mod janitor;
pub mod keyword;
pub mod opened;
pub mod progress;
pub mod responder;
pub mod search;
pub mod settings;
pub mod stage;
pub mod sync;
pub mod vector;

#[cfg(test)]
mod bus_tests;
#[cfg(test)]
mod test_support;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use parking_lot::Mutex;
use shared::bus::{ConsumeOptions, Drained};
use shared::contract::Pipeline;
use shared::service::Service;
use tokio::sync::Notify;
use tracing::{info, warn};

pub use settings::Settings;

use crate::catalog::Catalog;
use crate::feeder::{Feeder, Leases};
use crate::indexes::{Indexes, VectorSlot};
use crate::janitor::Janitor;
use crate::keyword::TantivyIndex;
use crate::responder::Responder;
use crate::search::Searcher;
use crate::stage::{Bench, Coroner, IndexStage};
use crate::sync::Follower;
use crate::vector::{FlatIndex, VectorIndex, VectorSettings};

/// Runs the service until it is drained.
///
/// # Errors
/// When a store cannot be opened, or the bus refuses.
pub async fn run(service: Service, settings: Settings) -> anyhow::Result<()> {
    let model: shared::settings::Model = shared::settings::load("model")?;
    let pipeline = Pipeline::current(model.id()?);
    let folder = shared::settings::data_dir();
    let (catalog, indexes) = tokio::task::spawn_blocking(move || open(&folder, pipeline)).await??;
    serve(service, &settings, (catalog, indexes)).await
}

/// Opens catalog and indexes in `folder`. Blocks.
///
/// # Errors
/// When one of them cannot be opened.
pub fn open(folder: &Path, pipeline: Pipeline) -> anyhow::Result<(Catalog, Arc<Indexes>)> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("data folder `{}`", folder.display()))?;
    let model = pipeline.model.to_string();
    let (catalog, opened) = Catalog::open(&folder.join("catalog.db"), pipeline)?;
    if opened.requeued > 0 {
        warn!(
            documents = opened.requeued,
            versions_hidden = opened.retired,
            "the pipeline is another than before: documents are made again"
        );
    }
    if opened.outdated > 0 {
        warn!(
            documents = opened.outdated,
            "an earlier version has read them: they stay as they are; `ibid retry --outdated` \
             reads them again"
        );
    }
    let pool = background::pool(1)?;
    let (keyword, state) = TantivyIndex::open(&folder.join("keyword"), Arc::clone(&pool))?;
    info!(?state, "keyword index opened");
    let vectors = folder.join("vector");
    let dimension = catalog.dimension()?;
    if dimension.is_none() && vectors.exists() {
        // The catalog knows no vectors, so whatever is left there was deleted.
        std::fs::remove_dir_all(&vectors)
            .with_context(|| format!("vector index `{}`", vectors.display()))?;
    }
    let open_vector = move |dimension| {
        let settings = VectorSettings::new(model.clone(), dimension);
        let (index, state) = FlatIndex::open(&vectors, settings, Arc::clone(&pool))?;
        info!(?state, dimension, "vector index opened");
        Ok(Arc::new(index) as Arc<dyn VectorIndex>)
    };
    let vector = VectorSlot::new(Box::new(open_vector), dimension)?;
    Ok((
        catalog,
        Arc::new(Indexes {
            keyword: Arc::new(keyword),
            vector,
        }),
    ))
}

/// Runs over stores that are open already.
///
/// # Errors
/// When the bus refuses.
pub async fn serve(
    service: Service,
    settings: &Settings,
    (catalog, indexes): (Catalog, Arc<Indexes>),
) -> anyhow::Result<()> {
    let (bus, blobs, drain) = (
        service.bus.clone(),
        service.blobs.clone(),
        service.drain.clone(),
    );
    let follower = Arc::new(Follower::new(catalog.clone(), Arc::clone(&indexes)));
    let lease = Duration::from_secs(settings.lease_secs.max(1));
    let bench = Bench {
        catalog: catalog.clone(),
        blobs: blobs.clone(),
        indexes: Arc::clone(&indexes),
        follower: Arc::clone(&follower),
        leases: Arc::new(Mutex::new(Leases::new(lease))),
        feeder: Arc::new(Notify::new()),
    };

    // Searches begin when the indexes are where the catalog is.
    let first = Arc::clone(&follower);
    sync::blocking(move || first.catch_up()).await?;

    let gate = Arc::new(tokio::sync::Mutex::new(()));
    let janitor = Arc::new(Janitor::new(
        (catalog.clone(), blobs.clone()),
        Arc::clone(&indexes),
        Arc::clone(&follower),
        bus.clone(),
        Arc::clone(&gate),
    ));
    let responder = Responder {
        bench: bench.clone(),
        janitor: Arc::clone(&janitor),
        searcher: Arc::new(Searcher::new(catalog.clone(), indexes)),
        gate,
        searches_at_once: settings.searches_at_once,
    };
    responder.start(&bus, &drain).await?;
    progress::listen(
        &bus,
        catalog.clone(),
        Arc::clone(&bench.leases),
        drain.clone(),
    )
    .await?;

    let languages = catalog.clone();
    let feeder = Feeder::new(
        (catalog, blobs),
        bus.clone(),
        settings.documents_in_flight,
        Arc::clone(&bench.leases),
        Arc::clone(&bench.feeder),
    );
    let options = ConsumeOptions {
        in_flight: settings.batches_in_flight,
    };
    let stage = Arc::new(IndexStage::new(bench.clone(), bus.clone()));
    let loops = vec![
        bus.consume(stage, options, &drain, &service.health),
        bus.consume_dead_letters(Arc::new(Coroner(bench)), &drain, &service.health),
        tokio::spawn(drained(feeder.run(drain.clone()))),
        tokio::spawn(drained(janitor.run(drain.clone()))),
        tokio::spawn(drained(languages.tell_all_languages(drain.clone()))),
        tokio::spawn(drained(follower.run(drain))),
    ];
    service.run_until_drained(loops).await
}

async fn drained(work: impl Future<Output = ()>) -> Drained {
    work.await;
    Drained::default()
}
