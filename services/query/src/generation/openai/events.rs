//! Server-sent events of an answer, none larger than a bound.

use bytes::Bytes;
use eventsource_stream::{Event, EventStreamError, Eventsource as _};
use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _, stream};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;

/// An event holds one token and some numbers.
const EVENT_BYTES: usize = 1 << 20;

/// Why there is no further event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EventError {
    /// The connection broke.
    Broken,
    /// These are no events.
    Strange,
}

/// Whether `response` is a stream of events. A server that does not stream sends JSON.
pub(super) fn are_in(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    !kind.starts_with("application/json")
}

/// The events of `response`.
pub(super) fn of_response(response: Response) -> BoxStream<'static, Result<Event, EventError>> {
    of_bytes(response.bytes_stream(), EVENT_BYTES)
}

fn of_bytes<E: Send + 'static>(
    bytes: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    most: usize,
) -> BoxStream<'static, Result<Event, EventError>> {
    bounded(bytes, most)
        .eventsource()
        .map(|event| {
            event.map_err(|error| match error {
                EventStreamError::Transport(error) => error,
                EventStreamError::Utf8(_) | EventStreamError::Parser(_) => EventError::Strange,
            })
        })
        .boxed()
}

/// `bytes` while no event of theirs is larger than `most`: the reader of events has no bound of
/// its own.
fn bounded<E: Send + 'static>(
    bytes: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    most: usize,
) -> BoxStream<'static, Result<Bytes, EventError>> {
    let state = Some(Bounded {
        bytes: bytes.boxed(),
        most,
        size: 0,
        at_line_end: false,
    });
    stream::unfold(state, async |state| {
        let mut state = state?;
        match state.next().await? {
            Ok(piece) => Some((Ok(piece), Some(state))),
            Err(error) => Some((Err(error), None)),
        }
    })
    .boxed()
}

struct Bounded<E> {
    bytes: BoxStream<'static, Result<Bytes, E>>,
    most: usize,
    /// Bytes since the last empty line.
    size: usize,
    at_line_end: bool,
}

impl<E> Bounded<E> {
    async fn next(&mut self) -> Option<Result<Bytes, EventError>> {
        let Ok(piece) = self.bytes.next().await? else {
            return Some(Err(EventError::Broken));
        };
        for byte in &piece {
            self.size += 1;
            match byte {
                b'\n' if self.at_line_end => self.size = 0,
                b'\n' => self.at_line_end = true,
                b'\r' => {}
                _text => self.at_line_end = false,
            }
        }
        Some(if self.size > self.most {
            Err(EventError::Strange)
        } else {
            Ok(piece)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(pieces: &[&'static str]) -> Vec<Result<String, EventError>> {
        let pieces: Vec<Result<Bytes, ()>> = pieces
            .iter()
            .map(|piece| match *piece {
                "ERROR" => Err(()),
                piece => Ok(Bytes::from_static(piece.as_bytes())),
            })
            .collect();
        let events = of_bytes(stream::iter(pieces), 40);
        events
            .map(|event| event.map(|event| event.data))
            .collect()
            .await
    }

    #[tokio::test]
    async fn events_are_read_and_bounded() {
        let many: Vec<&str> = vec!["data: {\"a\":1}\n\n"; 20];
        assert_eq!(read(&many).await.len(), 20);
        let with_comments = [": ping\r\n\r", "\ndata: a\r\n", "\r\ndata: b\n\n"];
        assert_eq!(
            read(&with_comments).await,
            [Ok("a".to_owned()), Ok("b".to_owned())]
        );
        let endless: Vec<&str> = vec!["data: aaaaaaaaaaaaaa"; 20];
        assert_eq!(read(&endless).await, [Err(EventError::Strange)]);
        let cut = ["data: a\n\n", "ERROR", "data: b\n\n"];
        assert_eq!(
            read(&cut).await,
            [Ok("a".to_owned()), Err(EventError::Broken)]
        );
    }
}
