//! One run of the OCR program over one picture.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};

use crate::extract::Picture;
use crate::pool::{Deadline, Launcher};
use crate::wire::{self, Recognition, Request};

/// By estimate, a page full of small print has 15,000 words of 60 bytes each.
const MAX_OUTPUT_BYTES: u64 = 4 << 20;

/// Kills the program at the end, should it still run.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only for a program that has ended already.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// What the program writes about `picture`. It is started through a child of `launcher`, which
/// takes on the limits first; when the calling thread ends, so does the program.
///
/// # Errors
/// [`io::ErrorKind::TimedOut`] after `limit`; else that it failed.
pub(super) fn run(
    launcher: &Launcher,
    recognition: Recognition,
    picture: &Picture,
    limit: Duration,
) -> io::Result<String> {
    let at = Instant::now() + limit;
    let file = as_file(picture)?;
    let (ours, theirs) = UnixStream::pair()?;
    let child = Command::new(&launcher.program)
        .args(&launcher.arguments)
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut running = Running(child);
    let request = Request::Recognize(recognition);
    wire::send_request(ours.as_fd(), &request, Some(file.as_fd()))?;
    drop(file);
    let mut output = Vec::new();
    let socket = Deadline { socket: &ours, at };
    socket.take(MAX_OUTPUT_BYTES).read_to_end(&mut output)?;
    // It has closed its output, or would write on: it is to end now.
    drop(ours);
    if !end(&mut running.0, at)?.success() {
        return Err(io::Error::other("it ended with an error"));
    }
    Ok(String::from_utf8_lossy(&output).into_owned())
}

/// How the program ended, by `at`.
fn end(child: &mut Child, at: Instant) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= at {
            return Err(io::ErrorKind::TimedOut.into());
        }
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// The picture as a file in memory: a portable grey map, which needs no encoding.
fn as_file(picture: &Picture) -> io::Result<File> {
    let mut file = File::from(memfd_create("picture", MemfdFlags::CLOEXEC)?);
    write!(file, "P5\n{} {}\n255\n", picture.width, picture.height)?;
    file.write_all(&picture.pixels)?;
    file.rewind()?;
    Ok(file)
}
