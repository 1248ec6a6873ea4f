//! The embedder as a program of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    shared::service::run("embedder", |service| async move {
        let settings: embedder::Settings = shared::settings::load("embedder")?;
        embedder::run(service, settings).await
    })
}
