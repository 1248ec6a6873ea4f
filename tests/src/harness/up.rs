//! `ibid up` as a child of the test.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use tempfile::TempDir;

use super::client::Client;
use super::process::{kill, processes, wait_until_gone};
use super::wait_for;
use crate::workspace;

/// How long a start may take: the model is loaded and warmed, on a machine that does more.
const START_LIMIT: Duration = Duration::from_secs(90);

/// A running `ibid up`, its data folder, and its whole tree of processes.
#[derive(Debug)]
pub struct Harness {
    child: Child,
    /// Holds the data folder and, beside it, the log.
    folder: TempDir,
    settings: Vec<(String, String)>,
    client: Client,
}

/// What a command of the `ibid` program printed.
#[derive(Debug, Clone)]
pub struct CliOutput {
    /// Exit code.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

#[derive(Debug, Deserialize)]
struct Endpoint {
    url: String,
    pid: u32,
}

impl Harness {
    /// Starts `ibid up` over a new data folder, adding `paths`.
    ///
    /// # Errors
    /// The program is not built, or not ready in time; the text ends with its last log lines.
    pub async fn start(paths: &[&Path]) -> Result<Self> {
        Self::start_with(paths, &[]).await
    }

    /// Like [`Harness::start`], with settings such as `("IBID_EMBEDDER__THREADS", "1")`.
    ///
    /// # Errors
    /// As [`Harness::start`].
    pub async fn start_with(paths: &[&Path], settings: &[(&str, &str)]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("ibid-test-").tempdir()?;
        let settings: Vec<_> = settings
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let data = data_in(&folder);
        std::fs::create_dir_all(&data)?;
        let mut child = spawn(&data, paths, &settings)?;
        match connect(&data, &mut child).await {
            Ok(client) => Ok(Self {
                child,
                folder,
                settings,
                client,
            }),
            Err(error) => {
                sweep(&data, &mut child);
                Err(error.context(log_tail(&data)))
            }
        }
    }

    /// A client of the gateway as it is reachable now.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Starts `ibid up` whose answers are written by the Ollama at `url`.
    ///
    /// # Errors
    /// As [`Harness::start`].
    pub async fn start_with_ollama(paths: &[&Path], url: &str) -> Result<Self> {
        let settings = [
            ("IBID_GENERATION__PROVIDER", "ollama"),
            ("IBID_GENERATION__OLLAMA_URL", url),
        ];
        Self::start_with(paths, &settings).await
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        data_in(&self.folder)
    }

    /// The processes of the tree called `name`.
    ///
    /// # Errors
    /// `/proc` cannot be read.
    pub fn pids(&self, name: &str) -> Result<Vec<super::Process>> {
        let mut found = processes(&self.data())?;
        found.retain(|process| process.name == name);
        Ok(found)
    }

    /// `kill -9` on the supervisor; waits until nothing of the tree is left.
    ///
    /// # Errors
    /// An orphan outlives its supervisor.
    pub async fn kill_supervisor(&mut self) -> Result<()> {
        self.child.kill().context("killing the supervisor")?;
        self.child.wait()?;
        wait_until_gone(&self.data(), Duration::from_secs(20))
            .await
            .context("the supervisor was killed, so everything it started must end by itself")
    }

    /// Starts `ibid up` again over the same data folder.
    ///
    /// # Errors
    /// Not ready in time.
    pub async fn restart(&mut self) -> Result<()> {
        self.child = spawn(&self.data(), &[], &self.settings)?;
        self.client = connect(&self.data(), &mut self.child)
            .await
            .map_err(|error| error.context(log_tail(&self.data())))?;
        Ok(())
    }

    /// SIGTERM, as a person's Ctrl-C or a service manager would; gives the exit code.
    ///
    /// # Errors
    /// Still running after `limit`, or something of the tree is left.
    pub async fn stop(mut self, limit: Duration) -> Result<Option<i32>> {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TERM)?;
        let child = &mut self.child;
        let status = wait_for("`ibid up` to drain and end", limit, async || {
            child
                .try_wait()
                .map_err(|error| error.to_string())?
                .ok_or_else(|| "running".to_owned())
        })
        .await?;
        wait_until_gone(&self.data(), Duration::from_secs(10)).await?;
        Ok(status.code())
    }

