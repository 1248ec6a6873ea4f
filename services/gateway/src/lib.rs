//! The gateway: the web page and the HTTP API, on loopback only.
//!
//! It owns no state. Bytes of an upload go to the blob store; everything else is a question to
//! another service over the bus. Every request passes, in this order: the trace and the rendering
//! of errors ([`report`]), the checks of host and origin ([`guard`]), the limit of requests in hand
//! ([`limit`]), its route ([`routes`]).

pub mod app;
pub mod error;
pub mod extract;
pub mod guard;
pub mod http_status;
pub mod intake;
pub mod limit;
pub mod page;
pub mod port_file;
pub mod report;
mod routes;
pub mod server;
pub mod settings;
pub mod source_path;

use shared::service::Service;

pub use settings::Settings;

/// Serves until drained.
///
/// # Errors
/// Settings that do not hold, or an address that cannot be listened on.
pub async fn run(service: Service, settings: Settings) -> anyhow::Result<()> {
    let data = shared::settings::data_dir();
    let server = server::Server::bind(&service, &settings, &data).await?;
    let task = server.start();
    service.run_until_drained(vec![task]).await
}
