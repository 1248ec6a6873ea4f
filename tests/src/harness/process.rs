//! The processes of one data folder, as `/proc` shows them.
//!
//! A process belongs to a data folder when it was started with `IBID_DATA` set to it, or names
//! it in its arguments. That finds orphans too, which have lost their parent.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};

use super::wait_for;

/// A process of the product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// `parser`, `nats-server`, `supervisor`, `extract-child`, …
    pub name: String,
}

/// The living processes of the data folder `data`, by name.
///
/// # Errors
/// `/proc` cannot be read.
pub fn processes(data: &Path) -> Result<Vec<Process>> {
    let own = std::process::id();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").context("reading /proc")? {
        let entry = entry?;
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        if u32::try_from(pid) == Ok(own) {
            continue;
        }
        // A process may end between the listing and the look.
        let read = |file: &str| std::fs::read(entry.path().join(file)).unwrap_or_default();
        if is_of(data, &read("cmdline"), &read("environ")) && !is_zombie(&read("stat")) {
            found.push(Process {
                pid,
                name: name_of(&read("cmdline")),
            });
        }
    }
    found.sort_by(|a, b| (&a.name, a.pid).cmp(&(&b.name, b.pid)));
    Ok(found)
}

fn is_of(data: &Path, cmdline: &[u8], environ: &[u8]) -> bool {
    let data = data.as_os_str().as_bytes();
    let own = environ
        .split(|byte| *byte == 0)
        .any(|entry| entry.strip_prefix(b"IBID_DATA=") == Some(data));
    own || cmdline.windows(data.len()).any(|window| window == data)
}

/// The state is the field after the last `)` of `/proc/{pid}/stat`, see proc(5).
fn is_zombie(stat: &[u8]) -> bool {
    let state = stat
        .rsplit(|byte| *byte == b')')
        .next()
        .and_then(|rest| rest.get(1));
    stat.is_empty() || state == Some(&b'Z') || state == Some(&b'X')
}

/// What a command line says the process is.
fn name_of(cmdline: &[u8]) -> String {
    let arguments: Vec<&str> = cmdline
        .split(|byte| *byte == 0)
        .filter_map(|part| std::str::from_utf8(part).ok())
        .collect();
    if arguments.contains(&"extract-child") {
        return "extract-child".to_owned();
    }
    // `ibid service [--parent PID] NAME`
    let mut after = arguments
        .iter()
        .skip_while(|argument| **argument != "service")
        .skip(1);
    let service = match after.next() {
        Some(&"--parent") => after.nth(1),
        other => other,
    };
    let program = arguments.first().copied().unwrap_or_default();
    let program = Path::new(program)
        .file_name()
        .and_then(OsStr::to_str)
        .unwrap_or_default();
    match program {
        "ibid" if arguments.get(1) == Some(&"up") => "supervisor".to_owned(),
        "ibid" => (*service.unwrap_or(&"ibid")).to_owned(),
        other => other.to_owned(),
    }
}

/// `kill -9`. A process that is already gone is fine.
pub fn kill(process: &Process) {
    // The only other failure is a missing right over one's own child, which cannot be.
    let _gone = Pid::from_raw(process.pid).map(|pid| kill_process(pid, Signal::KILL));
}

/// Waits until no process of `data` lives.
///
/// # Errors
/// Names those that still live after `limit`.
pub async fn wait_until_gone(data: &Path, limit: Duration) -> Result<()> {
    wait_for("all processes to end", limit, async || {
        let left = processes(data).map_err(|error| error.to_string())?;
        if left.is_empty() {
            Ok(())
        } else {
            Err(format!("{left:?}"))
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_tells_the_name() {
        #[track_caller]
        fn check(arguments: &[&str], expect: &str) {
            assert_eq!(name_of(arguments.join("\0").as_bytes()), expect);
        }
        check(&["/x/target/debug/ibid", "up", "samples"], "supervisor");
        check(&["/x/ibid", "service", "embedder"], "embedder");
        check(&["ibid", "service", "--parent", "7", "indexer"], "indexer");
        check(
            &["/x/ibid", "service", "parser", "extract-child"],
            "extract-child",
        );
        check(
            &["/cache/nats-server", "-c", "/data/run/nats.conf"],
            "nats-server",
        );
        check(&["ibid", "status"], "ibid");
    }

    #[test]
    fn a_process_belongs_to_the_folder_it_was_started_with() {
        let data = Path::new("/tmp/a");
        assert!(is_of(data, b"ibid\0up", b"X=1\0IBID_DATA=/tmp/a\0"));
        assert!(is_of(data, b"nats-server\0-c\0/tmp/a/run/nats.conf", b""));
        assert!(!is_of(data, b"ibid\0up", b"IBID_DATA=/tmp/ab\0"));
    }

    #[tokio::test]
    async fn a_killed_child_is_no_longer_found() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("sleep")
            .arg("600")
            .env("IBID_DATA", folder.path())
            .spawn()
            .unwrap();
        // Between fork and the end of exec it has no environment to be known by.
        let limit = Duration::from_secs(10);
        let found = wait_for("the child to be found", limit, async || {
            let mut found = processes(folder.path())?;
            found.pop().context("no process of the folder")
        })
        .await
        .unwrap();
        kill(&found);
        child.wait().unwrap();
        assert_eq!(processes(folder.path()).unwrap(), []);
    }
}
