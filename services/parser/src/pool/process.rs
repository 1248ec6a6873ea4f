//! One child process: starting it, asking it, and telling how it ended.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::Signal;

use shared::contract::PagePlaces;

use super::Plan;
use crate::error::PoolError;
use crate::extract::{ExtractError, Extraction, Ocr as _, SecondReader};
use crate::ocr::OcrPlan;
use crate::wire::{self, Answer, OcrSetup, Request, Setup, Task};

use super::pictures::Pictures;

/// From the start of a program to its first word.
const START_WITHIN: Duration = Duration::from_secs(20);
/// A child that closes its end is ending; it gets this long before it is killed.
const END_WITHIN: Duration = Duration::from_secs(2);
/// A child takes what it is told at once; one that does not is up to no good.
const TAKES_WITHIN: Duration = Duration::from_secs(10);
/// Last words are one line.
const MAX_LAST_WORDS: u64 = 4096;

/// What a child has read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parsed {
    /// The document's pages.
    pub extraction: Extraction,
    /// Where their text stands on them, for PDF pages with a text layer.
    pub places: Vec<PagePlaces>,
}

/// How a child ended before its document was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// The parent killed it when the time was up.
    Clock,
    /// The kernel ended it for its processor time.
    Cpu,
    /// It could not have more memory.
    Memory,
    /// It answered more than it may.
    Output,
    /// Its stack was full.
    Stack,
    /// It crashed, or broke the protocol.
    Crashed { signal: Option<i32> },
    /// Someone else killed it.
    Killed,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock => f.write_str("wall clock"),
            Self::Cpu => f.write_str("processor time"),
            Self::Memory => f.write_str("memory"),
            Self::Output => f.write_str("output"),
            Self::Stack => f.write_str("stack"),
            Self::Crashed {
                signal: Some(signal),
            } => write!(f, "crash by signal {signal}"),
            Self::Crashed { signal: None } => f.write_str("crash"),
            Self::Killed => f.write_str("killed by someone else"),
        }
    }
}

