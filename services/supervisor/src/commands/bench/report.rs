//! What was measured, for people and for programs.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use super::measure::Bench;
use crate::output::{self, count, name, thousands};

/// 10⁶ bytes.
const MB: f64 = 1_000_000.0;
/// Files named per kind that is not read.
const NAMED: usize = 5;

/// A file that gave no pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Refused {
    /// The file.
    pub(super) path: String,
    /// Why.
    pub(super) reason: String,
}

/// The file that took longest.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(super) struct Slowest {
    /// The file.
    pub(super) path: String,
    /// How long it took.
    pub(super) seconds: f64,
}

/// The files of one format, or all of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct FormatFigures {
    pub(super) format: String,
    pub(super) files: u64,
    pub(super) pages: u64,
    pub(super) missing_pages: u64,
    pub(super) bytes: u64,
    pub(super) seconds: f64,
    pub(super) peak_kib: u64,
    pub(super) slowest: Slowest,
    pub(super) failed: Vec<Refused>,
}

impl FormatFigures {
    pub(super) fn new(format: &str) -> Self {
        Self {
            format: format.to_owned(),
            ..Self::default()
        }
    }

    fn megabytes(&self) -> f64 {
        self.bytes as f64 / MB
    }

    fn peak_mb(&self) -> f64 {
        self.peak_kib as f64 * 1024.0 / MB
    }

    /// `amount` per second of the measurement; 0 where nothing was measured.
    fn per_second(&self, amount: f64) -> f64 {
        if self.seconds > 0.0 {
            amount / self.seconds
        } else {
            0.0
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "format": self.format,
            "files": self.files,
            "pages": self.pages,
            "missing_pages": self.missing_pages,
            "mb": self.megabytes(),
            "seconds": self.seconds,
            "pages_per_second": self.per_second(self.pages as f64),
            "mb_per_second": self.per_second(self.megabytes()),
            "peak_mb": self.peak_mb(),
            "slowest": self.slowest,
            "failed": self.failed,
        })
    }

    fn row(&self) -> Vec<String> {
        vec![
            self.format.clone(),
            thousands(self.files),
            thousands(self.pages),
            thousands(self.missing_pages),
            format!("{:.2}", self.megabytes()),
            format!("{:.2}", self.seconds),
            format!("{:.1}", self.per_second(self.pages as f64)),
            format!("{:.2}", self.per_second(self.megabytes())),
            format!("{:.0}", self.peak_mb()),
            thousands(self.failed.len() as u64),
        ]
    }
}

/// All that was measured.
#[derive(Debug)]
pub(super) struct Report {
    formats: Vec<FormatFigures>,
    total: FormatFigures,
    unread: Vec<Refused>,
    children: usize,
    memory_limit: u64,
    sandboxed: bool,
}

impl Serialize for Report {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let formats: Vec<Value> = self.formats.iter().map(FormatFigures::to_json).collect();
        json!({
            "children": self.children,
            "memory_limit_mb": self.memory_limit >> 20,
            "sandboxed": self.sandboxed,
            "formats": formats,
            "total": self.total.to_json(),
            "not_read": self.unread,
        })
        .serialize(serializer)
    }
}

impl Report {
    /// Of all `formats`, with the files of kinds that are not read.
    pub(super) fn new(
        bench: &Bench,
        sandboxed: bool,
        formats: Vec<FormatFigures>,
        unread: Vec<Refused>,
    ) -> Self {
        Self {
            total: total(&formats),
            formats,
            unread,
            children: bench.children.get(),
            memory_limit: bench.plan.limits.memory_bytes,
            sandboxed,
        }
    }

    /// Prints it.
    ///
    /// # Errors
    /// When standard output is closed.
    pub(super) fn tell(&self) -> io::Result<()> {
        let head = [
            "format", "files", "pages", "missing", "MB", "seconds", "pages/s", "MB/s", "peak MB",
            "failed",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(self.formats.iter().map(FormatFigures::row));
        rows.push(self.total.row());
        output::table(&rows)?;
        output::line("")?;
        for failed in &self.total.failed {
            output::line(format!("failed: {}: {}", name(&failed.path), failed.reason))?;
        }
        for (reason, paths) in by_reason(&self.unread) {
            let files = count(paths.len() as u64, "file");
            output::line(format!(
                "not read: {files}, {}: {}",
                output::text(reason),
                named(&paths)
            ))?;
        }
        let slowest = &self.total.slowest;
        output::line(format!(
            "slowest: {} ({:.2} s)",
            name(&slowest.path),
            slowest.seconds
        ))?;
        let filter = if self.sandboxed { "on" } else { "OFF" };
        output::line(format!(
            "{}, each limited to {} MiB of address space; system call filter {filter}",
            children(self.children),
            thousands(self.memory_limit >> 20)
        ))
    }
}

fn by_reason(files: &[Refused]) -> BTreeMap<&str, Vec<&str>> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files {
        reasons.entry(&file.reason).or_default().push(&file.path);
    }
    reasons
}

/// The names of the first few files, and how many more there are.
fn named(paths: &[&str]) -> String {
    let shown = paths.iter().take(NAMED).map(|path| {
        let file = Path::new(path).file_name().unwrap_or_default();
        name(&file.to_string_lossy())
    });
    let mut shown: Vec<String> = shown.collect();
    if let Some(more) = paths.len().checked_sub(NAMED).filter(|more| *more > 0) {
        shown.push(format!("and {} more", thousands(more as u64)));
    }
    shown.join(", ")
}

fn children(n: usize) -> String {
    let noun = if n == 1 { "process" } else { "processes" };
    format!("{} reading {noun}", thousands(n as u64))
}

/// The sum; formats are read one after the other, so their seconds add up.
fn total(formats: &[FormatFigures]) -> FormatFigures {
    let mut total = FormatFigures::new("total");
    for one in formats {
        total.files += one.files;
        total.pages += one.pages;
        total.missing_pages += one.missing_pages;
        total.bytes += one.bytes;
        total.seconds += one.seconds;
        total.peak_kib = total.peak_kib.max(one.peak_kib);
        total.failed.extend(one.failed.iter().cloned());
        if total.slowest.seconds < one.slowest.seconds {
            total.slowest = one.slowest.clone();
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_sums_up_and_rates_are_of_the_whole() {
        let one = FormatFigures {
            files: 2,
            pages: 100,
            bytes: 3_000_000,
            seconds: 2.0,
            peak_kib: 50_000,
            ..FormatFigures::new("pdf")
        };
        let two = FormatFigures {
            files: 1,
            pages: 20,
            bytes: 1_000_000,
            seconds: 2.0,
            peak_kib: 100_000,
            ..FormatFigures::new("html")
        };
        let total = total(&[one, two]);
        assert_eq!((total.files, total.pages), (3, 120));
        let json = total.to_json();
        assert_eq!(json["pages_per_second"], 30.0);
        assert_eq!(json["mb_per_second"], 1.0);
        assert_eq!(json["peak_mb"], 102.4);
        assert_eq!(FormatFigures::new("csv").to_json()["pages_per_second"], 0.0);
        assert_eq!(children(1), "1 reading process");
        assert_eq!(children(12), "12 reading processes");
    }
}
