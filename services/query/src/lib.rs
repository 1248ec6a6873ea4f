//! Answers questions: asks the keyword and the vector engine, fuses what they find, and has a
//! language model answer from the best passages, with where each stands.
//!
//! A search runs through `search` (`engines`, `fusion`, `label`); an answer goes on through
//! `prompt`, `generation` and `cite`.

mod answer;
mod arrange;
mod candidate;
mod cite;
mod engines;
mod error;
mod explain;
mod finish;
mod fusion;
mod generation;
mod label;
mod pack;
mod partly_read;
mod prompt;
mod quote;
mod rerank;
mod responder;
mod search;
mod settings;
mod source;
mod terms;
mod understand;
mod weigh;

pub use answer::Answerer;
pub use cite::Citations;
pub use engines::{BusEngines, Engines, Wanted};
pub use error::QuestionError;
pub use fusion::{Fused, List, RANK_CONSTANT, fuse};
pub use generation::*;
pub use label::{citation, label};
pub use prompt::{NOT_IN_DOCUMENTS, tokens};
pub use responder::start;
pub use search::search;
pub use settings::Settings;

use std::sync::Arc;

use shared::service::Service;
use shared::settings::{Network, assets_dir, load};

/// Answers questions from the bus until the service drains.
///
/// # Errors
/// Settings that do not hold, or a bus that refuses a subscription.
pub async fn run(service: Service, settings: Settings) -> anyhow::Result<()> {
    let network: Network = load("network")?;
    let generation: GenerationSettings = load("generation")?;
    let generation = generation.checked()?;
    let generators = Generators::new(&generation, &network, &assets_dir())?;
    let answerer = Arc::new(Answerer {
        engines: Box::new(BusEngines::new(service.bus.clone(), settings.clone())),
        generators,
        settings,
        generation,
    });
    start(Arc::clone(&answerer), &service).await?;
    // The first question need not wait for the model, nor the service for its loading.
    tokio::spawn(async move { answerer.generators.warm().await });
    service.run_until_drained(Vec::new()).await
}
