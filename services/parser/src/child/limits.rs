//! What a child may use. The kernel holds all of it; only the wall clock is the parent's.

use std::io;

use rustix::process::{
    Resource, Rlimit, Signal, getppid, getrlimit, nice, set_parent_process_death_signal, setrlimit,
};
use rustix::time::{ClockId, clock_gettime};

/// Politeness of bulk work, so that a question never waits for it.
const NICE: i32 = 10;
/// The only file a child writes is the memory file for its last words.
const MAX_WRITTEN_BYTES: u64 = 1 << 20;
/// Socket, document, last words, a library and some fonts.
const MAX_OPEN_FILES: u64 = 64;

/// Applies what holds for the child's whole life, and for the program it may become: it ends with
/// `parent` and has `memory_bytes` of address space.
pub(super) fn apply(parent: i32, memory_bytes: u64) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died before that call; the signal would then never come.
    if getppid().map(rustix::process::Pid::as_raw_pid) != Some(parent) {
        return Err(io::ErrorKind::NotConnected.into());
    }
    nice(NICE)?;
    lower(Resource::Core, 0)?;
    lower(Resource::Fsize, MAX_WRITTEN_BYTES)?;
    lower(Resource::Nofile, MAX_OPEN_FILES)?;
    lower(Resource::As, memory_bytes)?;
    Ok(())
}

/// Allows `secs` more of processor time; beyond, the kernel ends the child by SIGXCPU.
pub(super) fn allow_cpu(secs: u64) -> io::Result<()> {
    let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec;
    let used = u64::try_from(used).unwrap_or(0);
    // The kernel counts whole seconds: one more, so that no allowance is cut short.
    let limit = used.saturating_add(secs).saturating_add(1);
    let maximum = getrlimit(Resource::Cpu).maximum;
    setrlimit(
        Resource::Cpu,
        Rlimit {
            current: Some(limit),
            maximum,
        },
    )?;
    Ok(())
}

/// Lowers a limit for good; one that is lower already stays.
fn lower(resource: Resource, limit: u64) -> io::Result<()> {
    let limit = getrlimit(resource)
        .maximum
        .map_or(limit, |maximum| maximum.min(limit));
    setrlimit(
        resource,
        Rlimit {
            current: Some(limit),
            maximum: Some(limit),
        },
    )?;
    Ok(())
}
