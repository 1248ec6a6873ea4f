//! A parser service alone on a bus: documents go in, and how each ends comes out.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use async_trait::async_trait;
use shared::blobs::{Blobs, original_key};
use shared::bus::{
    Bus, BusSettings, ConsumeOptions, DeadLetterHandler, Failure, Handler, Outgoing,
};
use shared::contract::subject::Stage;
use shared::contract::{
    DeadLetter, DocumentAdmitted, DocumentId, DocumentParsed, ErrorBody, FileHash, Generation,
    PageManifest, Pipeline, Sha256Hex, Work,
};
use shared::format::Format;
use shared::service::{Drain, HealthBoard};
use tokio::sync::mpsc;

use crate::bus::BusServer;
use crate::harness::wait_for;
use crate::workspace;

const START_LIMIT: Duration = Duration::from_mins(1);

/// How a document ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// Its pages lie in this blob folder.
    Parsed {
        /// Of the blob store.
        folder: String,
    },
    /// It was given up, with reason and remedy.
    Failed(ErrorBody),
}

/// The service with its bus, ended when dropped.
///
/// A service ends with the thread that started it, so it is started from the test's own thread.
pub struct LoneParser {
    child: Child,
    bus: Bus,
    blobs: Blobs,
    data: PathBuf,
    endings: mpsc::UnboundedReceiver<(DocumentId, Ending)>,
    drain: Drain,
    /// After the child, which uses it.
    _server: BusServer,
}

impl LoneParser {
    /// Starts nats-server and one parser with `settings`, such as
    /// `("IBID_PARSER__CHILDREN", "2")`.
    ///
    /// # Errors
    /// Something does not start, or is not ready in time.
    pub async fn start(settings: &[(&str, &str)]) -> Result<Self> {
        let server = BusServer::start().await?;
        let data = server.folder().join("data");
        std::fs::create_dir_all(&data)?;
        let bus = server.connect(BusSettings::default()).await?;
        let log = std::fs::File::create(data.join("parser.log"))?;
        let child = Command::new(workspace::ibid()?)
            .args(["service", "parser"])
            .env("IBID_DATA", &data)
            .env("IBID_ASSETS", workspace::assets())
            .env("IBID_BUS__URL", server.url())
            .env("NO_COLOR", "1")
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("starting the parser")?;
        let (sender, endings) = mpsc::unbounded_channel();
        let drain = listen(&bus, sender);
        let mut parser = Self {
            child,
            bus,
            blobs: Blobs::open(&data.join("blobs"))?,
            data,
            endings,
            drain,
            _server: server,
        };
        parser.wait_until_ready().await?;
        Ok(parser)
    }

    async fn wait_until_ready(&mut self) -> Result<()> {
        let (bus, child) = (&self.bus, &mut self.child);
        wait_for("the parser to be ready", START_LIMIT, async || {
            if let Some(status) = child.try_wait()? {
                bail!("it ended with {status}");
            }
            let health = bus.gather_health(Duration::from_millis(200)).await;
            let is_ready = health
                .iter()
                .any(|one| one.ready && one.service == "parser");
            is_ready.then_some(()).context("not yet")
        })
        .await
    }

    /// Hands a document out; it ends in [`LoneParser::next`]. `round` tells repeats of the same
    /// bytes apart, which are read again then.
    ///
    /// # Errors
    /// The blob store or the bus refuses.
    pub async fn send(
        &self,
        name: &str,
        format: Format,
        bytes: Vec<u8>,
        round: u32,
    ) -> Result<DocumentId> {
        let content = Sha256Hex::of(&bytes);
        self.blobs
            .put(&original_key(&content), bytes.into())
            .await?;
        let version = Sha256Hex::of(format!("{name} {round} {content}").as_bytes());
        let message = DocumentAdmitted {
            work: Work {
                document_id: DocumentId::generate(),
                generation: Generation(1),
                file_hash: FileHash::of(&version, format),
                format,
                pipeline: Pipeline::current("no-model".parse()?),
                attempt: 1,
            },
            content,
            name: name.to_owned(),
            password: None,
        };
        let out = Outgoing::stage(Stage::Parse, &message.work, None, &message)?;
        self.bus.publish_work(out).await?;
        Ok(message.work.document_id)
    }

