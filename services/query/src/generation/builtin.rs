//! A model in a GGUF file, run in this process on candle: answers without any other program.

mod decoder;
mod file;
mod memory;
mod model;
mod sampler;
mod shelf;
mod template;
mod text;
mod tokenizer;
mod worker;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream;
use shared::contract::{GeneratorId, GeneratorView, Provider};
use tokio::sync::mpsc::Receiver;

use self::shelf::{Card, Entry, Shelf};
use self::worker::{Beats, Event, FreeMemory, Worker};
use super::{GenerateError, GenerationSettings, Generator, Limits, Piece, Pieces, Prompt};

/// How errors name it.
const SERVER: &str = "the built-in generator";
/// Tokens of passages in a prompt: two cores read some 150 to 230 tokens a second of the smallest
/// model there is, so that a first token takes five seconds and not twenty.
const CONTEXT: u32 = 1_000;
/// The folder of models, under the assets.
const FOLDER: &str = "generators";

/// Runs the models in `generators/` under the assets, and the one that the settings name.
pub struct Builtin {
    shelf: Arc<Shelf>,
    worker: Worker,
    first_token: Duration,
    token_pause: Duration,
}

impl Builtin {
    /// Nothing is read or loaded yet.
    pub fn new(settings: &GenerationSettings, assets: &Path) -> Self {
        Self::with_memory(settings, assets, Arc::new(memory::free))
    }

    /// Like [`Builtin::new`], for a machine on which `free` bytes are free; `None` when that is
    /// not known.
    pub fn with_memory(
        settings: &GenerationSettings,
        assets: &Path,
        free: Arc<FreeMemory>,
    ) -> Self {
        let shelf = Shelf::new(assets.join(FOLDER), &settings.builtin_model);
        Self {
            shelf: Arc::new(shelf),
            worker: Worker::new(free),
            first_token: settings.first_token(),
            token_pause: settings.token_pause(),
        }
    }

    /// Looks at files, on a thread that may wait for the disk.
    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Shelf) -> T + Send + 'static,
    ) -> Result<T, GenerateError> {
        let shelf = Arc::clone(&self.shelf);
        let looked = tokio::task::spawn_blocking(move || look(&shelf)).await;
        looked.map_err(|_ended| worker::stopped())
    }

    async fn find(&self, model: &str) -> Result<(Entry, Card), GenerateError> {
        let name = model.to_owned();
        let found = self.look(move |shelf| {
            let entry = shelf.find(&name)?;
            let card = shelf.card(&entry.path);
            Some((entry, card))
        });
        found.await?.ok_or_else(|| GenerateError::NoModel {
            model: model.to_owned(),
            remedy: format!(
                "`ibid models` lists those that are there; put GGUF files into {}",
                self.shelf.folder().display()
            ),
        })
    }

    fn view(&self, entry: &Entry, card: Card) -> GeneratorView {
        GeneratorView {
            id: GeneratorId::new(Provider::Builtin, &entry.name),
            is_default: false,
            window_tokens: card.window.as_ref().ok().copied(),
            bytes: card.bytes,
            loaded: Some(self.worker.has_loaded(entry)),
            refused: card
                .window
                .err()
                .map(|reason| file_error(entry, reason).into()),
        }
    }

    /// Puts a job in line and waits until it begins.
    async fn begin(&self, entry: Entry, prompt: Option<Prompt>) -> Result<Answer, GenerateError> {
        let mut answer = Answer {
            events: self.worker.ask(entry, prompt)?,
            beats: self.worker.beats(),
            pause: self.first_token,
            setting: "generation.first_token_secs",
        };
        match answer.next().await {
            Event::Begun => Ok(answer),
            Event::Piece(Err(error)) => Err(error),
            Event::Piece(Ok(_)) => Err(worker::stopped()),
        }
    }
}

#[async_trait]
impl Generator for Builtin {
    fn provider(&self) -> Provider {
        Provider::Builtin
    }

    async fn models(&self) -> Result<Vec<GeneratorView>, GenerateError> {
        let look = |shelf: &Shelf| -> Vec<(Entry, Card)> {
            let entries = shelf.entries().into_iter();
            let entries = entries.map(|entry| {
                let card = shelf.card(&entry.path);
                (entry, card)
            });
            entries.collect()
        };
        let found = self.look(look).await?.into_iter();
        Ok(found.map(|(entry, card)| self.view(&entry, card)).collect())
    }

    async fn default_model(&self) -> Result<String, GenerateError> {
        let first = |shelf: &Shelf| {
            let mut entries = shelf.entries().into_iter();
            let usable = |entry: &Entry| shelf.card(&entry.path).window.is_ok();
            // What the settings name stays the default when it cannot be used, so that the
            // question is told why.
            shelf.configured().or_else(|| entries.find(usable))
        };
        let first = self.look(first).await?;
        first
            .map(|entry| entry.name)
            .ok_or_else(|| GenerateError::NoModels {
                server: SERVER,
                remedy: "run `ibid setup --with generator`, or set `generation.builtin_model` to \
                         a GGUF file"
                    .to_owned(),
            })
    }

    async fn check(&self, model: &str) -> Result<Limits, GenerateError> {
        let (entry, card) = self.find(model).await?;
        let window = card.window.map_err(|reason| file_error(&entry, reason))?;
        Ok(Limits {
            window_tokens: Some(window),
            context_tokens: Some(CONTEXT),
        })
    }

    async fn warm(&self, model: &str) -> Result<(), GenerateError> {
        let (entry, _) = self.find(model).await?;
        self.begin(entry, None).await.map(drop)
    }

    async fn generate(&self, model: &str, prompt: Prompt) -> Result<Pieces, GenerateError> {
        let (entry, _) = self.find(model).await?;
        let token_pause = self.token_pause;
        let answer = self.begin(entry, Some(prompt)).await?;
        let pieces = stream::unfold(Some(answer), move |answer| async move {
            let mut answer = answer?;
            let piece = match answer.next().await {
                Event::Piece(piece) => piece,
                Event::Begun => Err(worker::stopped()),
            };
            answer.pause = token_pause;
            answer.setting = "generation.token_pause_secs";
            let goes_on = !matches!(piece, Err(_) | Ok(Piece::End { .. }));
            Some((piece, goes_on.then_some(answer)))
        });
        Ok(pieces.boxed())
    }
}

/// An answer that is waited for. Dropping it ends the work.
struct Answer {
    events: Receiver<Event>,
    beats: Beats,
    /// Longest time without a sign of life.
    pause: Duration,
    /// The setting that says so.
    setting: &'static str,
}

impl Answer {
    async fn next(&mut self) -> Event {
        loop {
            let before = self.beats.count();
            match tokio::time::timeout(self.pause, self.events.recv()).await {
                Ok(Some(event)) => return event,
                Ok(None) => return Event::Piece(Err(worker::stopped())),
                Err(_elapsed) if self.beats.count() != before => {}
                Err(_elapsed) => {
                    return Event::Piece(Err(GenerateError::Silent {
                        server: SERVER,
                        pause: self.pause,
                        setting: self.setting,
                    }));
                }
            }
        }
    }
}

fn file_error(entry: &Entry, reason: String) -> GenerateError {
    GenerateError::File {
        file: entry.name.clone(),
        reason,
    }
}
