//! Answering `embed.v1.query` and `embed.v1.describe`.

use std::sync::Arc;

use shared::bus::BusError;
use shared::contract::subject::call;
use shared::contract::{EmbedQuery, ErrorBody, ErrorCode, QueryVector, Vector};
use shared::service::Service;

use crate::engine::Engine;
use crate::error::EncodeError;

/// All embedders answer in turn.
const QUEUE: &str = "embedder";
const LONGEST_QUESTION_BYTES: usize = 8 * 1024;

/// Embeds questions.
pub struct Questions {
    engine: Arc<dyn Engine>,
}

impl Questions {
    /// Questions to `engine`.
    pub fn new(engine: Arc<dyn Engine>) -> Self {
        Self { engine }
    }

    /// The question's vector, of unit length, under the model's query prompt.
    ///
    /// # Errors
    /// When the question is too long, the engine fails or its server is away.
    pub async fn embed(&self, query: EmbedQuery) -> Result<QueryVector, ErrorBody> {
        if query.text.len() > LONGEST_QUESTION_BYTES {
            return Err(ErrorBody::new(
                ErrorCode::BadRequest,
                format!("the question has {} bytes", query.text.len()),
                format!("ask in at most {LONGEST_QUESTION_BYTES} bytes"),
            ));
        }
        let sight = self.engine.sight(&query.text);
        let vector = self.engine.embed_question(query.text).await;
        Ok(QueryVector {
            model: self.engine.made_for().model.clone(),
            vector: Vector(vector.map_err(failure)?),
            sight,
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
    let engine = Arc::clone(&questions.engine);
    let describe = move |(): ()| {
        let description = engine.describe().map_err(failure);
        async move { description }
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

fn failure(error: EncodeError) -> ErrorBody {
    match error {
        EncodeError::Server(error) => error.into(),
        other => ErrorBody::new(
            ErrorCode::Internal,
            format!("the question was not embedded: {other}"),
            "ask again; if it stays so, look at the embedder's log",
        ),
    }
}
