//! `GET /api/v1/events`: what happens to the documents, as server-sent events.

use aide::transform::TransformOperation;
use axum::extract::State;
use axum::response::Response;
use futures::StreamExt as _;

use crate::app::App;
use crate::error::ApiError;
use crate::live::LiveEvent;
use crate::openapi::EventStream;
use crate::sse;

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("events")
        .tag("documents")
        .summary("What happens to the documents")
        .description(
            "Events `counts`, `progress`, `unavailable` and `missed`, until Ibid ends. A listener \
             that falls behind misses events and is told how many.",
        )
        .response::<200, EventStream<LiveEvent>>()
}

/// The stream.
pub(crate) async fn events(State(app): State<App>) -> Result<Response, ApiError> {
    let events = app.live.listen()?;
    Ok(sse::respond(
        events.map(|event| sse::event(event.name(), &event)),
    ))
}
