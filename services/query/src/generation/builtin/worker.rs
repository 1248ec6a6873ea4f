//! The thread on which the model runs: one answer at a time, others wait in line.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::SERVER;
use super::model::Model;
use super::shelf::Entry;
use crate::generation::{GenerateError, Piece, Prompt};

/// Questions that may wait for the one in hand.
const WAITING: usize = 4;
/// A model that nobody has asked for so long gives its memory back.
const IDLE: Duration = Duration::from_mins(10);

/// Tells how many bytes are free, if that is known.
pub(super) type FreeMemory = dyn Fn() -> Option<u64> + Send + Sync;

/// What comes back from a job.
pub(super) enum Event {
    /// The model is loaded, and the prompt fits.
    Begun,
    /// A piece of the answer, or why it ends here.
    Piece(Result<Piece, GenerateError>),
}

/// One wish: to be loaded, and to answer a prompt if there is one.
struct Job {
    entry: Entry,
    prompt: Option<Prompt>,
    events: mpsc::Sender<Event>,
}

/// What others may see of the thread.
struct Shared {
    beat: AtomicU64,
    loaded: Mutex<Option<PathBuf>>,
    free: Arc<FreeMemory>,
}

/// The thread, which begins with the first job.
pub(super) struct Worker {
    jobs: Mutex<Option<SyncSender<Job>>>,
    shared: Arc<Shared>,
}

impl Worker {
    /// Nothing runs yet.
    pub(super) fn new(free: Arc<FreeMemory>) -> Self {
        Self {
            jobs: Mutex::default(),
            shared: Arc::new(Shared {
                beat: AtomicU64::new(0),
                loaded: Mutex::default(),
                free,
            }),
        }
    }

    /// Whether the model at this path is in memory.
    pub(super) fn has_loaded(&self, entry: &Entry) -> bool {
        self.shared.loaded.lock().as_ref() == Some(&entry.path)
    }

    /// Rises with every layer loaded, part of a prompt read and token written, of whichever job.
    pub(super) fn beats(&self) -> Beats {
        Beats(Arc::clone(&self.shared))
    }

    /// Puts a job in line; its events come over the channel. Closing it ends the job.
    pub(super) fn ask(
        &self,
        entry: Entry,
        prompt: Option<Prompt>,
    ) -> Result<mpsc::Receiver<Event>, GenerateError> {
        // Room for all that an answer can be, so that a slow listener keeps nobody waiting.
        let pieces = prompt.as_ref().map_or(0, |prompt| prompt.answer_tokens);
        let pieces = usize::try_from(pieces).unwrap_or(usize::MAX).min(1 << 16);
        let (events, receiver) = mpsc::channel(pieces + 4);
        let job = Job {
            entry,
            prompt,
            events,
        };
        let mut jobs = self.jobs.lock();
        let line = match &mut *jobs {
            Some(line) => line,
            none => none.insert(start(Arc::clone(&self.shared))?),
        };
        match line.try_send(job) {
            Ok(()) => Ok(receiver),
            Err(TrySendError::Full(_)) => Err(GenerateError::Busy { server: SERVER }),
            Err(TrySendError::Disconnected(_)) => {
                *jobs = None;
                Err(stopped())
            }
        }
    }
}

/// Why an answer ends without a last piece.
pub(super) fn stopped() -> GenerateError {
    GenerateError::Strange {
        server: SERVER,
        reason: "its thread has ended".to_owned(),
    }
}

/// Signs of life of the thread.
#[derive(Clone)]
pub(super) struct Beats(Arc<Shared>);

impl Beats {
    /// How many there were.
    pub(super) fn count(&self) -> u64 {
        self.0.beat.load(Ordering::Relaxed)
    }
}

/// Who waits for the answer in hand.
pub(super) struct Listener<'a> {
    events: &'a mpsc::Sender<Event>,
    shared: &'a Shared,
}

impl Listener<'_> {
    /// The answer begins.
    pub(super) fn begun(&self) {
        self.send(Event::Begun);
    }

    /// A piece of it.
    pub(super) fn piece(&self, piece: Piece) {
        self.send(Event::Piece(Ok(piece)));
    }

    /// Something was done.
    pub(super) fn beat(&self) {
        self.shared.beat.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether nobody waits any more.
    pub(super) fn is_gone(&self) -> bool {
        self.events.is_closed()
    }

    fn send(&self, event: Event) {
        // The channel has room for the whole answer; it fails only when nobody listens.
        let _gone = self.events.try_send(event);
    }
}

fn start(shared: Arc<Shared>) -> Result<SyncSender<Job>, GenerateError> {
    let (sender, jobs) = sync_channel(WAITING);
    thread::Builder::new()
        .name("generator".to_owned())
        .spawn(move || run(&jobs, &shared))
        .map(|_detached| sender)
        .map_err(|error| GenerateError::Strange {
            server: SERVER,
            reason: format!("no thread can be started: {error}"),
        })
}

fn run(jobs: &Receiver<Job>, shared: &Shared) {
    let mut model: Option<(PathBuf, Model)> = None;
    loop {
        let next = match &model {
            Some(_) => jobs.recv_timeout(IDLE),
            None => jobs.recv().map_err(|_ended| RecvTimeoutError::Disconnected),
        };
        match next {
            Ok(job) => serve(&mut model, &job, shared),
            Err(RecvTimeoutError::Timeout) => model = None,
            Err(RecvTimeoutError::Disconnected) => return,
        }
        *shared.loaded.lock() = model.as_ref().map(|(path, _)| path.clone());
    }
}

fn serve(model: &mut Option<(PathBuf, Model)>, job: &Job, shared: &Shared) {
    let listener = Listener {
        events: &job.events,
        shared,
    };
    if listener.is_gone() {
        return;
    }
    // Candle's kernels assert; a file that trips one must not end the service.
    let done = catch_unwind(AssertUnwindSafe(|| work(model, job, shared, &listener)));
    let error = match done {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error,
        Err(_panic) => {
            *model = None;
            GenerateError::File {
                file: job.entry.name.clone(),
                reason: "the engine gave up on it; the log says where".to_owned(),
            }
        }
    };
    listener.send(Event::Piece(Err(error)));
}

fn work(
    model: &mut Option<(PathBuf, Model)>,
    job: &Job,
    shared: &Shared,
    listener: &Listener<'_>,
) -> Result<(), GenerateError> {
    let path = &job.entry.path;
    if model.as_ref().is_none_or(|(loaded, _)| loaded != path) {
        // Its memory must be free before the other one's is counted.
        *model = None;
        let free = shared.free.as_ref();
        let loaded = Model::load(&job.entry.name, path, free, &|| listener.beat())?;
        *model = Some((path.clone(), loaded));
        *shared.loaded.lock() = Some(path.clone());
    }
    let Some((_, model)) = model else {
        return Err(stopped());
    };
    if let Some(prompt) = &job.prompt {
        return model.answer(prompt, shared.free.as_ref(), listener);
    }
    model.warm()?;
    listener.begun();
    Ok(())
}
