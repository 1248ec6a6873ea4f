//! The embed stage: a batch of chunks gets its vectors.

use std::sync::Arc;

use async_trait::async_trait;
use shared::bus::{Failure, Handler, Outgoing};
use shared::contract::subject::Stage;
use shared::contract::{ChunksEmbedded, ChunksMade, ErrorBody, ErrorCode, Vector, Work};

use crate::batch::Scheduler;
use crate::error::EncodeError;
use crate::model::Model;
use crate::tokens::TokenIds;

const REMEDY: &str = "set `model` alike for chunker, embedder and indexer and restart them; \
                      the documents are then chunked and embedded again";

/// Handles [`ChunksMade`].
pub struct EmbedStage {
    model: Arc<Model>,
    chunks: Arc<Scheduler>,
}

impl EmbedStage {
    /// A stage that embeds with `model` on the encoder of `chunks`.
    pub fn new(model: Arc<Model>, chunks: Arc<Scheduler>) -> Self {
        Self { model, chunks }
    }

    /// The batch with a vector of unit length for each chunk.
    ///
    /// # Errors
    /// A rejection when the chunks were made for another model, else what the encoder fails with.
    pub async fn embed(&self, made: ChunksMade) -> Result<ChunksEmbedded, Failure> {
        self.check(&made)?;
        let model = Arc::clone(&self.model);
        let tokens =
            tokio::task::spawn_blocking(move || tokens(&model, &made).map(|ids| (ids, made)));
        let (ids, made) = tokens.await.map_err(Failure::retry)??;
        let vectors = self.chunks.encode(ids).await.map_err(failure)?;
        Ok(ChunksEmbedded {
            work: made.work,
            batch: made.batch,
            total_chunks: made.total_chunks,
            dimension: self.chunks.description().dimension,
            chunks: made.chunks,
            vectors: vectors.into_iter().map(Vector).collect(),
        })
    }

    /// Vectors of chunks that another tokenizer counted would silently lack the end of their text.
    fn check(&self, made: &ChunksMade) -> Result<(), Failure> {
        let ours = self.chunks.description();
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

/// The token ids of all chunks.
fn tokens(model: &Model, made: &ChunksMade) -> Result<Vec<TokenIds>, Failure> {
    let longest = model.tokens.longest();
    let ids = made.chunks.iter().map(|chunk| {
        let ids = model
            .tokens
            .document(&chunk.embed_input())
            .map_err(failure)?;
        if ids.len() <= longest {
            return Ok(ids);
        }
        let message = format!(
            "chunk {} has {} tokens where {longest} fit",
            chunk.index,
            ids.len()
        );
        let remedy = "the chunker must count with the model's tokenizer, special tokens included";
        Err(Failure::reject(
            ErrorCode::PipelineMismatch,
            message,
            remedy,
        ))
    });
    ids.collect()
}

fn failure(error: EncodeError) -> Failure {
    match error {
        EncodeError::Stopped => Failure::Stop(ErrorBody::new(
            ErrorCode::Internal,
            error.to_string(),
            "the embedder is started again",
        )),
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
