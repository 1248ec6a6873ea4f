//! A child that is kept running until it is told to end.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::backoff::Backoff;
use super::{log_line, pipe};
use crate::screen::Screen;

/// How a child says that its settings are wrong, which no restart mends.
pub const USAGE_EXIT: i32 = 64;
/// Last lines may still be in the pipe; a grandchild may hold it open for longer.
const LOGS_WITHIN: Duration = Duration::from_millis(500);

/// How to start a child.
#[derive(Debug, Clone)]
pub struct ChildSpec {
    /// Its name in the log view.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its environment beyond our own.
    pub environment: Vec<(String, OsString)>,
    /// How long it may take to end after SIGTERM.
    pub grace: Duration,
    /// Show its lines as they are.
    pub raw_logs: bool,
}

/// How a child ended in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, after it was told to.
    Drained,
    /// It was killed: it did not end within its time.
    GaveUp,
}

/// Where a child stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildState {
    /// Not started yet, or waiting to be started again.
    Waiting,
    /// Runs.
    Running,
    /// Its settings are wrong; it is not started again.
    Unusable,
}

/// The handle on a kept child.
pub struct Keeper {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub state: watch::Receiver<ChildState>,
    stop: CancellationToken,
    kill: CancellationToken,
    task: JoinHandle<Ended>,
}

impl Keeper {
    /// Starts a child and keeps it running. `kill` ends the patience with it.
    ///
    /// Children must be started from a thread that lives as long as the process (see
    /// [`super::parent::die_with`]): call it on a current-thread runtime of the main thread.
    pub fn start(spec: ChildSpec, screen: Screen, kill: CancellationToken) -> Self {
        let stop = CancellationToken::new();
        let (tell, state) = watch::channel(ChildState::Waiting);
        let name = spec.name.clone();
        let keep = Keep {
            spec,
            screen,
            stop: stop.clone(),
            kill: kill.clone(),
            tell,
        };
        Self {
            name,
            state,
            stop,
            kill,
            task: tokio::spawn(keep.run()),
        }
    }

    /// Tells the child to end.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits for its end.
    pub async fn ended(self) -> Ended {
        match self.task.await {
            Ok(ended) => ended,
            Err(_panic) => {
                self.kill.cancel();
                Ended::GaveUp
            }
        }
    }
}

struct Keep {
    spec: ChildSpec,
    screen: Screen,
    stop: CancellationToken,
    kill: CancellationToken,
    tell: watch::Sender<ChildState>,
}

impl Keep {
    async fn run(self) -> Ended {
        let mut backoff = Backoff::default();
        loop {
            let started = Instant::now();
            let outcome = match self.spawn() {
                Ok(child) => {
                    self.tell.send_replace(ChildState::Running);
                    match self.watch(child).await {
                        Watched::Told(ended) => return ended,
                        Watched::ByItself(status) => status,
                    }
                }
                Err(error) => Err(error),
            };
            let why = match outcome {
                Ok(status) if status.code() == Some(USAGE_EXIT) => {
                    self.tell.send_replace(ChildState::Unusable);
                    self.stop.cancelled().await;
                    return Ended::Drained;
                }
                Ok(status) => format!("ended: {status}"),
                Err(error) => format!("did not start: {error}"),
            };
            self.tell.send_replace(ChildState::Waiting);
            let wait = backoff.after(started.elapsed());
            let text = format!("{why}; starting it again in {:.1} s", wait.as_secs_f32());
            self.screen
                .line(log_line::timed(&log_line::about(&self.spec.name, &text)));
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.stop.cancelled() => return Ended::Drained,
            }
        }
    }

    fn spawn(&self) -> io::Result<Child> {
        let mut command = Command::new(&self.spec.program);
        command
            .arg0("ibid")
            .args(&self.spec.arguments)
            .envs(
                self.spec
                    .environment
                    .iter()
                    .map(|(name, value)| (name, value)),
            )
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is for the supervisor, which then tells the children in their order.
            .process_group(0)
            .kill_on_drop(true);
        command.spawn()
    }

    async fn watch(&self, mut child: Child) -> Watched {
        let logs = [
            child
                .stdout
                .take()
                .map(|out| tokio::spawn(self.forward(out))),
            child
                .stderr
                .take()
                .map(|out| tokio::spawn(self.forward(out))),
        ];
        let watched = tokio::select! {
            status = child.wait() => Watched::ByItself(status),
            () = self.stop.cancelled() => Watched::Told(self.end(&mut child).await),
        };
        for log in logs.into_iter().flatten() {
            let abort = log.abort_handle();
            if tokio::time::timeout(LOGS_WITHIN, log).await.is_err() {
                abort.abort();
            }
        }
        watched
    }

    fn forward(
        &self,
        out: impl tokio::io::AsyncRead + Unpin + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (screen, name, raw) = (
            self.screen.clone(),
            self.spec.name.clone(),
            self.spec.raw_logs,
        );
        async move {
            pipe::each_line(out, |line| {
                if raw {
                    screen.line(line);
                } else if let Some(line) = log_line::tidy(&name, line) {
                    screen.line(log_line::timed(&line));
                }
            })
            .await;
        }
    }

    async fn end(&self, child: &mut Child) -> Ended {
        let pid = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        let asked = pid.map(|pid| kill_process(pid, Signal::TERM));
        if let Some(Ok(())) = asked {
            tokio::select! {
                waited = tokio::time::timeout(self.spec.grace, child.wait()) => {
                    if waited.is_ok() {
                        return Ended::Drained;
                    }
                }
                () = self.kill.cancelled() => {}
            }
        }
        // Already gone when this fails.
        child.kill().await.ok();
        Ended::GaveUp
    }
}

enum Watched {
    Told(Ended),
    ByItself(io::Result<ExitStatus>),
}

#[cfg(test)]
mod tests;
