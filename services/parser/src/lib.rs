//! Turns a document into Markdown pages, each with its locator and how it was read.
//!
//! A page's way: [`stage`] takes the message → [`pool`] hands the open file to a limited child →
//! [`child`] reads it with an [`extract`]or, whose pictures go back to [`ocr`] → the pages come over [`wire`] → [`stage`] writes
//! them to the blob store.

pub mod child;
pub mod error;
pub mod extract;
pub mod ocr;
pub mod pool;
pub mod readings;
pub mod settings;
pub mod stage;
pub mod wire;

use std::sync::Arc;

use shared::bus::ConsumeOptions;
use shared::service::Service;

pub use child::child_main;
pub use settings::Settings;

use crate::extract::SecondReader;
use crate::pool::Pool;
use crate::stage::{ParseStage, Parsing};

/// Runs the service until it is drained.
///
/// # Errors
/// When the pool cannot be started, or the work loop ends by itself.
pub async fn run(service: Service, settings: Settings) -> anyhow::Result<()> {
    let (plan, notes) = settings.plan_with_notes()?;
    for note in notes {
        tracing::warn!("{note}");
        service.health.note(note);
    }
    if let SecondReader::Absent(why) = &plan.second_reader {
        tracing::warn!(why, "PDFs are read without PDFium");
        service
            .health
            .note(format!("PDFs are read without PDFium: {why}"));
    }
    let pool = Pool::start(plan, settings.children())?;
    let parsing = Parsing::new(service.blobs.clone(), pool);
    let stage = ParseStage::new(service.bus.clone(), parsing);
    let options = ConsumeOptions {
        in_flight: settings.in_flight(),
    };
    let consumer = service
        .bus
        .consume(Arc::new(stage), options, &service.drain, &service.health);
    service.run_until_drained(vec![consumer]).await
}
