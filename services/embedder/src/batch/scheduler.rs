//! One encoder on its own thread, fed by many callers.

use std::collections::VecDeque;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use shared::contract::EncoderDescription;
use tokio::sync::{Semaphore, oneshot};
use tracing::{info, warn};

use super::pace::Pace;
use super::queue::{Owner, Queue};
use crate::encoder::Encoder;
use crate::error::EncodeError;
use crate::tokens::TokenIds;

/// The first measurement: this many texts of this many tokens.
const WARM_UP: (usize, usize) = (4, 64);

/// How a scheduler runs its encoder.
#[derive(Debug, Clone, Copy)]
pub struct SchedulerOptions {
    /// The thread's name.
    pub name: &'static str,
    /// Nice value of the thread and of those that the encoder starts.
    pub nice: i32,
    /// How long a batch should take; a single text may take longer.
    pub batch_time: Duration,
    /// Most texts that wait or are in work; a caller with more waits itself.
    pub texts: usize,
}

type Reply = oneshot::Sender<Result<Vec<f32>, EncodeError>>;

struct Waiting {
    ids: TokenIds,
    reply: Reply,
}

struct State {
    queue: Queue<Waiting>,
    closed: bool,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// Encodes texts of many callers in batches of like length. Dropping it ends its thread after the
/// batch in work; texts that still wait get [`EncodeError::Stopped`].
pub struct Scheduler {
    shared: Arc<Shared>,
    room: Semaphore,
    texts: usize,
    description: EncoderDescription,
    thread: Option<JoinHandle<()>>,
}

impl Scheduler {
    /// Opens an encoder on a new thread, warms and measures it, and returns once it is ready.
    /// Blocks for that time.
    ///
    /// # Errors
    /// What `open` fails with, or the first encoding.
    pub fn start<E: Encoder>(
        options: SchedulerOptions,
        open: impl FnOnce() -> Result<E, EncodeError> + Send + 'static,
    ) -> Result<Self, EncodeError> {
        let state = State {
            queue: Queue::new(),
            closed: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let (ready, started) = mpsc::sync_channel(1);
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name(options.name.to_owned())
            .spawn(move || {
                // Before the encoder is opened: the threads it starts inherit the nice value.
                if let Err(error) = rustix::process::setpriority_process(None, options.nice) {
                    warn!(%error, nice = options.nice, "the nice value could not be set");
                }
                let opened = open().and_then(|encoder| Worker::warm_up(encoder, options));
                let (worker, told) = match opened {
                    Ok(worker) => {
                        let description = worker.encoder.describe();
                        (Some(worker), ready.send(Ok(description)))
                    }
                    Err(error) => (None, ready.send(Err(error))),
                };
                if let (Some(worker), Ok(())) = (worker, told) {
                    worker.run(&of_thread);
                }
            })
            .map_err(|source| EncodeError::Thread { source })?;
        let description = started.recv().unwrap_or(Err(EncodeError::Stopped))?;
        Ok(Self {
            shared,
            room: Semaphore::new(options.texts),
            texts: options.texts,
            description,
            thread: Some(thread),
        })
    }

    /// What the encoder runs.
    pub fn description(&self) -> &EncoderDescription {
        &self.description
    }

    /// As [`Scheduler::encode_for`], for callers that need no turns.
    ///
    /// # Errors
    /// As [`Scheduler::encode_for`].
    pub async fn encode(&self, texts: Vec<TokenIds>) -> Result<Vec<Vec<f32>>, EncodeError> {
        self.encode_for(0, texts).await
    }

    /// One vector of unit length per text, in order. Owners take turns batch by batch. Waits while
    /// too many texts wait already. When the caller stops waiting, texts not yet in work are left
    /// out.
    ///
    /// # Errors
    /// When the encoder failed on a batch with one of the texts, or has stopped.
    pub async fn encode_for(
        &self,
        owner: Owner,
        texts: Vec<TokenIds>,
    ) -> Result<Vec<Vec<f32>>, EncodeError> {
        // More texts than there is room for would wait for ever; they take all the room instead.
        let room = u32::try_from(texts.len().min(self.texts)).unwrap_or(u32::MAX);
        let room = self.room.acquire_many(room).await;
        let _room = room.ok().ok_or(EncodeError::Stopped)?;
        let replies: VecDeque<_> = {
            let mut state = self.shared.state.lock();
            if state.closed {
                return Err(EncodeError::Stopped);
            }
            let push = |ids: TokenIds| {
                let (reply, answer) = oneshot::channel();
                state.queue.push(owner, ids.len(), Waiting { ids, reply });
                answer
            };
            texts.into_iter().map(push).collect()
        };
        self.shared.changed.notify_one();
        let mut vectors = Vec::with_capacity(replies.len());
        for reply in replies {
            vectors.push(reply.await.unwrap_or(Err(EncodeError::Stopped))?);
        }
        Ok(vectors)
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.shared.state.lock().closed = true;
        self.shared.changed.notify_one();
        if let Some(Err(_panic)) = self.thread.take().map(JoinHandle::join) {
            warn!("the encoder's thread had panicked");
        }
    }
}

/// What the thread owns.
struct Worker<E> {
    encoder: E,
    pace: Pace,
}

impl<E: Encoder> Worker<E> {
    fn warm_up(mut encoder: E, options: SchedulerOptions) -> Result<Self, EncodeError> {
        let (count, length) = WARM_UP;
        let window = usize::try_from(encoder.describe().window).unwrap_or(length);
        let ids: TokenIds = vec![1; length.min(window.max(1))];
        let batch = vec![ids.as_slice(); count];
        // The first run is slower than all later ones.
        encoder.encode(&batch)?;
        let start = Instant::now();
        encoder.encode(&batch)?;
        let pace = Pace::new(options.batch_time, count * ids.len(), start.elapsed());
        info!(
            thread = options.name,
            batch_tokens = pace.budget(),
            "encoder ready"
        );
        Ok(Self { encoder, pace })
    }

