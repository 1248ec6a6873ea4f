//! What the system knows of the process.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::families::FAMILIES;
use crate::contract::Health;

const NO_LABELS: [&str; 0] = [];

/// Sets the gauges of the process and of its service to what they are now.
pub(super) fn measure(health: &Health) {
    let set = |gauge: &prometheus::IntGaugeVec, value: u64| {
        gauge
            .with_label_values(&NO_LABELS)
            .set(i64::try_from(value).unwrap_or(i64::MAX));
    };
    set(&FAMILIES.ready, u64::from(health.ready));
    set(&FAMILIES.in_hand, u64::from(health.in_flight));
    // Once: a value that moves by a rounding looks like a restart.
    if FAMILIES.started.with_label_values(&NO_LABELS).get() == 0 {
        let started = SystemTime::now() - Duration::from_millis(health.uptime_ms);
        let started = started.duration_since(UNIX_EPOCH).unwrap_or_default();
        set(&FAMILIES.started, started.as_secs());
    }
    set(&FAMILIES.memory, resident(Path::new("/proc/self")));
    let children = children()
        .iter()
        .map(|pid| resident(&Path::new("/proc").join(pid)))
        .sum();
    set(&FAMILIES.children_memory, children);
}

/// Bytes of a process in memory; 0 when it is gone, or the system has no `/proc`.
fn resident(process: &Path) -> u64 {
    let status = fs::read_to_string(process.join("status")).unwrap_or_default();
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|kib| kib.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Ids of the processes that this one's threads have started.
fn children() -> Vec<String> {
    let Ok(threads) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|ids| {
            ids.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_seen_with_its_memory() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let id = child.id().to_string();
        let seen = children().contains(&id);
        let memory = resident(&Path::new("/proc").join(&id));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(seen);
        assert!(memory > 0);
    }
}
