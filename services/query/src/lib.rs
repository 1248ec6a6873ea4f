//! Answers questions: asks the keyword and the vector engine, fuses what they find, and quotes
//! the best passages with where they stand.

mod answer;
mod engines;
mod error;
mod fusion;
mod label;
mod quote;
mod responder;
mod search;
mod settings;
mod terms;

pub use answer::{Extract, GENERATOR, extract};
pub use engines::{BusEngines, Engines, Wanted};
pub use error::QuestionError;
pub use fusion::{Fused, RANK_CONSTANT, fuse};
pub use label::label;
pub use responder::Responder;
pub use search::search;
pub use settings::Settings;

use shared::service::Service;

/// Answers questions from the bus until the service drains.
///
/// # Errors
/// When the bus refuses a subscription.
pub async fn run(service: Service, settings: Settings) -> anyhow::Result<()> {
    let engines = BusEngines::new(service.bus.clone(), settings.clone());
    Responder::new(Box::new(engines), settings)
        .start(&service)
        .await?;
    service.run_until_drained(Vec::new()).await
}
