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

use super::{Limits, Plan};
use crate::error::PoolError;
use crate::extract::{ExtractError, Extraction, SecondReader};
use crate::wire::{self, Answer, Request, Setup, Task};

/// From the start of a program to its first word.
const START_WITHIN: Duration = Duration::from_secs(20);
/// A child that closes its end is ending; it gets this long before it is killed.
const END_WITHIN: Duration = Duration::from_secs(2);
/// Last words are one line.
const MAX_LAST_WORDS: u64 = 4096;

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
        limits: &Limits,
    ) -> Result<Result<Extraction, ExtractError>, Ended> {
        self.files += 1;
        let deadline = Instant::now() + limits.wall_clock;
        // Every child reads the same open file, so each begins at its beginning.
        let sent = (&*file).seek(SeekFrom::Start(0)).and_then(|_| {
            let request = Request::Extract(task.clone());
            wire::send_request(self.socket.as_fd(), &request, Some(file.as_fd()))
        });
        if sent.is_err() {
            return Err(self.autopsy());
        }
        let mut extraction = Extraction::default();
        let mut left = limits.output_bytes;
        loop {
            let reader = Deadline {
                socket: &self.socket,
                at: deadline,
            };
            match wire::read(reader, left) {
                Ok(Some((answer, length))) => {
                    left = left.saturating_sub(length);
                    match answer {
                        Answer::Page(page) => extraction.pages.push(page),
                        Answer::Done { title, notes } => {
                            extraction.title = title;
                            extraction.notes = notes;
                            return Ok(Ok(extraction));
                        }
                        Answer::Failed(error) => return Ok(Err(error)),
                        Answer::Ready { .. } => return Err(Ended::Crashed { signal: None }),
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(Ended::Clock),
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    return Err(Ended::Output);
                }
                Ok(None) | Err(_) => return Err(self.autopsy()),
            }
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

/// Reads a socket until a point in time; then [`io::ErrorKind::TimedOut`].
struct Deadline<'a> {
    socket: &'a UnixStream,
    at: Instant,
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
