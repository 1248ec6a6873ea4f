//! What every service does around its own work: start, tell its health, drain.

mod data_folder;
mod drain;
mod health_board;

use std::future::Future;
use std::process::ExitCode;
use std::time::Duration;

use tokio::task::JoinHandle;
use tracing::{error, info, warn};

pub use data_folder::{DataFolderError, ensure_writable};
pub use drain::Drain;
pub use health_board::{HealthBoard, InHand, own_host};

use crate::blobs::{BlobError, Blobs};
use crate::bus::{Bus, BusError, BusSettings, Drained};
use crate::settings::{self, Network, SettingsError};
use crate::telemetry::{self, Telemetry, TelemetryError, TelemetrySettings};

/// How long a drain may take before what is left is given up; it is handed out again later.
const DRAIN_WITHIN: Duration = Duration::from_secs(25);

/// Takes every right from group and others in what is written from now on.
const PRIVATE: rustix::fs::Mode = rustix::fs::Mode::RWXG.union(rustix::fs::Mode::RWXO);

/// Why a service did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its settings do not hold.
    #[error("settings")]
    Settings(#[from] SettingsError),
    /// Its telemetry did not start.
    #[error("telemetry")]
    Telemetry(#[from] TelemetryError),
    /// It cannot keep anything.
    #[error("data folder")]
    Data(#[from] DataFolderError),
    /// It did not reach the bus.
    #[error("bus")]
    Bus(#[from] BusError),
    /// It has no blob store.
    #[error("blob store")]
    Blobs(#[from] BlobError),
}

/// A started service: what its own work is built on.
pub struct Service {
    /// Its name: `parser`, `chunker`, …
    pub name: &'static str,
    /// The bus.
    pub bus: Bus,
    /// The blob store.
    pub blobs: Blobs,
    /// Begins when the process is asked to end.
    pub drain: Drain,
    /// What it tells about itself.
    pub health: HealthBoard,
    _telemetry: Option<Telemetry>,
}

impl Service {
    /// Starts telemetry, looks at the data folder, connects to the bus, opens the blob store, and
    /// listens for questions of health.
    ///
    /// # Errors
    /// [`StartError`] with its chain of causes.
    pub async fn start(name: &'static str, drain: Drain) -> Result<Self, StartError> {
        let network: Network = settings::load("network")?;
        let telemetry: TelemetrySettings = settings::load("telemetry")?;
        let telemetry = telemetry::start(name, &telemetry, &network)?;
        ensure_writable(&settings::data_dir())?;
        let bus: BusSettings = settings::load("bus")?;
        let bus = Bus::connect(&bus, &network, name).await?;
        bus.ensure_streams().await?;
        let blobs = Blobs::open(&settings::data_dir().join("blobs"))?;
        Self::assemble(name, bus, blobs, drain, Some(telemetry)).await
    }

    /// A service over parts that are there already: for tests and for programs of several.
    ///
    /// # Errors
    /// When the bus refuses to be asked for health and metrics.
    pub async fn assemble(
        name: &'static str,
        bus: Bus,
        blobs: Blobs,
        drain: Drain,
        telemetry: Option<Telemetry>,
    ) -> Result<Self, StartError> {
        let health = HealthBoard::new(name);
        bus.answer_health(health.clone(), drain.clone()).await?;
        bus.answer_metrics(health.clone(), drain.clone()).await?;
        Ok(Self {
            name,
            bus,
            blobs,
            drain,
            health,
            _telemetry: telemetry,
        })
    }

    /// Says that the service takes work, waits for the drain, and then for `loops` to finish.
    /// The last line logged is "drained" or "gave up on n".
    ///
    /// # Errors
    /// When a loop ended before the drain began.
    pub async fn run_until_drained(self, loops: Vec<JoinHandle<Drained>>) -> anyhow::Result<()> {
        self.health.set_ready();
        info!(service = self.name, "ready");
        let loops = futures::future::join_all(loops);
        tokio::pin!(loops);
        let early = tokio::select! {
            () = self.drain.begun() => None,
            ended = &mut loops, if !self.drain.is_draining() => Some(ended),
        };
        let stopped_early = early.as_ref().is_some_and(|ended| !ended.is_empty());
        let ended = match early {
            Some(ended) if stopped_early => ended,
            // A service without loops only answers requests.
            Some(_) => {
                self.drain.begun().await;
                Vec::new()
            }
            None => tokio::time::timeout(DRAIN_WITHIN, &mut loops)
                .await
                .unwrap_or_default(),
        };
        let given_up: usize = ended.iter().flatten().map(|drained| drained.given_up).sum();
        self.bus.flush().await;
        if given_up == 0 {
            info!(service = self.name, "drained");
        } else {
            warn!(service = self.name, "gave up on {given_up}");
        }
        anyhow::ensure!(
            !stopped_early || self.drain.is_draining(),
            "a work loop ended by itself"
        );
        Ok(())
    }
}

/// Whatever this process writes from now on is its user's alone: pages, catalog and indexes hold
/// the text.
pub fn keep_private() {
    rustix::process::umask(PRIVATE);
}

/// Runs a service as a program: starts it, hands it to `work`, and turns the outcome into an exit
/// code: 0 after a drain, 1 for a failed start.
#[expect(clippy::print_stderr, reason = "telemetry may not have started")]
pub fn run<F, Fut>(name: &'static str, work: F) -> ExitCode
where
    F: FnOnce(Service) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    keep_private();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("{name}: no runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(async {
        // From the first moment: as the first process of a container, only a signal that is
        // listened for ends it.
        let drain = Drain::new();
        drain.begin_on_signal();
        let service = tokio::select! {
            started = Service::start(name, drain.clone()) => started?,
            () = drain.begun() => return Ok(()),
        };
        work(service).await
    });
    let code = match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            error!(service = name, "stopped: {failure:#}");
            eprintln!("{name}: {failure:#}");
            ExitCode::FAILURE
        }
    };
    runtime.shutdown_timeout(Duration::from_secs(2));
    code
}