    /// Runs `ibid ARGUMENTS` against this tree.
    ///
    /// # Errors
    /// The program cannot be started, or takes more than two minutes.
    pub async fn cli(&self, arguments: &[&str]) -> Result<CliOutput> {
        let mut command = tokio::process::Command::from(command(&self.data(), &self.settings)?);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output = tokio::time::timeout(Duration::from_mins(2), command.output())
            .await
            .with_context(|| format!("`ibid {}` hangs", arguments.join(" ")))??;
        Ok(CliOutput {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// The last lines of the log, for the text of a failure.
    pub fn log_tail(&self) -> String {
        log_tail(&self.data())
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        sweep(&self.data(), &mut self.child);
    }
}

/// Ends whatever is left of the tree.
fn sweep(data: &Path, child: &mut Child) {
    // Both fail only when the child has ended already.
    let _ended = child.kill();
    let _reaped = child.wait();
    for process in processes(data).unwrap_or_default() {
        kill(&process);
    }
}

fn command(data: &Path, settings: &[(String, String)]) -> Result<Command> {
    let mut command = Command::new(workspace::ibid()?);
    command
        .env("IBID_DATA", data)
        .env("IBID_ASSETS", workspace::assets())
        .env("IBID_GATEWAY__PORT", "0")
        .env("NO_COLOR", "1")
        // A model server that happens to run on this machine must not answer in a test.
        .env("IBID_GENERATION__PROVIDER", "extractive")
        .envs(settings.iter().map(|(name, value)| (name, value)));
    Ok(command)
}

fn spawn(data: &Path, paths: &[&Path], settings: &[(String, String)]) -> Result<Child> {
    let endpoint = endpoint_file(data);
    if endpoint.exists() {
        std::fs::remove_file(&endpoint).context("removing the endpoint of the run before")?;
    }
    let log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(log_file(data))?;
    command(data, settings)?
        .arg("up")
        .args(paths)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .context("starting `ibid up`")
}

/// Waits until the gateway answers and every service says it is ready.
async fn connect(data: &Path, child: &mut Child) -> Result<Client> {
    const SERVICES: [&str; 6] = [
        "parser", "chunker", "embedder", "indexer", "query", "gateway",
    ];
    wait_for("`ibid up` to be ready", START_LIMIT, async || {
        if let Some(status) = child.try_wait()? {
            return Ok(Err(anyhow::anyhow!("`ibid up` ended with {status}")));
        }
        let text = std::fs::read_to_string(endpoint_file(data)).context("no endpoint file")?;
        let endpoint: Endpoint = serde_json::from_str(&text)?;
        if endpoint.pid != child.id() {
            bail!("the endpoint file is of process {}", endpoint.pid);
        }
        let client = Client::new(&endpoint.url)?;
        let (services, _) = client.status().await?;
        let ready: Vec<&str> = services
            .iter()
            .filter(|health| health.ready)
            .map(|health| health.service.as_str())
            .collect();
        match SERVICES.iter().find(|name| !ready.contains(*name)) {
            None => Ok(Ok(client)),
            Some(name) => bail!("`{name}` is not ready; ready are {ready:?}"),
        }
    })
    .await?
}

fn endpoint_file(data: &Path) -> PathBuf {
    data.join("run/endpoint.json")
}

fn data_in(folder: &TempDir) -> PathBuf {
    folder.path().join("data")
}

fn log_file(data: &Path) -> PathBuf {
    data.with_file_name("ibid.log")
}

fn log_tail(data: &Path) -> String {
    let log = std::fs::read(log_file(data)).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let lines: Vec<&str> = log.lines().collect();
    let tail = lines
        .get(lines.len().saturating_sub(40)..)
        .unwrap_or_default();
    format!("the log ends with:\n{}", tail.join("\n"))
}
