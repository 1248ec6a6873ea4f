//! Memory of the whole process tree, as PSS: what is shared between processes is counted once,
//! divided among them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// The memory of one process.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ProcessMemory {
    /// The process.
    pub pid: u32,
    /// `parser`, `nats-server`, …
    pub name: String,
    /// Proportional set size in KiB.
    pub pss_kib: u64,
}

/// `root` and all processes below it, as `proc` (a `/proc`) shows them. A process that ends
/// meanwhile, or that is not ours, counts nothing.
pub fn tree(proc: &Path, root: u32) -> Vec<ProcessMemory> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    for pid in entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
        if let Some(parent) = parent_of(proc, pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let (mut tree, mut open) = (Vec::new(), vec![root]);
    while let Some(pid) = open.pop() {
        if let Some(pss_kib) = pss_of(proc, pid) {
            tree.push(ProcessMemory {
                pid,
                name: name_of(proc, pid),
                pss_kib,
            });
        }
        open.extend(children.remove(&pid).unwrap_or_default());
    }
    tree.sort_by_key(|process| process.pid);
    tree
}

/// The sum in MiB, rounded.
pub fn total_mib(tree: &[ProcessMemory]) -> u64 {
    let kib: u64 = tree.iter().map(|process| process.pss_kib).sum();
    (kib + 512) / 1024
}

/// Memory that programs may still take, in MiB, as `proc` tells; `None` when it does not.
pub fn available_mib(proc: &Path) -> Option<u64> {
    let text = fs::read_to_string(proc.join("meminfo")).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}

/// The fourth field of `stat`; the second is a name that may hold blanks and brackets.
fn parent_of(proc: &Path, pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(proc.join(pid.to_string()).join("stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}

fn pss_of(proc: &Path, pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(proc.join(pid.to_string()).join("smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// `ibid service parser` is the parser, `ibid up` the supervisor, all others their program.
fn name_of(proc: &Path, pid: u32) -> String {
    let line = fs::read(proc.join(pid.to_string()).join("cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).into_owned();
    let words: Vec<&str> = line.split('\0').filter(|word| !word.is_empty()).collect();
    let program = words
        .first()
        .and_then(|path| path.rsplit('/').next())
        .unwrap_or("?");
    match words.get(1) {
        Some(&"service") => {
            let skipped = if words.get(2) == Some(&"--parent") {
                4
            } else {
                2
            };
            words.get(skipped..).unwrap_or_default().join(" ")
        }
        Some(&"up") => "supervisor".to_owned(),
        _ => program.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(proc: &Path, pid: u32, parent: u32, command: &[&str], pss: Option<u64>) {
        let folder = proc.join(pid.to_string());
        fs::create_dir_all(&folder).unwrap();
        let stat = format!("{pid} (a) (b c) S {parent} {pid} {pid} 0 -1 4194560");
        fs::write(folder.join("stat"), stat).unwrap();
        fs::write(folder.join("cmdline"), command.join("\0") + "\0").unwrap();
        if let Some(pss) = pss {
            let rollup = format!(
                "55-7f ---p 0 0:0 0 [rollup]\nRss: 99 kB\nPss:   {pss} kB\nPss_Dirty: 7 kB\n"
            );
            fs::write(folder.join("smaps_rollup"), rollup).unwrap();
        }
    }

    #[test]
    fn the_tree_is_summed_and_strangers_are_not() {
        let proc = tempfile::tempdir().unwrap();
        let p = proc.path();
        process(p, 1, 0, &["init"], Some(1 << 20));
        process(p, 10, 1, &["/opt/ibid", "up", "samples"], Some(2048));
        process(
            p,
            11,
            10,
            &["ibid", "service", "--parent", "10", "parser"],
            Some(1024),
        );
        process(
            p,
            12,
            11,
            &["ibid", "service", "parser", "extract-child"],
            Some(512),
        );
        process(p, 13, 10, &["/assets/nats-server", "-c", "x"], Some(512));
        process(p, 14, 10, &["gone"], None);
        process(p, 20, 1, &["other"], Some(1 << 20));
        fs::create_dir_all(p.join("self")).unwrap();

        let tree = tree(p, 10);
        let seen: Vec<_> = tree
            .iter()
            .map(|process| (process.name.as_str(), process.pss_kib))
            .collect();
        assert_eq!(
            seen,
            [
                ("supervisor", 2048),
                ("parser", 1024),
                ("parser extract-child", 512),
                ("nats-server", 512)
            ]
        );
        assert_eq!(total_mib(&tree), 4);
        assert!(super::tree(p, 999).is_empty());
    }

    #[test]
    fn this_process_has_memory() {
        let tree = tree(Path::new("/proc"), std::process::id());
        assert!(
            tree.iter()
                .any(|process| process.pid == std::process::id() && process.pss_kib > 0)
        );
    }
}
