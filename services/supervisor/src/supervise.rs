//! `ibid up`: one data folder, one bus, six services, and a tidy end.

pub mod backoff;
pub mod child;
pub mod endpoint;
pub mod fleet;
pub mod log_line;
pub mod nats;
pub mod parent;
mod pipe;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use shared::settings::SettingsError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use child::{Ended, Keeper};
use endpoint::{Endpoint, run_folder};
use fleet::{Fleet, Surroundings};
use nats::Nats;

use crate::client::{self, Gateway};
use crate::files::{self, try_lock};
use crate::screen::Screen;

/// The gateway answers as soon as it has the bus.
const GATEWAY_WITHIN: Duration = Duration::from_mins(2);
/// Loading the model and the indexes may take longer than that.
const ALL_WITHIN: Duration = Duration::from_mins(5);
/// A process that is being killed may hold the lock for a moment.
const LOCK_WITHIN: Duration = Duration::from_secs(2);

/// Why Ibid did not come up.
#[derive(Debug, thiserror::Error)]
pub enum UpError {
    /// Another one has the data folder.
    #[error("another `ibid up` runs on `{}`", data.display())]
    Running {
        /// The data folder.
        data: PathBuf,
    },
    /// Another program has the port.
    #[error("port {port} is taken by another program")]
    Port {
        /// The port.
        port: u16,
    },
    /// The address is not one to listen on.
    #[error("cannot listen on `{address}`: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Settings that do not hold.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A service found its settings wrong.
    #[error("service `{name}` does not start with these settings")]
    Unusable {
        /// The service.
        name: String,
    },
    /// The bus did not come up.
    #[error("the NATS server did not start: {0}")]
    Nats(io::Error),
    /// The gateway did not come up.
    #[error("the gateway did not answer within {} seconds", GATEWAY_WITHIN.as_secs())]
    Gateway,
    /// The data folder cannot be used.
    #[error("cannot use the data folder `{}`: {source}", data.display())]
    Data {
        /// The data folder.
        data: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It was told to end before it was up.
    #[error("stopped before it was ready")]
    Stopped,
}

impl UpError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Running { .. } => {
                "use that one (`ibid status`), end it first, or set IBID_DATA to another folder"
            }
            Self::Port { .. } => {
                "end that program, or set IBID_PORT to another port (0 takes any free one)"
            }
            Self::Listen { .. } => {
                "set `gateway.address` to an address of this machine, or IBID_PORT to another port"
            }
            Self::Settings(_) | Self::Unusable { .. } => {
                "correct `ibid.toml` in the data folder, or the IBID_ variables"
            }
            Self::Nats(_) | Self::Gateway => "see the lines above, and try `ibid doctor`",
            Self::Data { .. } => {
                "check free space and permissions, or set IBID_DATA to another folder"
            }
            Self::Stopped => "start it again with `ibid up`",
        }
    }
}

/// What `up` runs on.
pub struct UpOptions {
    /// The data folder.
    pub data: PathBuf,
    /// The NATS server's program.
    pub nats_server: PathBuf,
    /// The gateway's address.
    pub address: IpAddr,
    /// The gateway's port; 0 for any.
    pub port: u16,
    /// How many of each.
    pub fleet: fleet::Settings,
    /// Which of the children's events are logged.
    pub log_filter: String,
    /// Show the children's log lines as they are.
    pub raw_logs: bool,
    /// What else stands in the services' environment.
    pub environment: Vec<(String, OsString)>,
}

/// A running Ibid.
pub struct Up {
    /// Where it is.
    pub endpoint: Endpoint,
    /// Its gateway.
    pub gateway: Gateway,
    data: PathBuf,
    fleet: Fleet,
    bus: Keeper,
    _lock: File,
}

/// The requests to end: the first drains, the second gives up at once.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// Begin the drain.
    pub drain: CancellationToken,
    /// End the patience.
    pub kill: CancellationToken,
}

impl Up {
    /// Brings everything up; when that fails, everything is down again.
    ///
    /// # Errors
    /// See [`UpError`].
    pub async fn start(options: UpOptions, screen: &Screen, stop: &Stop) -> Result<Self, UpError> {
        let data = options.data.clone();
        let at = |source| UpError::Data {
            data: data.clone(),
            source,
        };
        // Pages, catalog and indexes hold the documents' text.
        files::private_folder(&data).map_err(at)?;
        let lock = lock(&data).await?;
        // What a killed one left must not be taken for us.
        Endpoint::withdraw(&data).map_err(at)?;
        let port = choose_port(options.address, options.port)?;
        let url = format!(
            "http://{}",
            SocketAddr::new(reached_at(options.address), port)
        );
        let gateway = Gateway::at(&url).map_err(|_error| UpError::Gateway)?;
        // The same inode for us and all children, even when the file is built anew meanwhile.
        let ibid = Path::new("/proc/self/exe");
        let nats = Nats::prepare(&run_folder(&data), &data.join("jetstream")).map_err(at)?;
        let spec = nats.spec(ibid, &options.nats_server);
        let bus = Keeper::start(spec, screen.clone(), stop.kill.clone());
        let ready = tokio::select! {
            ready = nats.ready() => ready.map_err(UpError::Nats),
            () = stop.drain.cancelled() => Err(UpError::Stopped),
        };
        if let Err(error) = ready {
            end_bus(bus).await;
            return Err(error);
        }
        let around = Surroundings {
            ibid,
            nats: &nats,
            port,
            log_filter: &options.log_filter,
            raw_logs: options.raw_logs,
            environment: &options.environment,
        };
        let fleet = Fleet::start(&options.fleet, &around, screen, &stop.kill);
        let endpoint = Endpoint {
            url,
            bus_url: nats.url.clone(),
            bus_token: nats.token.clone(),
            pid: std::process::id(),
        };
        let mut up = Self {
            endpoint,
            gateway,
            data: data.clone(),
            fleet,
            bus,
            _lock: lock,
        };
        let reached = match up.reach(stop).await {
            Ok(()) => up.endpoint.publish(&data).map_err(at),
            Err(error) => Err(error),
        };
        match reached {
            Ok(()) => {
                // By now the gateway has made one if it needs one.
                up.gateway = up.gateway.with_token(client::token(&data));
                Ok(up)
            }
            Err(error) => {
                up.drain().await;
                Err(error)
            }
        }
    }

