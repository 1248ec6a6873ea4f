//! Answering `embed.v1.query` and `embed.v1.describe`.

use std::sync::Arc;

use shared::bus::BusError;
use shared::contract::subject::call;
use shared::contract::{EmbedQuery, ErrorBody, ErrorCode, QueryVector, Vector};
use shared::service::Service;

use crate::batch::Scheduler;
use crate::model::Model;

/// All embedders answer in turn.
const QUEUE: &str = "embedder";
const LONGEST_QUESTION_BYTES: usize = 8 * 1024;

/// Embeds questions.
pub struct Questions {
    model: Arc<Model>,
    encoder: Scheduler,
}

impl Questions {
    /// Questions to `model`, on an encoder of their own.
    pub fn new(model: Arc<Model>, encoder: Scheduler) -> Self {
        Self { model, encoder }
    }

    /// The question's vector, of unit length, under the model's query prompt.
    ///
    /// # Errors
    /// When the question is too long or the encoder fails.
    pub async fn embed(&self, query: EmbedQuery) -> Result<QueryVector, ErrorBody> {
        if query.text.len() > LONGEST_QUESTION_BYTES {
            return Err(ErrorBody::new(
                ErrorCode::BadRequest,
                format!("the question has {} bytes", query.text.len()),
                format!("ask in at most {LONGEST_QUESTION_BYTES} bytes"),
            ));
        }
        let model = Arc::clone(&self.model);
        let ids = tokio::task::spawn_blocking(move || model.tokens.question(&query.text));
        let ids = ids.await.map_err(internal)?.map_err(internal)?;
        let mut vectors = self.encoder.encode(vec![ids]).await.map_err(internal)?;
        let vector = vectors
            .pop()
            .ok_or_else(|| internal("no vector was made"))?;
        Ok(QueryVector {
            model: self.model.id.clone(),
            vector: Vector(vector),
        })
    }
}

/// Answers until the service drains, at most `limit` questions at once.
///
/// # Errors
/// When the bus refuses a subscription.
pub async fn answer(
    service: &Service,
    questions: Arc<Questions>,
    limit: usize,
) -> Result<(), BusError> {
    let description = questions.encoder.description().clone();
    let describe = move |(): ()| {
        let description = description.clone();
        async move { Ok::<_, ErrorBody>(description) }
    };
    let embed = move |query: EmbedQuery| {
        let questions = Arc::clone(&questions);
        async move { questions.embed(query).await }
    };
    // The tasks end by themselves at the drain.
    let (bus, drain) = (&service.bus, &service.drain);
    bus.respond((call::EMBED_DESCRIBE, QUEUE), limit, drain, describe)
        .await?;
    bus.respond((call::EMBED_QUERY, QUEUE), limit, drain, embed)
        .await?;
    Ok(())
}

fn internal(error: impl std::fmt::Display) -> ErrorBody {
    ErrorBody::new(
        ErrorCode::Internal,
        format!("the question was not embedded: {error}"),
        "ask again; if it stays so, look at the embedder's log",
    )
}
