//! The indexer as a program of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    shared::service::run("indexer", |service| async move {
        let settings: indexer::Settings = shared::settings::load("indexer")?;
        indexer::run(service, settings).await
    })
}
