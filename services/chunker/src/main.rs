//! The chunker as a program of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    shared::service::run("chunker", |service| async move {
        let settings: chunker::Settings = shared::settings::load("chunker")?;
        chunker::run(service, settings).await
    })
}
