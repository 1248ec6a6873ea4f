//! The query service as a program of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    shared::service::run("query", |service| async move {
        let settings: query::Settings = shared::settings::load("query")?;
        query::run(service, settings).await
    })
}
