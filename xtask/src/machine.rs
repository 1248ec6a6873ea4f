//! What this machine has, beyond what the tests bring along.

use std::path::PathBuf;
use std::process::Command;

use crate::run::{root, succeeds};

/// Programs that some tests want, and what is left out without them.
const WANTED: [(&str, &str); 3] = [
    ("chromium", "looking at the page in a browser (chromium)"),
    ("curl", "the walk through the API (curl)"),
    ("docker", "the containers (docker, docker-compose)"),
];

/// Whether `program` is in the search path.
pub(crate) fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// What tests will leave out, in words.
pub(crate) fn lacks() -> Vec<String> {
    let programs = WANTED.iter().filter(|(program, _)| !has(program));
    let mut lacks: Vec<String> = programs.map(|(_, what)| (*what).to_owned()).collect();
    if !corpus().is_dir() {
        lacks.push(format!(
            "tests over the shared corpus (`{}`, or IBID_CORPUS)",
            corpus().display()
        ));
    }
    lacks
}

fn corpus() -> PathBuf {
    std::env::var_os("IBID_CORPUS").map_or_else(|| root().join("../shared/corpus"), PathBuf::from)
}

/// Brings the loopback interface up (`SIOCSIFFLAGS` with `IFF_UP` and `IFF_RUNNING`, see netdevice(7))
/// and becomes the program that follows. In Python, which setup needs anyway, because `ip` is not
/// everywhere.
const ENTER: &str = "
import fcntl, os, socket, struct, sys
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack('16sh', b'lo', 0x1 | 0x40))
os.execvp(sys.argv[1], sys.argv[1:])
";

/// A way to run programs that can reach nothing but this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Isolation {
    /// Arguments of `unshare`: `-n` as root, else `-rn`.
    flags: &'static str,
}

impl Isolation {
    /// The first way that works here.
    pub(crate) fn find() -> Option<Self> {
        let ways = ["-n", "-rn"].map(|flags| Self { flags });
        ways.into_iter()
            .find(|way| succeeds(way.command("true".as_ref()).arg("probe")))
    }

    /// `program` in a network namespace of its own, with only loopback.
    pub(crate) fn command(self, program: &std::ffi::OsStr) -> Command {
        let mut command = Command::new("unshare");
        command
            .args([self.flags, "python3", "-c", ENTER])
            .arg(program);
        command
    }
}
