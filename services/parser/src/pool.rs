//! A fixed number of limited child processes, each fed by a thread of its own.
//!
//! A thread per child, not a runtime's worker: the kernel sends the parent-death signal when the
//! *thread* that made the child ends, and runtimes end idle threads.

mod keeper;
mod pictures;
mod process;

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use crate::error::PoolError;
use crate::extract::{Extraction, SecondReader};
use crate::ocr::OcrPlan;
use crate::wire::Task;

use self::keeper::Keeper;

pub use self::process::Parsed;

pub(crate) use self::process::Deadline;

/// A program that is a child with these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// The program.
    pub program: PathBuf,
    /// Arguments that make it a child.
    pub arguments: Vec<String>,
}

/// How children are started and what they may use.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The program and its arguments.
    pub program: PathBuf,
    /// Arguments that make it a child.
    pub arguments: Vec<String>,
    /// How pictures are read.
    pub ocr: OcrPlan,
    /// How PDFs are checked.
    pub second_reader: SecondReader,
    /// What a child may use.
    pub limits: Limits,
}

/// What a child may use for one document, but memory, which it may use at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Address space.
    pub memory_bytes: u64,
    /// From the request to the last answer, without the time that OCR takes.
    pub wall_clock: Duration,
    /// Processor time, in whole seconds.
    pub cpu_secs: u64,
    /// Answers, as they are encoded.
    pub output_bytes: usize,
    /// Documents until a child is replaced.
    pub files_per_child: u32,
}

/// A document on its way to a child.
struct Job {
    task: Task,
    file: File,
    reply: oneshot::Sender<Result<Parsed, PoolError>>,
}

/// The pool. Its threads end, and their children with them, when it is dropped.
#[derive(Debug)]
pub struct Pool {
    jobs: mpsc::Sender<Job>,
}

impl Pool {
    /// Starts `children` threads; a child itself starts with its first document.
    ///
    /// # Errors
    /// When the machine gives no threads.
    pub fn start(plan: Plan, children: NonZeroUsize) -> io::Result<Self> {
        let (jobs, queue) = mpsc::channel::<Job>(children.get());
        let queue = Arc::new(Mutex::new(queue));
        let plan = Arc::new(plan);
        for number in 0..children.get() {
            let (plan, queue) = (Arc::clone(&plan), Arc::clone(&queue));
            let keep = move || serve(&plan, &queue);
            std::thread::Builder::new()
                .name(format!("keeper-{number}"))
                .spawn(keep)?;
        }
        Ok(Self { jobs })
    }

    /// The pages of a document, read in a child; waits while all are busy.
    ///
    /// # Errors
    /// What the child said, or how it ended.
    pub async fn extract(&self, task: Task, file: File) -> Result<Extraction, PoolError> {
        self.parse(task, file).await.map(|parsed| parsed.extraction)
    }

    /// The pages of a document, and where their text stands on them.
    ///
    /// # Errors
    /// What the child said, or how it ended.
    pub async fn parse(&self, task: Task, file: File) -> Result<Parsed, PoolError> {
        let (reply, result) = oneshot::channel();
        self.jobs
            .send(Job { task, file, reply })
            .await
            .map_err(|_closed| PoolError::Closed)?;
        result.await.map_err(|_closed| PoolError::Closed)?
    }
}

/// A keeper's thread: takes one job after the other until the pool is dropped.
fn serve(plan: &Arc<Plan>, queue: &Mutex<mpsc::Receiver<Job>>) {
    let mut keeper = Keeper::new(Arc::clone(plan));
    // The lock is held while waiting: one keeper at a time listens, the others queue up for it.
    while let Some(job) = { queue.lock().blocking_recv() } {
        // Whoever asked may have given up meanwhile.
        if !job.reply.is_closed() {
            let result = keeper.extract(&job.task, &job.file);
            drop(job.reply.send(result));
        }
    }
}
