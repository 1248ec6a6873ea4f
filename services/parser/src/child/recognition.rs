//! A child that becomes the OCR program: it takes on its limits and its ties to the parent, and
//! then runs the program in its own place.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use crate::wire::Recognition;

use super::limits;

/// Runs the program over `picture`, with `socket` for its standard output. Comes back only when
/// that fails.
pub(super) fn become_program(
    recognition: &Recognition,
    picture: OwnedFd,
    socket: UnixStream,
) -> io::Error {
    let limited = limits::apply(recognition.parent, recognition.memory_bytes)
        .and_then(|()| limits::allow_cpu(recognition.cpu_secs));
    if let Err(error) = limited {
        return error;
    }
    let environment = recognition
        .environment
        .iter()
        .map(|(name, value)| (name, value));
    Command::new(&recognition.program)
        .args(&recognition.arguments)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::from(File::from(picture)))
        .stdout(Stdio::from(OwnedFd::from(socket)))
        .stderr(Stdio::null())
        .exec()
}
