//! A nats-server of a test's own.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use shared::bus::{Bus, BusSettings};
use shared::settings::Network;
use tempfile::TempDir;

use crate::harness::wait_for;
use crate::workspace;

const START_LIMIT: Duration = Duration::from_secs(20);

/// A real nats-server with JetStream on a free port, over a folder of its own; ended when
/// dropped.
#[derive(Debug)]
pub struct BusServer {
    process: Child,
    url: String,
    folder: TempDir,
}

/// The file that nats-server writes with its addresses.
#[derive(Debug, Deserialize)]
struct Ports {
    nats: Vec<String>,
}

impl BusServer {
    /// Starts it and waits until it says where it listens.
    ///
    /// # Errors
    /// It is not there, or does not start.
    pub async fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let process = spawn(folder.path(), "-1")?;
        let file = folder
            .path()
            .join(format!("nats-server_{}.ports", process.id()));
        let mut server = Self {
            process,
            url: String::new(),
            folder,
        };
        server.url = wait_for("nats-server to say its port", START_LIMIT, async || {
            let ports: Ports = serde_json::from_slice(&std::fs::read(&file)?)?;
            ports
                .nats
                .into_iter()
                .next()
                .context("no address in the ports file")
        })
        .await?;
        Ok(server)
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The test's own folder, gone with the server.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A connection with the streams made; the address in `settings` is replaced by its own.
    ///
    /// # Errors
    /// It does not answer.
    pub async fn connect(&self, settings: BusSettings) -> Result<Bus> {
        let settings = BusSettings {
            url: self.url.clone(),
            ..settings
        };
        let bus = Bus::connect(&settings, &Network::default(), "test").await?;
        bus.ensure_streams().await?;
        Ok(bus)
    }

    /// Kills it, deletes its store, and starts it again at the same address.
    ///
    /// # Errors
    /// The store cannot be deleted, or it does not start.
    pub fn lose_the_store(&mut self) -> Result<()> {
        self.process.kill()?;
        self.process.wait()?;
        std::fs::remove_dir_all(store(self.folder.path()))?;
        let port = self
            .url
            .rsplit(':')
            .next()
            .context("an address has a port")?;
        self.process = spawn(self.folder.path(), port)?;
        Ok(())
    }
}

impl Drop for BusServer {
    fn drop(&mut self) {
        let _gone_already = self.process.kill().and_then(|()| self.process.wait());
    }
}

fn store(folder: &Path) -> std::path::PathBuf {
    folder.join("jetstream")
}

fn spawn(folder: &Path, port: &str) -> Result<Child> {
    let program = workspace::assets().join("nats-server/nats-server");
    ensure!(
        program.is_file(),
        "no nats-server; `cargo xtask test` or `ibid setup` fetches it"
    );
    Command::new(program)
        .args(["-a", "127.0.0.1", "-p", port, "-js", "-sd"])
        .arg(store(folder))
        .arg("--ports_file_dir")
        .arg(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("starting nats-server")
}
