//! Answers `query.v1.*`.

use std::sync::Arc;

use shared::bus::{BusError, EventSink};
use shared::contract::subject::call;
use shared::contract::{AnswerEvent, ErrorBody, GeneratorId, Question};
use shared::service::Service;
use tokio::sync::mpsc;

use crate::answer::Answerer;

/// All instances share the questions.
const QUEUE: &str = "query";
/// Events made and not yet sent.
const EVENTS: usize = 64;
/// Models are listed and tried by people, one at a time.
const LISTINGS: usize = 4;

/// Starts answering on the service's bus, until it drains.
///
/// # Errors
/// When the bus refuses a subscription.
pub async fn start(answerer: Arc<Answerer>, service: &Service) -> Result<(), BusError> {
    let limit = answerer.settings.questions_in_flight;
    let (bus, drain, health) = (&service.bus, &service.drain, &service.health);

    let (this, board) = (Arc::clone(&answerer), health.clone());
    let on_search = move |question: Question| {
        let (this, in_hand) = (Arc::clone(&this), board.in_hand());
        async move {
            let _in_hand = in_hand;
            this.search(&question).await
        }
    };
    bus.respond((call::QUERY_SEARCH, QUEUE), limit, drain, on_search)
        .await?;

    let (this, board) = (Arc::clone(&answerer), health.clone());
    let on_ask = move |question: Question, sink: EventSink<AnswerEvent>| {
        let (this, in_hand) = (Arc::clone(&this), board.in_hand());
        async move {
            let _in_hand = in_hand;
            let (sender, receiver) = mpsc::channel(EVENTS);
            let answering = async {
                this.answer(&question, &sender).await;
                drop(sender);
            };
            tokio::join!(answering, pass_on(receiver, sink));
        }
    };
    bus.respond_stream((call::QUERY_ASK, QUEUE), limit, drain, on_ask)
        .await?;

    let this = Arc::clone(&answerer);
    let on_list = move |(): ()| {
        let this = Arc::clone(&this);
        async move { Ok::<_, ErrorBody>(this.generators.list().await) }
    };
    bus.respond((call::QUERY_GENERATORS, QUEUE), LISTINGS, drain, on_list)
        .await?;

    let this = Arc::clone(&answerer);
    let on_try = move |id: GeneratorId| {
        let this = Arc::clone(&this);
        async move { Ok::<_, ErrorBody>(this.generators.try_one(&id).await?) }
    };
    bus.respond((call::QUERY_TRY, QUEUE), LISTINGS, drain, on_try)
        .await?;
    Ok(())
}

/// Sends what comes until it ends or cannot be sent; the sender then finds its channel closed.
async fn pass_on(mut events: mpsc::Receiver<AnswerEvent>, sink: EventSink<AnswerEvent>) {
    while let Some(event) = events.recv().await {
        if !sink.send(event).await {
            return;
        }
    }
}
