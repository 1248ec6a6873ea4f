//! The embedder: chunks and questions to vectors.
//!
//! A model folder is made by [`import::import_model`], opened as a [`model::Model`], and run by an
//! [`encoder::Encoder`] under a [`batch::Scheduler`]; a model may also be a server's. Either is an
//! [`engine::Engine`], which [`stage::EmbedStage`] and [`responder::Questions`] put on the bus.

pub mod batch;
pub mod encoder;
pub mod engine;
pub mod error;
pub mod import;
pub mod model;
pub mod responder;
pub mod settings;
pub mod stage;
pub mod tokens;

use std::sync::Arc;

use shared::bus::ConsumeOptions;
use shared::service::Service;
use shared::settings::{Model, Network, load};

use self::engine::{Engine, Local, Remote, Waits};
use self::responder::Questions;
use self::stage::EmbedStage;

pub use self::settings::Settings;

/// Embeds chunks and questions from the bus until the service drains.
///
/// # Errors
/// When the model or ONNX Runtime cannot be loaded, the model's server may not be asked, or the
/// work loop ends by itself. A server that does not answer is waited for.
pub async fn run(service: Service, settings: Settings) -> anyhow::Result<()> {
    let named: Model = load("model")?;
    let engine: Arc<dyn Engine> = if named.on_server() {
        let network: Network = load("network")?;
        let (waits, drain, health) = (Waits::default(), &service.drain, &service.health);
        Arc::new(Remote::start(&named, &network, waits, drain, health)?)
    } else {
        let settings = settings.clone();
        let start = tokio::task::spawn_blocking(move || Local::start(&named, &settings));
        Arc::new(start.await??)
    };
    serve(service, &settings, engine).await
}

/// As [`run`], with an engine that is there already.
///
/// # Errors
/// When the bus refuses, or the work loop ends by itself.
pub async fn serve(
    service: Service,
    settings: &Settings,
    engine: Arc<dyn Engine>,
) -> anyhow::Result<()> {
    let questions = Arc::new(Questions::new(Arc::clone(&engine)));
    responder::answer(&service, questions, settings.questions_in_flight).await?;
    let options = ConsumeOptions {
        in_flight: settings.batches_in_flight,
    };
    let stage = Arc::new(EmbedStage::new(engine));
    let work = service
        .bus
        .consume(stage, options, &service.drain, &service.health);
    service.run_until_drained(vec![work]).await
}
