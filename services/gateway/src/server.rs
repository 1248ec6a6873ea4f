//! Listening, and ending in good order.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt as _;
use rustix::net::sockopt::set_tcp_user_timeout;
use shared::bus::Drained;
use shared::service::{Drain, HealthBoard, Service};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tracing::{error, info, trace};

use crate::app::App;
use crate::door::Door;
use crate::error::StartError;
use crate::port_file::PortFile;
use crate::router::router;
use crate::settings::Settings;
use crate::token::Token;

/// Milliseconds after which a client that takes nothing of its answer is let go; it holds a place.
const UNREAD_MS: u32 = 60_000;

/// A server that listens and does not answer yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    drain: Drain,
    health: HealthBoard,
    drain_within: Duration,
    port_file: PortFile,
}

impl Server {
    /// Takes the port and tells it in `data`.
    ///
    /// # Errors
    /// [`StartError`].
    pub async fn bind(
        service: &Service,
        settings: &Settings,
        data: &Path,
    ) -> Result<Self, StartError> {
        settings.check()?;
        let wanted = settings.listen_on();
        let token = Token::of(settings, data)?;
        let listen = |source| StartError::Listen {
            address: wanted,
            source,
        };
        let listener = TcpListener::bind(wanted).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let door = Door::new(token, address.port());
        let app = App::new(service, settings, door, data)?;
        Ok(Self {
            router: router(app, settings, address.port()),
            port_file: PortFile::write(data, address.port())?,
            drain: service.drain.clone(),
            health: service.health.clone(),
            drain_within: Duration::from_secs(settings.drain_secs),
            listener,
            address,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until drained: streams are ended, requests in hand get their time.
    pub fn start(self) -> JoinHandle<Drained> {
        tokio::spawn(self.serve())
    }

    async fn serve(self) -> Drained {
        info!(address = %self.address, "the page is at http://{}", self.address);
        let drain = self.drain.clone();
        // A token of an answer is a small packet; it must not wait for the next.
        let listener = self.listener.tap_io(|connection| {
            if let Err(error) = connection.set_nodelay(true) {
                trace!(%error, "no TCP_NODELAY");
            }
            // Linux counts a peer that is alive but does not read as well (tcp(7)).
            if let Err(error) = set_tcp_user_timeout(&*connection, UNREAD_MS) {
                trace!(%error, "no TCP_USER_TIMEOUT");
            }
        });
        let server = axum::serve(listener, self.router)
            .with_graceful_shutdown(async move { drain.begun().await })
            .into_future();
        let late = async {
            self.drain.begun().await;
            tokio::time::sleep(self.drain_within).await;
        };
        tokio::select! {
            outcome = server => {
                if let Err(failure) = outcome {
                    error!(%failure, "stopped listening");
                }
            }
            () = late => {}
        }
        drop(self.port_file);
        let given_up = usize::try_from(self.health.read().in_flight).unwrap_or(usize::MAX);
        Drained {
            given_up,
            stopped: false,
        }
    }
}
