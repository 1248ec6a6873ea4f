//! Services started one by one over a nats-server of the test's own: how a stage is scaled, or
//! replaced by a program in another language.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tempfile::TempDir;

use super::client::Client;
use super::process::{kill, processes};
use super::wait_for;
use crate::workspace;

const START_LIMIT: Duration = Duration::from_secs(90);

/// How many instances of each stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FleetSize {
    /// Parsers.
    pub parsers: usize,
    /// Chunkers of this workspace.
    pub chunkers: usize,
    /// Chunkers in Python, see `tests/python/chunker.py`.
    pub python_chunkers: usize,
    /// Embedders.
    pub embedders: usize,
}

/// A nats-server and services, ended when dropped.
///
/// Services end with the thread that started them, so a fleet is started from the test's own
/// thread, never from a pool.
#[derive(Debug)]
pub struct Fleet {
    /// Before the folder, so that nothing runs any more when that is removed.
    children: Children,
    client: Client,
    _folder: TempDir,
}

#[derive(Debug)]
struct Children {
    list: Vec<(String, Child)>,
    data: PathBuf,
}

/// The file that nats-server writes with its addresses.
#[derive(Debug, Deserialize)]
struct Ports {
    nats: Vec<String>,
}

impl Fleet {
    /// Starts nats-server, `size` stage instances, and one of each other service.
    ///
    /// # Errors
    /// Something does not start, or is not ready in time.
    pub async fn start(size: FleetSize) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("ibid-fleet-").tempdir()?;
        let data = folder.path().join("data");
        std::fs::create_dir_all(&data)?;
        let mut children = Children {
            list: Vec::new(),
            data,
        };
        let url = children.nats().await?;
        let wanted = [
            ("indexer", 1),
            ("query", 1),
            ("gateway", 1),
            ("parser", size.parsers),
            ("chunker", size.chunkers),
            ("embedder", size.embedders),
        ];
        for (name, count) in wanted {
            for _ in 0..count {
                children.service(name, &url)?;
            }
        }
        for _ in 0..size.python_chunkers {
            children.python_chunker(&url)?;
        }
        let client = children
            .connect(size)
            .await
            .map_err(|error| error.context(children.logs()))?;
        Ok(Self {
            children,
            client,
            _folder: folder,
        })
    }

    /// A client of the gateway.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The last log lines of every process, for the text of a failure.
    pub fn logs(&self) -> String {
        self.children.logs()
    }
}

impl Children {
    async fn nats(&mut self) -> Result<String> {
        let ports = self.data.join("ports");
        std::fs::create_dir_all(&ports)?;
        let mut command = Command::new(workspace::assets().join("nats-server/nats-server"));
        command.args([
            "-a",
            "127.0.0.1",
            "-p",
            "-1",
            "--auth",
            "fleet",
            "-js",
            "-sd",
        ]);
        command
            .arg(self.data.join("jetstream"))
            .arg("--ports_file_dir")
            .arg(&ports);
        self.spawn("nats-server", command)?;
        wait_for("nats-server to say its port", START_LIMIT, async || {
            let file = std::fs::read_dir(&ports)?
                .next()
                .context("no ports file")??;
            let ports: Ports = serde_json::from_slice(&std::fs::read(file.path())?)?;
            ports
                .nats
                .into_iter()
                .next()
                .context("no address in the ports file")
        })
        .await
    }

    fn service(&mut self, name: &str, url: &str) -> Result<()> {
        let mut command = Command::new(workspace::ibid()?);
        command
            .args(["service", name])
            .env("IBID_GATEWAY__PORT", "0");
        self.spawn(name, self.with_bus(command, url))
    }

    fn python_chunker(&mut self, url: &str) -> Result<()> {
        let mut command = Command::new("python3");
        command
            .arg(workspace::root().join("tests/python/chunker.py"))
            .env("PYTHONPATH", workspace::python_packages())
            .env("PYTHONDONTWRITEBYTECODE", "1");
        self.spawn("chunker-py", self.with_bus(command, url))
    }

    fn with_bus(&self, mut command: Command, url: &str) -> Command {
        command
            .env("IBID_DATA", &self.data)
            .env("IBID_ASSETS", workspace::assets())
            .env("IBID_BUS__URL", url)
            .env("IBID_BUS__TOKEN", "fleet")
            .env("NO_COLOR", "1");
        command
    }

    fn spawn(&mut self, name: &str, mut command: Command) -> Result<()> {
        let name = format!("{name}-{}", self.list.len());
        let log = std::fs::File::create(log_file(&self.data, &name))?;
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let child = command
            .spawn()
            .with_context(|| format!("starting `{name}`"))?;
        self.list.push((name, child));
        Ok(())
    }

    /// Waits until every instance has said that it is ready.
    async fn connect(&mut self, size: FleetSize) -> Result<Client> {
        let wanted = [
            ("indexer", 1),
            ("query", 1),
            ("gateway", 1),
            ("parser", size.parsers),
            ("chunker", size.chunkers + size.python_chunkers),
            ("embedder", size.embedders),
        ];
        wait_for("the fleet to be ready", START_LIMIT, async || {
            for (name, child) in &mut self.list {
                if let Some(status) = child.try_wait()? {
                    return Ok(Err(anyhow::anyhow!("`{name}` ended with {status}")));
                }
            }
            let port = std::fs::read_to_string(self.data.join("run/gateway.port"))?;
            let client = Client::new(&format!("http://127.0.0.1:{}", port.trim()))?;
            let (services, _) = client.status().await?;
            for (name, count) in wanted {
                let found = services
                    .iter()
                    .filter(|health| health.service == name && health.ready);
                let found = found.count();
                if found != count {
                    bail!("{found} of {count} instances of `{name}` are ready");
                }
            }
            Ok(Ok(client))
        })
        .await?
    }

    fn logs(&self) -> String {
        let tail = |name: &str| {
            let log = std::fs::read(log_file(&self.data, name)).unwrap_or_default();
            let log = String::from_utf8_lossy(&log).into_owned();
            let lines: Vec<&str> = log.lines().collect();
            let from = lines.len().saturating_sub(12);
            format!(
                "--- {name}\n{}",
                lines.get(from..).unwrap_or_default().join("\n")
            )
        };
        self.list
            .iter()
            .map(|(name, _)| tail(name))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        // Services first: nats-server was started before them.
        for (_, child) in self.list.iter_mut().rev() {
            // Both fail only when the child has ended already.
            let _ended = child.kill();
            let _reaped = child.wait();
        }
        for process in processes(&self.data).unwrap_or_default() {
            kill(&process);
        }
    }
}

fn log_file(data: &Path, name: &str) -> PathBuf {
    data.with_file_name(format!("{name}.log"))
}
