//! Server-sent events, as of the HTML standard, section 9.2.6: enough of it for one type of
//! event per stream.

use std::time::Duration;

use futures::Stream;
use futures::StreamExt as _;
use shared::contract::AnswerEvent;

use super::{ClientError, silent};

/// More than any answer's event: sources of a hundred passages.
const LONGEST: usize = 16 << 20;

/// The events in `pieces`, each due within `silence`.
pub(super) fn events<B: AsRef<[u8]>>(
    pieces: impl Stream<Item = Result<B, ClientError>> + Unpin,
    silence: Duration,
) -> impl Stream<Item = Result<AnswerEvent, ClientError>> {
    let state = (pieces, Frames::default(), false);
    futures::stream::unfold(state, move |(mut pieces, mut frames, ended)| async move {
        if ended {
            return None;
        }
        loop {
            if let Some(data) = frames.next() {
                let event = serde_json::from_str(&data)
                    .map_err(|error| ClientError::Strange(error.to_string()));
                let ended = event.is_err();
                return Some((event, (pieces, frames, ended)));
            }
            match tokio::time::timeout(silence, pieces.next()).await {
                Ok(Some(Ok(piece))) if frames.fits(piece.as_ref()) => frames.push(piece.as_ref()),
                Ok(Some(Ok(_))) => {
                    let error = ClientError::Strange("an endless event".to_owned());
                    return Some((Err(error), (pieces, frames, true)));
                }
                Ok(Some(Err(error))) => return Some((Err(error), (pieces, frames, true))),
                Ok(None) => return None,
                Err(_elapsed) => return Some((Err(silent()), (pieces, frames, true))),
            }
        }
    })
}

#[derive(Default)]
struct Frames {
    buffer: Vec<u8>,
}

impl Frames {
    fn fits(&self, piece: &[u8]) -> bool {
        self.buffer.len() + piece.len() <= LONGEST
    }

    fn push(&mut self, piece: &[u8]) {
        self.buffer
            .extend(piece.iter().filter(|byte| **byte != b'\r'));
    }

    /// The data of the next whole event; comments and events without data are passed over.
    fn next(&mut self) -> Option<String> {
        loop {
            let end = self.buffer.windows(2).position(|pair| pair == b"\n\n")?;
            let frame: Vec<u8> = self.buffer.drain(..end + 2).collect();
            let frame = String::from_utf8_lossy(&frame);
            let data: Vec<&str> = frame
                .lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .map(|data| data.strip_prefix(' ').unwrap_or(data))
                .collect();
            if !data.is_empty() {
                return Some(data.join("\n"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(text: &str, cut: usize) -> Vec<Result<AnswerEvent, String>> {
        let pieces: Vec<_> = text
            .as_bytes()
            .chunks(cut)
            .map(|piece| Ok(piece.to_vec()))
            .collect();
        events(futures::stream::iter(pieces), Duration::from_secs(5))
            .map(|event| event.map_err(|error| error.to_string()))
            .collect()
            .await
    }

    #[tokio::test]
    async fn events_survive_any_cut() {
        let text = ": hello\n\nevent: token\r\ndata: {\"event\":\"token\",\r\ndata: \"text\":\"ü\"}\r\n\r\n\
                    : ping\n\ndata:{\"event\":\"token\",\"text\":\"b\"}\n\ndata: {\"cut";
        for cut in [1, 2, 7, 1000] {
            let events = read(text, cut).await;
            let texts: Vec<_> = events
                .iter()
                .map(|event| match event {
                    Ok(AnswerEvent::Token { text }) => text.as_str(),
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(texts, ["ü", "b"], "cut at {cut}");
        }
    }

    #[tokio::test]
    async fn an_event_that_is_none_ends_the_stream_with_an_error() {
        let events = read(
            "data: nonsense\n\ndata: {\"event\":\"token\",\"text\":\"b\"}\n\n",
            9,
        )
        .await;
        assert_eq!(events.len(), 1);
        assert!(events[0].is_err());
    }
}