pub(super) struct Process {
    child: Child,
    socket: UnixStream,
    last_words: File,
    files: u32,
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only for a child that has ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Process {
    /// Starts a child and waits until it is within its limits.
    pub(super) fn start(plan: &Plan, second_reader: &SecondReader) -> Result<Self, PoolError> {
        let start = || -> io::Result<Self> {
            let (ours, theirs) = UnixStream::pair()?;
            ours.set_write_timeout(Some(TAKES_WITHIN))?;
            let last_words = File::from(memfd_create("last-words", MemfdFlags::CLOEXEC)?);
            let child = Command::new(&plan.program)
                .args(&plan.arguments)
                .env_clear()
                // One child per core: its libraries need no threads, nor heaps for them.
                .env("RAYON_NUM_THREADS", "1")
                .env("MALLOC_ARENA_MAX", "1")
                .stdin(Stdio::from(OwnedFd::from(theirs)))
                .stdout(Stdio::null())
                .stderr(Stdio::from(last_words.try_clone()?))
                .spawn()?;
            let mut process = Self {
                child,
                socket: ours,
                last_words,
                files: 0,
            };
            process.set_up(plan, second_reader)?;
            Ok(process)
        };
        start().map_err(PoolError::Start)
    }

    fn set_up(&mut self, plan: &Plan, second_reader: &SecondReader) -> io::Result<()> {
        let setup = Setup {
            parent: rustix::process::getpid().as_raw_pid(),
            memory_bytes: plan.limits.memory_bytes,
            cpu_secs: plan.limits.cpu_secs,
            second_reader: second_reader.clone(),
            ocr: ocr_setup(&plan.ocr),
        };
        wire::send_request(self.socket.as_fd(), &Request::Setup(setup), None)?;
        let deadline = Deadline {
            socket: &self.socket,
            at: Instant::now() + START_WITHIN,
        };
        match wire::read(deadline, 1024)? {
            Some((
                Answer::Ready {
                    sandboxed,
                    confined,
                },
                _,
            )) => {
                if !sandboxed {
                    tracing::warn!(
                        "the kernel holds no system call filter; the other limits stand"
                    );
                }
                if !confined {
                    tracing::warn!("the kernel has no Landlock; the other limits stand");
                }
                Ok(())
            }
            Some(_) => Err(io::ErrorKind::InvalidData.into()),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Documents asked for so far.
    pub(super) fn files(&self) -> u32 {
        self.files
    }

    /// The outer error tells how the child ended; it must not be asked again then.
    pub(super) fn extract(
        &mut self,
        task: &Task,
        file: &File,
        plan: &Plan,
    ) -> Result<Result<Parsed, ExtractError>, Ended> {
        self.files += 1;
        let mut deadline = Instant::now() + plan.limits.wall_clock;
        // Every child reads the same open file, so each begins at its beginning.
        let sent = (&*file).seek(SeekFrom::Start(0)).and_then(|_| {
            let request = Request::Extract(task.clone());
            wire::send_request(self.socket.as_fd(), &request, Some(file.as_fd()))
        });
        if sent.is_err() {
            return Err(self.autopsy());
        }
        let mut pictures = Pictures::new(&plan.ocr);
        let mut parsed = Parsed::default();
        let mut left = plan.limits.output_bytes;
        loop {
            let answer = match wire::read(self.until(deadline), left) {
                Ok(Some((answer, length))) => {
                    left = left.saturating_sub(length);
                    answer
                }
                Ok(None) => return Err(self.autopsy()),
                Err(error) => return Err(self.end_of(&error)),
            };
            match answer {
                Answer::Page(page) => parsed.extraction.pages.push(page),
                Answer::Places(places) => parsed.places.push(places),
                Answer::Picture { width, height, dpi } => {
                    let size = (width, height, dpi);
                    match pictures.answer(&self.socket, deadline, size) {
                        Ok(took) => deadline += took,
                        Err(error) => return Err(self.end_of(&error)),
                    }
                }
                Answer::Done { title, notes } => {
                    parsed.extraction.title = title;
                    parsed.extraction.notes = notes;
                    return Ok(Ok(parsed));
                }
                Answer::Failed(error) => return Ok(Err(error)),
                Answer::Ready { .. } => return Err(Ended::Crashed { signal: None }),
            }
        }
    }

    fn until(&self, at: Instant) -> Deadline<'_> {
        Deadline {
            socket: &self.socket,
            at,
        }
    }

    /// What an error of the socket means.
    fn end_of(&mut self, error: &io::Error) -> Ended {
        match error.kind() {
            io::ErrorKind::TimedOut => Ended::Clock,
            io::ErrorKind::FileTooLarge => Ended::Output,
            _ => self.autopsy(),
        }
    }

    /// How a child ended whose socket has closed.
    fn autopsy(&mut self) -> Ended {
        let status = wait_within(&mut self.child, END_WITHIN);
        let signal = status.and_then(|status| status.signal());
        let is = |expect: Signal| signal == Some(expect.as_raw());
        if is(Signal::XCPU) {
            return Ended::Cpu;
        }
        if is(Signal::KILL) {
            return Ended::Killed;
        }
        // Rust's runtime says these two before it aborts. Nothing else writes here.
        let words = self.last_words();
        if words.contains("memory allocation of") {
            Ended::Memory
        } else if words.contains("overflowed its stack") {
            Ended::Stack
        } else {
            Ended::Crashed { signal }
        }
    }

    fn last_words(&mut self) -> String {
        let mut bytes = Vec::new();
        let read = self.last_words.seek(SeekFrom::Start(0)).and_then(|_| {
            (&self.last_words)
                .take(MAX_LAST_WORDS)
                .read_to_end(&mut bytes)
        });
        if read.is_ok() {
            String::from_utf8_lossy(&bytes).into_owned()
        } else {
            String::new()
        }
    }
}

/// The child's status once it has ended; `None` when it does not end in time.
fn wait_within(child: &mut Child, limit: Duration) -> Option<std::process::ExitStatus> {
    let deadline = Instant::now() + limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => {
                // The socket closes just before the process is gone.
                std::thread::park_timeout(Duration::from_millis(5));
            }
            Ok(None) | Err(_) => return None,
        }
    }
}

fn ocr_setup(plan: &OcrPlan) -> OcrSetup {
    OcrSetup {
        absent: plan.reader.ready().err(),
        dpi: plan.dpi,
    }
}

/// Reads a socket until a point in time; then [`io::ErrorKind::TimedOut`].
pub(crate) struct Deadline<'a> {
    pub(crate) socket: &'a UnixStream,
    pub(crate) at: Instant,
}

impl Read for Deadline<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let left = self.at.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.socket.set_read_timeout(Some(left))?;
            match (&*self.socket).read(buffer) {
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                    ) => {}
                result => return result,
            }
        }
    }
}