    /// The next document that has ended.
    ///
    /// # Errors
    /// None ends within `limit`.
    pub async fn next(&mut self, limit: Duration) -> Result<(DocumentId, Ending)> {
        tokio::time::timeout(limit, self.endings.recv())
            .await
            .with_context(|| format!("no document ended within {limit:?}\n{}", self.log_tail()))?
            .context("nobody listens any more")
    }

    /// The pages of a parsed document.
    ///
    /// # Errors
    /// They are not there.
    pub async fn manifest(&self, folder: &str) -> Result<PageManifest> {
        let bytes = self
            .blobs
            .get(&format!("{folder}/{}", PageManifest::FILE))
            .await?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// The text of a page.
    ///
    /// # Errors
    /// It is not there.
    pub async fn page(&self, folder: &str, number: u32) -> Result<String> {
        let key = format!("{folder}/{}", PageManifest::page_file(number));
        Ok(String::from_utf8(self.blobs.get(&key).await?.into())?)
    }

    /// Whether the service that was started is the one that runs.
    ///
    /// # Errors
    /// It cannot be asked.
    pub fn is_alive(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// The service's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Process ids of its reading children that live now, by `/proc/{pid}/task/{tid}/children`,
    /// see proc(5): they are started without any environment, so their parent tells whose they are.
    ///
    /// # Errors
    /// `/proc` cannot be read.
    pub fn children(&self) -> Result<Vec<i32>> {
        let mut found = Vec::new();
        let tasks = format!("/proc/{}/task", self.child.id());
        for task in std::fs::read_dir(tasks).context("reading /proc")? {
            let list = std::fs::read_to_string(task?.path().join("children")).unwrap_or_default();
            let pids = list.split_whitespace();
            found.extend(pids.filter_map(|pid| pid.parse::<i32>().ok()));
        }
        Ok(found)
    }

    /// The last lines of its log.
    pub fn log_tail(&self) -> String {
        let log = std::fs::read_to_string(self.data.join("parser.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let from = lines.len().saturating_sub(20);
        lines.get(from..).unwrap_or_default().join("\n")
    }
}

impl Drop for LoneParser {
    fn drop(&mut self) {
        self.drain.begin();
        let _gone_already = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// The most memory that process `pid` has had at a time, in KiB; 0 when it is gone.
pub fn peak_memory_kib(pid: i32) -> u64 {
    let status = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status"));
    let peak = |status: String| {
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.split_whitespace().next()?.parse().ok()
    };
    status.ok().and_then(peak).unwrap_or(0)
}

/// What comes after the parser: it takes note of what arrives.
struct After(mpsc::UnboundedSender<(DocumentId, Ending)>);

#[async_trait]
impl Handler for After {
    type Message = DocumentParsed;

    fn stage(&self) -> Stage {
        Stage::Chunk
    }

    fn work<'a>(&self, message: &'a DocumentParsed) -> &'a Work {
        &message.work
    }

    async fn handle(&self, message: DocumentParsed) -> Result<Vec<Outgoing>, Failure> {
        let folder = message.folder;
        let ending = (message.work.document_id, Ending::Parsed { folder });
        self.0.send(ending).map_err(Failure::retry)?;
        Ok(Vec::new())
    }
}

#[async_trait]
impl DeadLetterHandler for After {
    async fn note(&self, letter: DeadLetter) -> Result<(), Failure> {
        let ending = (letter.document_id, Ending::Failed(letter.error));
        self.0.send(ending).map_err(Failure::retry)
    }
}

fn listen(bus: &Bus, sender: mpsc::UnboundedSender<(DocumentId, Ending)>) -> Drain {
    let (drain, health) = (Drain::new(), HealthBoard::new("test"));
    let after = Arc::new(After(sender));
    let options = ConsumeOptions { in_flight: 8 };
    drop(bus.consume(Arc::clone(&after), options, &drain, &health));
    drop(bus.consume_dead_letters(after, &drain, &health));
    drain
}
