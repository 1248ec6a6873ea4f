//! What the kernel tells of this process's children.

use std::fs;
use std::path::Path;

/// A child as `/proc` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ChildFacts {
    /// The most memory it has ever had in use, in KiB (`VmHWM`).
    pub(super) peak_kib: u64,
    /// Whether the kernel filters its system calls.
    pub(super) is_filtered: bool,
}

/// All children of this process that are alive, as `proc` (a `/proc`) shows them.
pub(super) fn living(proc: &Path) -> Vec<ChildFacts> {
    let threads = fs::read_dir(proc.join("self/task"))
        .into_iter()
        .flatten()
        .flatten();
    threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|pids| {
            pids.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .filter_map(|pid| fs::read_to_string(proc.join(pid).join("status")).ok())
        .map(|status| facts(&status))
        .collect()
}

fn facts(status: &str) -> ChildFacts {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.split_whitespace().next())
    };
    ChildFacts {
        peak_kib: field("VmHWM:")
            .and_then(|kib| kib.parse().ok())
            .unwrap_or(0),
        is_filtered: field("Seccomp:") == Some("2"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_seen_with_its_memory() {
        let status = "Name:\tx\nVmHWM:\t   12345 kB\nSeccomp:\t2\nSeccomp_filters:\t1\n";
        let expect = ChildFacts {
            peak_kib: 12345,
            is_filtered: true,
        };
        assert_eq!(facts(status), expect);
        assert_eq!(facts("Name:\tx\n"), ChildFacts::default());

        let mut child = std::process::Command::new("/bin/sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let seen = living(Path::new("/proc"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(seen.iter().any(|child| child.peak_kib > 0), "{seen:?}");
    }
}
