//! `POST /api/v1/ask`: an answer, streamed as server-sent events: `sources` once, `token`s, then
//! `done` or `error`, exactly once.

use std::pin::Pin;
use std::time::Duration;

use aide::transform::TransformOperation;
use axum::extract::State;
use axum::response::Response;
use futures::{Stream, StreamExt as _, stream};
use shared::contract::subject::call;
use shared::contract::{AnswerEvent, ErrorBody, ErrorCode, Question};
use shared::service::Drain;

use crate::app::App;
use crate::asked::AskedQuestion;
use crate::error::ApiError;
use crate::extract::Body;
use crate::openapi::EventStream;
use crate::sse;

type Events = Pin<Box<dyn Stream<Item = Result<AnswerEvent, ErrorBody>> + Send>>;

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("ask")
        .tag("questions")
        .summary("An answer, streamed")
        .description(
            "Events `sources` once, `token`s, then `done` or `error`, exactly once. What fails before the first event is an ordinary error.",
        )
        .response::<200, EventStream<AnswerEvent>>()
}

/// The stream. What fails before its first event is an ordinary error with its status.
pub(crate) async fn ask(
    State(app): State<App>,
    Body(asked): Body<AskedQuestion>,
) -> Result<Response, ApiError> {
    let question = Question::from(asked);
    let pause = app.deadlines.answer_pause;
    let events = app
        .bus
        .call_stream(call::QUERY_ASK, &question, pause)
        .await?;
    let mut events: Events = Box::pin(events);
    let first = match events.next().await {
        Some(Ok(AnswerEvent::Error { error })) => return Err(error.into()),
        Some(Err(error)) => return Err(silent(error, pause).into()),
        Some(Ok(event)) => event,
        None => return Err(broken_off().into()),
    };
    let rest = stream::iter([Ok(first)]).chain(events);
    let rest = rest.map(move |event| event.map_err(|error| silent(error, pause)));
    let events = to_the_end(Box::pin(rest), app.drain.clone());
    Ok(sse::respond(
        events.map(|event| sse::event(name(&event), &event)),
    ))
}

/// `events` with exactly one end: what breaks off, fails, or meets the drain ends with an error.
fn to_the_end(events: Events, drain: Drain) -> impl Stream<Item = AnswerEvent> + Send {
    stream::unfold(Some(events), move |events| {
        let drain = drain.clone();
        async move {
            let mut events = events?;
            let next = tokio::select! {
                biased;
                next = events.next() => next,
                () = drain.begun() => Some(Err(going_down())),
            };
            let event = match next {
                Some(Ok(event)) => event,
                Some(Err(error)) => AnswerEvent::Error { error },
                None => AnswerEvent::Error {
                    error: broken_off(),
                },
            };
            let is_last = matches!(event, AnswerEvent::Done { .. } | AnswerEvent::Error { .. });
            Some((event, (!is_last).then_some(events)))
        }
    })
}

fn name(event: &AnswerEvent) -> &'static str {
    match event {
        AnswerEvent::Sources { .. } => "sources",
        AnswerEvent::Token { .. } => "token",
        AnswerEvent::Done { .. } => "done",
        AnswerEvent::Error { .. } => "error",
    }
}

/// The bus says on which subject nothing came; a person wants to know what it means.
fn silent(error: ErrorBody, pause: Duration) -> ErrorBody {
    if error.code != ErrorCode::Deadline {
        return error;
    }
    ErrorBody::new(
        ErrorCode::Deadline,
        format!(
            "the answer broke off: nothing came for {} s",
            pause.as_secs()
        ),
        "ask again; `ibid status` shows whether the service `query` runs",
    )
}

fn broken_off() -> ErrorBody {
    ErrorBody::new(ErrorCode::Unavailable, "the answer broke off", "ask again")
}

fn going_down() -> ErrorBody {
    ErrorBody::new(
        ErrorCode::Unavailable,
        "Ibid is ending",
        "start `ibid up`, then ask again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    type Item = Result<AnswerEvent, ErrorBody>;

    #[expect(
        clippy::unnecessary_wraps,
        reason = "the items of a stream that may fail"
    )]
    fn token(text: &str) -> Item {
        Ok(AnswerEvent::Token {
            text: text.to_owned(),
        })
    }

    #[expect(
        clippy::unnecessary_wraps,
        reason = "the items of a stream that may fail"
    )]
    fn done() -> Item {
        Ok(AnswerEvent::Done {
            generator: "extractive".parse().unwrap(),
            timings: shared::contract::Timings::default(),
            usage: shared::contract::TokenUsage::default(),
            left_out: shared::contract::LeftOut::default(),
            answered: true,
            citations: Vec::new(),
            notes: Vec::new(),
        })
    }

    #[track_caller]
    fn check(events: Vec<Item>, expect: &[&str]) {
        let stream = to_the_end(Box::pin(stream::iter(events)), Drain::new());
        let got: Vec<String> = futures::executor::block_on(stream.collect::<Vec<_>>())
            .iter()
            .map(|event| {
                let json = serde_json::to_value(event).unwrap();
                json["event"].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(got, expect);
    }

    #[test]
    fn a_stream_ends_exactly_once() {
        check(
            vec![token("a"), token("b"), done()],
            &["token", "token", "done"],
        );
        check(vec![token("a"), done(), token("late")], &["token", "done"]);
        check(vec![token("a")], &["token", "error"]);
        check(
            vec![token("a"), Err(broken_off()), token("b")],
            &["token", "error"],
        );
        check(vec![], &["error"]);
    }

    #[tokio::test]
    async fn a_drain_ends_a_stream_that_waits() {
        let drain = Drain::new();
        let waiting = stream::iter([token("a")]).chain(stream::pending());
        let events = to_the_end(Box::pin(waiting), drain.clone());
        let mut events = Box::pin(events);
        assert!(matches!(
            events.next().await,
            Some(AnswerEvent::Token { .. })
        ));
        drain.begin();
        let Some(AnswerEvent::Error { error }) = events.next().await else {
            panic!("no error")
        };
        assert_eq!(error.code, ErrorCode::Unavailable);
        assert!(events.next().await.is_none());
    }
}
