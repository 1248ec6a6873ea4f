//! Answers that are a stream of server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::http::{HeaderName, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt as _};
use serde::Serialize;

/// A comment is sent when nothing else was for so long, so that neither side takes the other for
/// dead.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// An event called `name` with `data` as JSON.
pub(crate) fn event<T: Serialize>(name: &str, data: &T) -> Event {
    // JSON has no line break outside of escapes, so an event is one `data` line.
    let data = serde_json::to_string(data).unwrap_or_default();
    Event::default().event(name).data(data)
}

/// The response that sends `events` as they come.
pub(crate) fn respond(events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let events = events.map(Ok::<_, Infallible>);
    let stream = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    let headers = [
        (header::CACHE_CONTROL, "no-store"),
        // Asks a reverse proxy in between not to collect the events.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, stream).into_response()
}
