//! How much memory is free: the kernel's own estimate, and what a container leaves.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Where the kernel tells of processes and groups.
const PROC: &str = "/proc";
const CGROUPS: &str = "/sys/fs/cgroup";

/// Bytes that can be taken without pushing anything out; `None` when the kernel does not tell.
pub(super) fn free() -> Option<u64> {
    free_under(Path::new(PROC), Path::new(CGROUPS))
}

fn free_under(proc: &Path, cgroups: &Path) -> Option<u64> {
    let machine = read_to_string(proc.join("meminfo")).ok();
    let machine = machine.and_then(|text| available(&text));
    let groups = read_to_string(proc.join("self/cgroup")).unwrap_or_default();
    let group = group_folders(&groups, cgroups)
        .iter()
        .filter_map(|folder| left_in(folder))
        .min();
    machine.into_iter().chain(group).min()
}

/// `MemAvailable` of `/proc/meminfo`.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The folders of this process' groups and of those above them, version 2 (`0::/path`) and
/// version 1 (`4:memory:/path`). Inside a container the path may be the host's, so the root
/// itself is looked at in any case.
fn group_folders(groups: &str, cgroups: &Path) -> Vec<PathBuf> {
    let mut folders = vec![cgroups.to_owned(), cgroups.join("memory")];
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let root = match controllers {
            "" => cgroups.to_owned(),
            named if named.split(',').any(|name| name == "memory") => cgroups.join("memory"),
            _ => continue,
        };
        let mut folder = root;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            folder.push(part);
            folders.push(folder.clone());
        }
    }
    folders
}

/// What a group's limit leaves. Cached files count as free: the kernel drops them first.
fn left_in(folder: &Path) -> Option<u64> {
    let number = |name: &str| -> Option<u64> {
        let text = read_to_string(folder.join(name)).ok()?;
        text.trim().parse().ok()
    };
    let limit = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    let used = number("memory.current").or_else(|| number("memory.usage_in_bytes"))?;
    let stat = read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cached = stat.lines().find_map(|line| {
        let line = line.strip_prefix("total_").unwrap_or(line);
        line.strip_prefix("inactive_file ")?.trim().parse().ok()
    });
    Some(limit.saturating_sub(used.saturating_sub(cached.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_smallest_of_machine_and_groups_counts() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let (proc, groups) = (folder.join("proc"), folder.join("cgroup"));
        let write = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(free_under(&proc, &groups), None);
        write(
            proc.join("meminfo"),
            "MemTotal: 9 kB\nMemAvailable:   4 kB\n",
        );
        assert_eq!(free_under(&proc, &groups), Some(4096));
        write(proc.join("self/cgroup"), "0::/a/b\n");
        write(groups.join("a/memory.max"), "5000\n");
        write(groups.join("a/memory.current"), "3000\n");
        write(groups.join("a/b/memory.max"), "max\n");
        write(groups.join("a/b/memory.current"), "1\n");
        assert_eq!(free_under(&proc, &groups), Some(2000));
        write(groups.join("a/memory.stat"), "anon 1\ninactive_file 1500\n");
        assert_eq!(free_under(&proc, &groups), Some(3500));
        write(proc.join("self/cgroup"), "7:cpu,memory:/c\n");
        write(groups.join("memory/c/memory.limit_in_bytes"), "700\n");
        write(groups.join("memory/c/memory.usage_in_bytes"), "100\n");
        assert_eq!(free_under(&proc, &groups), Some(600));
    }

    #[test]
    fn this_machine_tells() {
        assert!(free().is_some_and(|bytes| bytes > 0));
    }
}
