//! The embed stage: a batch of chunks gets its vectors.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use shared::bus::{Failure, Handler, Outgoing};
use shared::contract::subject::Stage;
use shared::contract::{Chunk, ChunksEmbedded, ChunksMade, ErrorBody, ErrorCode, Vector, Work};

use crate::engine::Engine;
use crate::error::EncodeError;

const REMEDY: &str = "set `model` alike for chunker, embedder and indexer and restart them; \
                      the documents are then chunked and embedded again";

/// Handles [`ChunksMade`].
pub struct EmbedStage {
    engine: Arc<dyn Engine>,
}

impl EmbedStage {
    /// A stage that embeds with `engine`.
    pub fn new(engine: Arc<dyn Engine>) -> Self {
        Self { engine }
    }

    /// The batch with a vector of unit length for each chunk.
    ///
    /// # Errors
    /// A rejection when the chunks were made for another model or cannot be embedded, else what
    /// the engine fails with.
    pub async fn embed(&self, made: ChunksMade) -> Result<ChunksEmbedded, Failure> {
        self.check(&made)?;
        let texts = made.chunks.iter().map(Chunk::embed_input).collect();
        let failed = |error| failure(error, &made.chunks);
        let document = &made.work.document_id;
        let vectors = self.engine.embed_chunks(document, texts).await;
        let vectors = vectors.map_err(failed)?;
        let dimension = self.engine.describe().map_err(failed)?.dimension;
        Ok(ChunksEmbedded {
            work: made.work,
            batch: made.batch,
            total_chunks: made.total_chunks,
            dimension,
            chunks: made.chunks,
            vectors: vectors.into_iter().map(Vector).collect(),
        })
    }

    /// Vectors of chunks that another tokenizer counted would silently lack the end of their text.
    fn check(&self, made: &ChunksMade) -> Result<(), Failure> {
        let ours = self.engine.made_for();
        let wrong = |what: &str, theirs: &str, ours: &str| {
            let message =
                format!("the chunks are for {what} `{theirs}`, the embedder's is `{ours}`");
            Err(Failure::reject(
                ErrorCode::PipelineMismatch,
                message,
                REMEDY,
            ))
        };
        if made.work.pipeline.model != ours.model {
            return wrong(
                "model",
                made.work.pipeline.model.as_str(),
                ours.model.as_str(),
            );
        }
        if made.tokenizer_hash != ours.tokenizer_hash {
            return wrong("tokenizer", &made.tokenizer_hash, &ours.tokenizer_hash);
        }
        if made.window != ours.window {
            return wrong("window", &made.window.to_string(), &ours.window.to_string());
        }
        Ok(())
    }
}

fn failure(error: EncodeError, chunks: &[Chunk]) -> Failure {
    match error {
        EncodeError::Stopped => Failure::Stop(ErrorBody::new(
            ErrorCode::Internal,
            error.to_string(),
            "the embedder is started again",
        )),
        EncodeError::TooLong {
            index,
            tokens,
            longest,
        } => {
            let chunk = chunks.get(index).map(|chunk| chunk.index);
            Failure::reject(
                ErrorCode::PipelineMismatch,
                format!(
                    "chunk {} has {tokens} tokens where {longest} fit",
                    chunk.unwrap_or_default()
                ),
                "the chunker must count with the model's tokenizer, special tokens included",
            )
        }
        EncodeError::Server(error) if error.blames_a_text() => Failure::Reject(error.into()),
        EncodeError::Server(error) => Failure::Retry {
            after: Duration::from_secs(1),
            error: error.into(),
        },
        other => Failure::retry(other),
    }
}

#[async_trait]
impl Handler for EmbedStage {
    type Message = ChunksMade;

    fn stage(&self) -> Stage {
        Stage::Embed
    }

    fn work<'a>(&self, message: &'a ChunksMade) -> &'a Work {
        &message.work
    }

    async fn handle(&self, message: ChunksMade) -> Result<Vec<Outgoing>, Failure> {
        let embedded = self.embed(message).await?;
        let (work, batch) = (&embedded.work, Some(embedded.batch));
        let out = Outgoing::stage(Stage::Index, work, batch, &embedded).map_err(Failure::retry)?;
        Ok(vec![out])
    }
}
