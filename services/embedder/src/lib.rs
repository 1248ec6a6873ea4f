//! The embedder: chunks and questions to vectors.
//!
//! A model folder is made by [`import::import_model`], opened as a [`model::Model`], and run by an
//! [`encoder::Encoder`]. A [`batch::Scheduler`] feeds an encoder with texts of many callers:
//! [`stage::EmbedStage`] has one for chunks, [`responder::Questions`] one for questions.

pub mod batch;
pub mod encoder;
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

use self::batch::{Scheduler, SchedulerOptions};
use self::encoder::{OnnxEncoder, Runtime, SessionOptions};
use self::model::Model;
use self::responder::Questions;
use self::stage::EmbedStage;

pub use self::settings::Settings;

/// Nice value of bulk work.
const BULK_NICE: i32 = 10;

/// Embeds chunks and questions from the bus until the service drains.
///
/// # Errors
/// When the model or ONNX Runtime cannot be loaded, or the work loop ends by itself.
pub async fn run(service: Service, settings: Settings) -> anyhow::Result<()> {
    let named: shared::settings::Model = shared::settings::load("model")?;
    let (chunks, questions) = {
        let settings = settings.clone();
        tokio::task::spawn_blocking(move || start(&named, &settings)).await??
    };
    responder::answer(&service, Arc::new(questions), settings.questions_in_flight).await?;
    let options = ConsumeOptions {
        in_flight: settings.batches_in_flight,
    };
    let work = service
        .bus
        .consume(Arc::new(chunks), options, &service.drain, &service.health);
    service.run_until_drained(vec![work]).await
}

/// Loads the model twice, for chunks and for questions, and warms both.
fn start(
    named: &shared::settings::Model,
    settings: &Settings,
) -> anyhow::Result<(EmbedStage, Questions)> {
    let runtime = Runtime::load(&settings::runtime_library())?;
    let model = Arc::new(Model::open(&named.folder(), named.precision)?);
    let start = |name, nice, texts| {
        let (runtime, model) = (runtime.clone(), Arc::clone(&model));
        let options = SchedulerOptions {
            name,
            nice,
            batch_time: settings.batch_time(),
            texts,
        };
        let session = SessionOptions {
            threads: settings.threads(),
        };
        Scheduler::start(options, move || OnnxEncoder::open(&runtime, model, session))
    };
    let chunks = settings.batches_in_flight * shared::contract::ChunksMade::MAX_CHUNKS;
    let chunks = Arc::new(start("embed-chunks", BULK_NICE, chunks)?);
    let questions = start("embed-questions", 0, settings.questions_in_flight)?;
    let questions = Questions::new(Arc::clone(&model), questions);
    Ok((EmbedStage::new(model, chunks), questions))
}