    async fn reach(&self, stop: &Stop) -> Result<(), UpError> {
        let answers = async {
            while !self.gateway.is_alive().await {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::select! {
            answered = tokio::time::timeout(GATEWAY_WITHIN, answers) => {
                answered.map_err(|_elapsed| UpError::Gateway)
            }
            name = self.fleet.unusable() => Err(UpError::Unusable { name }),
            () = stop.drain.cancelled() => Err(UpError::Stopped),
        }
    }

    /// Waits until every service says that it takes work; returns those that do not after five
    /// minutes. They may still come.
    pub async fn all_ready(&self) -> Vec<String> {
        let wanted = [
            "parser", "chunker", "embedder", "indexer", "query", "gateway",
        ];
        let started = Instant::now();
        loop {
            let services = match self.gateway.status().await {
                Ok(status) => status.services,
                Err(_not_yet) => Vec::new(),
            };
            let mut missing = wanted.to_vec();
            missing.retain(|name| !services.iter().any(|s| s.ready && s.service == *name));
            if missing.is_empty() || started.elapsed() > ALL_WITHIN {
                return missing.into_iter().map(str::to_owned).collect();
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Returns the name of a service whose settings are wrong, once there is one.
    pub async fn unusable(&self) -> String {
        self.fleet.unusable().await
    }

    /// Ends everything in order; returns those that had to be killed.
    pub async fn drain(self) -> Vec<String> {
        // Failing, the file is stale, which readers check for.
        Endpoint::withdraw(&self.data).ok();
        let mut gave_up = self.fleet.drain().await;
        if end_bus(self.bus).await == Ended::GaveUp {
            gave_up.push("nats".to_owned());
        }
        gave_up
    }
}

async fn end_bus(bus: Keeper) -> Ended {
    bus.stop();
    bus.ended().await
}

async fn lock(data: &Path) -> Result<File, UpError> {
    let started = Instant::now();
    loop {
        match try_lock(&endpoint::lock_file(data)) {
            Ok(Some(lock)) => return Ok(lock),
            Ok(None) if started.elapsed() > LOCK_WITHIN => {
                return Err(UpError::Running {
                    data: data.to_owned(),
                });
            }
            Ok(None) => tokio::time::sleep(Duration::from_millis(50)).await,
            Err(source) => {
                return Err(UpError::Data {
                    data: data.to_owned(),
                    source,
                });
            }
        }
    }
}

/// Where this machine reaches a gateway that listens on `address`.
fn reached_at(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(all) if all.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(all) if all.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        one => one,
    }
}

/// The port itself when it is free; for 0 any free one.
fn choose_port(address: IpAddr, port: u16) -> Result<u16, UpError> {
    TcpListener::bind((address, port))
        .and_then(|listener| listener.local_addr())
        .map(|taken| taken.port())
        .map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => UpError::Port { port },
            _ => UpError::Listen {
                address: SocketAddr::new(address, port),
                source,
            },
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_on_all_addresses_is_reached_on_this_machine() {
        for (address, expect) in [
            ("0.0.0.0", "127.0.0.1"),
            ("::", "::1"),
            ("127.0.0.1", "127.0.0.1"),
            ("192.168.1.4", "192.168.1.4"),
        ] {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(reached_at(address).to_string(), expect);
        }
    }

    #[test]
    fn a_taken_port_is_told_with_its_remedy() {
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let held = TcpListener::bind((loopback, 0)).unwrap();
        let port = held.local_addr().unwrap().port();
        let error = choose_port(loopback, port).unwrap_err();
        assert!(error.to_string().contains(&port.to_string()));
        assert!(error.remedy().contains("IBID_PORT"));
        assert_ne!(choose_port(loopback, 0).unwrap(), 0);
    }

    #[test]
    fn an_address_of_another_machine_is_no_taken_port() {
        // Of the block for documentation (RFC 5737).
        let error = choose_port("192.0.2.1".parse().unwrap(), 0).unwrap_err();
        assert!(error.to_string().contains("`192.0.2.1:0`"), "{error}");
        assert!(error.remedy().contains("gateway.address"));
    }

    #[tokio::test]
    async fn one_up_per_data_folder() {
        let data = tempfile::tempdir().unwrap();
        let held = lock(data.path()).await.unwrap();
        let refused = lock(data.path()).await;
        assert!(
            matches!(refused, Err(UpError::Running { .. })),
            "{refused:?}"
        );
        drop(held);
        assert!(lock(data.path()).await.is_ok());
    }
}
