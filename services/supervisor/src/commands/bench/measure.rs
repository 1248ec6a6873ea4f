//! Reading files as the parser service does, and measuring it.
//!
//! One format after the other, each by fresh children, so that the peak of memory is the format's
//! own. The children are started, their libraries loaded and their first file read before the
//! clock starts.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use futures::StreamExt as _;
use parser::extract::Extraction;
use parser::pool::{Plan, Pool};
use parser::wire::Task;
use shared::contract::ReadMethod;
use shared::format::Format;
use tokio::time::Instant;

use super::children::living;
use super::report::{FormatFigures, Refused, Slowest};
use crate::error::Complaint;
use crate::intake::Candidate;
use crate::output;
use crate::screen::Screen;

/// How often the children's memory is looked at; what a living child has had at most is exact,
/// this is for those that end in between.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How to read.
pub(super) struct Bench {
    /// How children are started, and what they may use.
    pub(super) plan: Plan,
    /// Children at once.
    pub(super) children: NonZeroUsize,
}

/// One file that was read or not.
struct Outcome<'a> {
    file: &'a Candidate,
    took: Duration,
    result: Result<Extraction, String>,
}

/// What was seen of the children.
#[derive(Default)]
struct Seen {
    peak_kib: Cell<u64>,
}

impl Seen {
    fn look(&self) {
        for child in living(Path::new("/proc")) {
            self.peak_kib.set(self.peak_kib.get().max(child.peak_kib));
        }
    }

    async fn go_on(&self) -> Infallible {
        loop {
            self.look();
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

impl Bench {
    /// Reads all `files`, format by format.
    ///
    /// # Errors
    /// When no child can be started.
    pub(super) async fn all(
        &self,
        files: Vec<Candidate>,
        screen: &Screen,
    ) -> Result<Vec<FormatFigures>, Complaint> {
        let mut by_format: BTreeMap<Format, Vec<Candidate>> = BTreeMap::new();
        for file in files {
            by_format.entry(file.format).or_default().push(file);
        }
        let mut all = Vec::new();
        for (format, files) in by_format {
            let bar = screen.bar(files.len() as u64);
            bar.set_message(format.name());
            all.push(self.one(format, &files, || bar.inc(1)).await?);
            bar.finish_and_clear();
        }
        Ok(all)
    }

    /// Whether the kernel filters the system calls of children: of one that has read a few words.
    ///
    /// # Errors
    /// When no child can be started.
    pub(super) async fn is_sandboxed(&self) -> Result<bool, Complaint> {
        let pool = Pool::start(self.plan.clone(), NonZeroUsize::MIN).map_err(no_threads)?;
        let mut words = tempfile::tempfile()?;
        words.write_all(b"a few words")?;
        let task = Task {
            format: Format::Text,
            name: "words.txt".to_owned(),
            password: None,
        };
        let read = pool.extract(task, words).await;
        read.map_err(|error| Complaint::new(error, "run `ibid doctor`"))?;
        let children = living(Path::new("/proc"));
        Ok(!children.is_empty() && children.iter().all(|child| child.is_filtered))
    }

    async fn one(
        &self,
        format: Format,
        files: &[Candidate],
        done: impl Fn(),
    ) -> Result<FormatFigures, Complaint> {
        let pool = Pool::start(self.plan.clone(), self.children).map_err(no_threads)?;
        let seen = Seen::default();
        self.warm(&pool, files).await;
        let started = Instant::now();
        let reading = futures::stream::iter(files)
            .map(|file| read(&pool, file))
            .buffer_unordered(self.children.get())
            .inspect(|_| done())
            .collect::<Vec<_>>();
        let outcomes = tokio::select! {
            outcomes = reading => outcomes,
            never = seen.go_on() => match never {},
        };
        let took = started.elapsed();
        seen.look();
        Ok(figures(format, &outcomes, took, &seen))
    }

    /// Has every child read the smallest file once. What goes wrong shows again when it is
    /// measured.
    async fn warm(&self, pool: &Pool, files: &[Candidate]) {
        if let Some(smallest) = files.iter().min_by_key(|file| file.bytes) {
            let all = (0..self.children.get()).map(|_| read(pool, smallest));
            futures::future::join_all(all).await;
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn no_threads(error: io::Error) -> Complaint {
    Complaint::new(format!("no threads: {error}"), "free some memory")
}

async fn read<'a>(pool: &Pool, file: &'a Candidate) -> Outcome<'a> {
    let started = Instant::now();
    let task = Task {
        format: file.format,
        name: file
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        password: None,
    };
    let result = match File::open(&file.path) {
        Ok(open) => pool
            .extract(task, open)
            .await
            .map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    Outcome {
        file,
        took: started.elapsed(),
        result,
    }
}

fn figures(format: Format, outcomes: &[Outcome<'_>], took: Duration, seen: &Seen) -> FormatFigures {
    let mut figures = FormatFigures::new(format.name());
    figures.seconds = took.as_secs_f64();
    figures.peak_kib = seen.peak_kib.get();
    for outcome in outcomes {
        let path = outcome.file.path.to_string_lossy().into_owned();
        figures.files += 1;
        figures.bytes += outcome.file.bytes;
        if figures.slowest.seconds < outcome.took.as_secs_f64() {
            figures.slowest = Slowest {
                path: path.clone(),
                seconds: outcome.took.as_secs_f64(),
            };
        }
        match &outcome.result {
            Ok(extraction) => {
                figures.pages += extraction.pages.len() as u64;
                figures.missing_pages += missing(extraction);
            }
            Err(reason) => figures.failed.push(Refused {
                path,
                reason: output::text(reason),
            }),
        }
    }
    figures.failed.sort_by(|a, b| a.path.cmp(&b.path));
    figures
}

fn missing(extraction: &Extraction) -> u64 {
    let missing = extraction
        .pages
        .iter()
        .filter(|page| page.record.method == ReadMethod::Missing);
    missing.count() as u64
}
