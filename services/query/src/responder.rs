//! Answers `query.v1.search` and `query.v1.ask`.

use std::sync::Arc;
use std::time::Instant;

use shared::bus::{BusError, EventSink};
use shared::contract::subject::call;
use shared::contract::{AnswerEvent, ErrorBody, Question, SearchReply};
use shared::service::Service;
use tracing::{info, warn};

use crate::answer::{self, extract};
use crate::engines::Engines;
use crate::search::search;
use crate::settings::Settings;

/// All instances share the questions.
const QUEUE: &str = "query";

/// Answers questions.
pub struct Responder {
    engines: Box<dyn Engines>,
    settings: Settings,
}

impl Responder {
    /// A responder that asks `engines`.
    pub fn new(engines: Box<dyn Engines>, settings: Settings) -> Self {
        Self { engines, settings }
    }

    /// Starts answering on the service's bus, until it drains.
    ///
    /// # Errors
    /// When the bus refuses a subscription.
    pub async fn start(self, service: &Service) -> Result<(), BusError> {
        let limit = self.settings.questions_in_flight;
        let shared = Arc::new(self);
        let (bus, drain, health) = (&service.bus, &service.drain, &service.health);
        let (this, board) = (Arc::clone(&shared), health.clone());
        let on_search = move |question: Question| {
            let (this, in_hand) = (Arc::clone(&this), board.in_hand());
            async move {
                let _in_hand = in_hand;
                this.search(&question).await
            }
        };
        bus.respond((call::QUERY_SEARCH, QUEUE), limit, drain, on_search)
            .await?;
        let (this, board) = (shared, health.clone());
        let on_ask = move |question: Question, sink: EventSink<AnswerEvent>| {
            let (this, in_hand) = (Arc::clone(&this), board.in_hand());
            async move {
                let _in_hand = in_hand;
                send_all(&sink, this.ask(&question).await).await;
            }
        };
        bus.respond_stream((call::QUERY_ASK, QUEUE), limit, drain, on_ask)
            .await?;
        Ok(())
    }

    /// Searches.
    ///
    /// # Errors
    /// [`ErrorBody`] for a wrong question, or when no engine answers.
    pub async fn search(&self, question: &Question) -> Result<SearchReply, ErrorBody> {
        let reply = search(self.engines.as_ref(), question, &self.settings).await;
        match &reply {
            Ok(reply) => info!(
                passages = reply.passages.len(),
                notes = reply.notes.len(),
                duration_ms = reply.timings.total_ms,
                "searched"
            ),
            Err(error) => warn!(code = ?error.code, message = %error.message, "not searched"),
        }
        reply
    }

    /// The events of an answer, in order: the sources, the quotations, the end; or an error.
    pub async fn ask(&self, question: &Question) -> Vec<AnswerEvent> {
        let started = Instant::now();
        let reply = match self.search(question).await {
            Ok(reply) => reply,
            Err(error) => return vec![AnswerEvent::Error { error }],
        };
        let extract = extract(&question.text, &reply.passages);
        let mut timings = reply.timings;
        timings.total_ms = started.elapsed().as_secs_f64() * 1_000.0;
        let mut events = vec![AnswerEvent::Sources {
            passages: reply.passages,
        }];
        events.extend(
            extract
                .pieces
                .into_iter()
                .map(|text| AnswerEvent::Token { text }),
        );
        events.push(AnswerEvent::Done {
            generator: answer::GENERATOR.to_owned(),
            timings,
            answered: extract.answered,
            citations: extract.citations,
            notes: reply.notes,
        });
        events
    }
}

/// Sends `events` until one cannot be sent.
async fn send_all(sink: &EventSink<AnswerEvent>, events: Vec<AnswerEvent>) {
    for event in events {
        if !sink.send(event).await {
            return;
        }
    }
}
