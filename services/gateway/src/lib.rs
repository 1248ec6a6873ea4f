//! The gateway: the web page and the HTTP API, for this machine, or for whoever has the token.
//!
//! It owns no state. Bytes of an upload go to the blob store; everything else is a question to
//! another service over the bus. Every request passes, in this order: the trace and the rendering
//! of errors ([`report`]), the checks of host and origin ([`guard`]), the check of the token
//! ([`door`]), the limit of requests in hand ([`limit`]), its deadline ([`within`]), its route
//! ([`routes`]).

pub mod app;
pub mod asked;
pub mod disposition;
pub mod document_pages;
pub mod door;
pub mod error;
pub mod extract;
pub mod guard;
mod held;
pub mod http_status;
pub mod intake;
pub mod limit;
pub mod live;
pub mod openapi;
pub mod page;
pub mod port_file;
pub mod range;
pub mod report;
pub mod router;
mod routes;
pub mod sealing;
pub mod secret;
pub mod server;
pub mod settings;
pub mod source_path;
mod sse;
pub mod token;
pub mod watch;
pub mod within;

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
