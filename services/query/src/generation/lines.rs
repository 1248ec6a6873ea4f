//! Lines of a byte stream, none longer than a bound.

use bytes::{Buf as _, Bytes, BytesMut};
use futures::{Stream, StreamExt as _, stream};

/// Why there is no further line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineError<E> {
    /// A line is longer than the bound.
    TooLong,
    /// The bytes ended with an error.
    Stream(E),
}

struct Lines<S> {
    bytes: S,
    buffer: BytesMut,
    /// Bytes of the buffer in which no line ends.
    searched: usize,
    most: usize,
    over: bool,
}

/// The lines of `bytes` without their ends; a last one without an end counts. After an error
/// nothing follows.
pub(super) fn lines<S, E>(bytes: S, most: usize) -> impl Stream<Item = Result<Bytes, LineError<E>>>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
{
    let state = Lines {
        bytes,
        buffer: BytesMut::new(),
        searched: 0,
        most,
        over: false,
    };
    stream::unfold(state, async |mut state| {
        let item = state.next().await?;
        state.over |= item.is_err();
        Some((item, state))
    })
}

impl<S, E> Lines<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
{
    async fn next(&mut self) -> Option<Result<Bytes, LineError<E>>> {
        while !self.over {
            match self.buffered() {
                Some(line) if line.len() > self.most => return Some(Err(LineError::TooLong)),
                Some(line) => return Some(Ok(line)),
                None => {}
            }
            if self.buffer.len() > self.most {
                return Some(Err(LineError::TooLong));
            }
            match self.bytes.next().await {
                Some(Ok(more)) => self.buffer.extend_from_slice(&more),
                Some(Err(error)) => return Some(Err(LineError::Stream(error))),
                None => {
                    self.over = true;
                    let rest = self.buffer.split().freeze();
                    return (!rest.is_empty()).then_some(Ok(rest));
                }
            }
        }
        None
    }

    fn buffered(&mut self) -> Option<Bytes> {
        let mut unsearched = self.buffer.iter().skip(self.searched);
        let Some(further) = unsearched.position(|byte| *byte == b'\n') else {
            self.searched = self.buffer.len();
            return None;
        };
        let end = self.searched + further;
        let mut line = self.buffer.split_to(end);
        self.buffer.advance(1);
        self.searched = 0;
        if line.last() == Some(&b'\r') {
            line.truncate(end - 1);
        }
        Some(line.freeze())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(pieces: &[&str], most: usize) -> (Vec<String>, Option<LineError<&'static str>>) {
        let pieces: Vec<_> = pieces
            .iter()
            .map(|piece| match *piece {
                "ERROR" => Err("broken"),
                piece => Ok(Bytes::copy_from_slice(piece.as_bytes())),
            })
            .collect();
        let (mut read, mut error) = (Vec::new(), None);
        let mut lines = std::pin::pin!(lines(stream::iter(pieces), most));
        while let Some(line) = lines.next().await {
            assert_eq!(error, None, "nothing follows an error");
            match line {
                Ok(line) => read.push(String::from_utf8(line.to_vec()).unwrap()),
                Err(failed) => error = Some(failed),
            }
        }
        (read, error)
    }

    #[tokio::test]
    async fn lines_do_not_depend_on_how_bytes_arrive() {
        let text = "{\"a\":1}\r\n\nä{\"b\":2}\nlast";
        let expect = ["{\"a\":1}", "", "ä{\"b\":2}", "last"];
        for size in 1..=text.len() {
            let bytes: Vec<_> = text
                .as_bytes()
                .chunks(size)
                .map(|part| Ok::<_, ()>(Bytes::copy_from_slice(part)))
                .collect();
            let lines: Vec<_> = lines(stream::iter(bytes), 100).collect().await;
            let lines: Vec<_> = lines.into_iter().map(Result::unwrap).collect();
            assert_eq!(lines, expect, "in pieces of {size}");
        }
    }

    #[tokio::test]
    async fn a_line_over_the_bound_is_an_error() {
        let (lines, error) = read(&["short\n", "12345", "67890", "1\n"], 10).await;
        assert_eq!((lines.len(), error), (1, Some(LineError::TooLong)));
        let (lines, error) = read(&["12345", "67890", "\n"], 10).await;
        assert_eq!((lines.len(), error), (1, None));
    }

    #[tokio::test]
    async fn an_error_ends_the_lines() {
        let (lines, error) = read(&["whole\nhalf", "ERROR", "\nmore\n"], 100).await;
        assert_eq!((lines.len(), error), (1, Some(LineError::Stream("broken"))));
    }
}
