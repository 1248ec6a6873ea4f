//! No orphans: a child asks the kernel to be killed when its parent ends.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

/// Ties this process to `parent`, which started it.
///
/// SIGKILL and not SIGTERM: the parent is gone without a drain, and what it leaves must not
/// overlap with the next start on the same data folder. Everything is built to survive it.
///
/// The kernel watches the parent's *thread* that forked, so a parent must start children from a
/// thread that lives as long as itself.
///
/// # Errors
/// When the parent is gone already, or the kernel refuses.
pub fn die_with(parent: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have ended before the line above.
    let now = getppid().and_then(|pid| u32::try_from(Pid::as_raw(Some(pid))).ok());
    if now == Some(parent) {
        Ok(())
    } else {
        Err(io::Error::other(format!(
            "process {parent}, which started this one, is gone"
        )))
    }
}

/// `ibid guard`: ties itself to `parent` and becomes `program`, which keeps the tie.
///
/// # Errors
/// When the tie or the start fails; else it does not return.
pub fn guard(parent: u32, program: &OsString, arguments: &[OsString]) -> io::Result<ExitCode> {
    die_with(parent)?;
    Err(Command::new(program).args(arguments).exec())
}
