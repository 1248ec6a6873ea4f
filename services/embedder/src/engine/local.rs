//! A model that runs here, in ONNX Runtime.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use async_trait::async_trait;
use shared::contract::{ChunksMade, DocumentId, EncoderDescription, ModelSight};

use super::{Engine, MadeFor};
use crate::batch::{Scheduler, SchedulerOptions};
use crate::encoder::{OnnxEncoder, Runtime, SessionOptions};
use crate::error::EncodeError;
use crate::model::Model;
use crate::settings::{self, Settings};
use crate::tokens::TokenIds;

/// Nice value of bulk work.
const BULK_NICE: i32 = 10;

/// A model with an encoder for chunks and one for questions.
pub struct Local {
    made_for: MadeFor,
    model: Arc<Model>,
    chunks: Scheduler,
    questions: Scheduler,
}

impl Local {
    /// `model` on encoders that run already.
    pub fn new(model: Arc<Model>, chunks: Scheduler, questions: Scheduler) -> Self {
        let description = model.describe();
        Self {
            made_for: MadeFor {
                model: description.model,
                window: description.window,
                tokenizer_hash: description.tokenizer_hash,
            },
            model,
            chunks,
            questions,
        }
    }

    /// Loads the model twice, for chunks and for questions, and warms both. Blocks.
    ///
    /// # Errors
    /// When the model or ONNX Runtime cannot be loaded.
    pub fn start(named: &shared::settings::Model, settings: &Settings) -> anyhow::Result<Self> {
        let runtime = Runtime::load(&settings::runtime_library())?;
        let model = Arc::new(Model::open(&named.folder(), named.precision)?);
        let start = |name, nice, texts| {
            let (runtime, model) = (runtime.clone(), Arc::clone(&model));
            let options = SchedulerOptions {
                name,
                nice,
                batch_time: settings.batch_time(),
                texts,
            };
            let session = SessionOptions {
                threads: settings.threads(),
            };
            Scheduler::start(options, move || OnnxEncoder::open(&runtime, model, session))
        };
        let chunks = settings.batches_in_flight * ChunksMade::MAX_CHUNKS;
        let chunks = start("embed-chunks", BULK_NICE, chunks)?;
        let questions = start("embed-questions", 0, settings.questions_in_flight)?;
        Ok(Self::new(Arc::clone(&model), chunks, questions))
    }
}

#[async_trait]
impl Engine for Local {
    fn made_for(&self) -> &MadeFor {
        &self.made_for
    }

    fn describe(&self) -> Result<EncoderDescription, EncodeError> {
        Ok(self.model.describe())
    }

    async fn embed_chunks(
        &self,
        document: &DocumentId,
        texts: Vec<String>,
    ) -> Result<Vec<Vec<f32>>, EncodeError> {
        // Two documents of one hash share their turns, which does no harm.
        let mut owner = DefaultHasher::new();
        document.hash(&mut owner);
        let model = Arc::clone(&self.model);
        let ids = on_pool(move || {
            let texts = texts.iter().enumerate();
            texts
                .map(|(index, text)| fitting(&model, index, text))
                .collect()
        });
        self.chunks.encode_for(owner.finish(), ids.await?).await
    }

    async fn embed_question(&self, text: String) -> Result<Vec<f32>, EncodeError> {
        let model = Arc::clone(&self.model);
        let ids = on_pool(move || model.tokens.question(&text)).await?;
        let mut vectors = self.questions.encode(vec![ids]).await?;
        vectors.pop().ok_or(EncodeError::Output {
            found: 0,
            wanted: 1,
        })
    }

    fn sight(&self, text: &str) -> ModelSight {
        self.model.tokens.sight(text)
    }
}

fn fitting(model: &Model, index: usize, text: &str) -> Result<TokenIds, EncodeError> {
    let longest = model.tokens.longest();
    let ids = model.tokens.document(text)?;
    if ids.len() <= longest {
        return Ok(ids);
    }
    Err(EncodeError::TooLong {
        index,
        tokens: ids.len(),
        longest,
    })
}

async fn on_pool<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, EncodeError> + Send + 'static,
) -> Result<T, EncodeError> {
    // It fails when the work panics, or the process ends.
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or(Err(EncodeError::Stopped))
}
