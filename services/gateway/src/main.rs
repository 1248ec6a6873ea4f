//! The gateway as a program of its own.

use std::process::ExitCode;

use shared::service;

fn main() -> ExitCode {
    service::run("gateway", |service| async move {
        let settings = shared::settings::load("gateway")?;
        gateway::run(service, settings).await
    })
}
