//! Cuts a document's Markdown pages into chunks that fit the embedding model's window.
//!
//! The way of a document: [`document`] joins the pages, [`outline`] finds blocks and headings,
//! [`unit`] cuts them into headings, sentences and lines, [`pack`] puts these into drafts of near
//! equal size, and [`assemble`] adds heading path and overlap and has the tokenizer count.

mod assemble;
mod batch;
mod document;
mod error;
mod fence;
mod outline;
mod pack;
mod room;
mod sentence;
mod settings;
mod stage;
mod table;
mod tokens;
mod unit;

pub use batch::batches;
pub use document::PageText;
pub use error::ChunkError;
pub use settings::Settings;
pub use stage::{ChunkStage, Chunker};
pub use tokens::{Budget, TokenCounter};

use std::sync::Arc;

use shared::bus::ConsumeOptions;
use shared::contract::Chunk;
use shared::service::Service;
use shared::settings::Model;

/// Cuts `pages`, in reading order, into chunks.
///
/// The spans of all chunks, in order, cover every byte of every page once. No chunk has more than
/// the window's tokens. A chunk's heading path are the headings above its first text, its own
/// included. Text of different places, such as two slides, is never in one chunk. A chunk that goes
/// on with a table has its header as overlap. The same pages give the same chunks.
///
/// # Errors
/// [`ChunkError::NoText`] when all pages are blank; else when the tokenizer refuses the text.
pub fn chunk_pages(pages: &[PageText], budget: &Budget) -> Result<Vec<Chunk>, ChunkError> {
    let document = document::Document::join(pages)?;
    let outline = outline::Outline::of(&document);
    let units = unit::units(&document, &outline, budget)?;
    if units.is_empty() {
        return Err(ChunkError::NoText);
    }
    let mut rooms = room::Rooms::new(budget, &outline.sections);
    let drafts = pack::pack(&document, &budget.tokenizer, &mut rooms, units)?;
    assemble::assemble(&document, budget, &outline.sections, &mut rooms, drafts)
}

/// Chunks documents from the bus until the service drains.
///
/// # Errors
/// When the model's files cannot be read, or the work loop ends by itself.
pub async fn run(service: Service, settings: Settings) -> anyhow::Result<()> {
    let model: Model = shared::settings::load("model")?;
    let id = model.id()?;
    let budget = tokio::task::spawn_blocking(move || Budget::of(&model)).await??;
    let chunker = Chunker::new(service.blobs.clone(), budget, id);
    let stage = Arc::new(ChunkStage::new(service.bus.clone(), chunker));
    let options = ConsumeOptions {
        in_flight: settings.documents_in_flight,
    };
    let work = service
        .bus
        .consume(stage, options, &service.drain, &service.health);
    service.run_until_drained(vec![work]).await
}