    fn run(mut self, shared: &Shared) {
        // A panic in the encoder must not leave callers waiting.
        let close = Close(shared);
        loop {
            let mut state = shared.state.lock();
            while state.queue.is_empty() && !state.closed {
                shared.changed.wait(&mut state);
            }
            if state.closed {
                break;
            }
            let batch = state.queue.take(self.pace.budget());
            drop(state);
            self.answer(
                batch
                    .into_iter()
                    .filter(|waiting| !waiting.reply.is_closed())
                    .collect(),
            );
        }
        drop(close);
    }

    fn answer(&mut self, batch: Vec<Waiting>) {
        let texts: Vec<&[u32]> = batch.iter().map(|waiting| waiting.ids.as_slice()).collect();
        let longest = texts
            .iter()
            .map(|text| text.len())
            .max()
            .unwrap_or_default();
        if longest == 0 {
            return;
        }
        let start = Instant::now();
        let outcome = self.encoder.encode(&texts);
        let replies = batch.iter().len();
        let outcome = outcome.and_then(|vectors| {
            let found = vectors.len();
            let complete = found == replies;
            complete.then_some(vectors).ok_or(EncodeError::Output {
                found,
                wanted: replies,
            })
        });
        match outcome {
            Ok(vectors) => {
                self.pace.learn(replies * longest, start.elapsed());
                for (waiting, vector) in batch.into_iter().zip(vectors) {
                    // Nobody listens any more: nothing to do.
                    drop(waiting.reply.send(Ok(vector)));
                }
            }
            Err(error) => {
                let reason = error.to_string();
                warn!(texts = replies, reason, "a batch failed");
                for waiting in batch {
                    let reason = reason.clone();
                    drop(waiting.reply.send(Err(EncodeError::Batch { reason })));
                }
            }
        }
    }
}

/// Lets go of all who wait when the thread ends, however it ends.
struct Close<'a>(&'a Shared);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.closed = true;
        state.queue = Queue::new();
    }
}
