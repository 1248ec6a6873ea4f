//! Deadlines that count from the last sign of progress, and the end of every answer.

use std::time::Duration;

use futures::stream::BoxStream;
use futures::{StreamExt as _, stream};
use shared::contract::TokenUsage;
use tokio::time::Instant;

use super::{GenerateError, GenerationSettings, Piece, Pieces, Stop};

/// No token of any vocabulary in use is longer, so an answer beyond its tokens times this comes
/// from a server that knows no limit.
const MOST_TOKEN_BYTES: usize = 128;

/// What a server's stream says, one protocol or the other.
#[derive(Debug)]
pub(super) enum Heard {
    /// Text of the answer.
    Text(String),
    /// A thought, which is not shown but is progress.
    Thought,
    /// Neither text nor progress.
    Nothing,
    /// The answer is whole.
    End {
        usage: TokenUsage,
        stop: Stop,
        notes: Vec<String>,
    },
}

/// How long is waited for one answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    server: &'static str,
    first_token: Duration,
    token_pause: Duration,
    asked: Instant,
}

impl Patience {
    /// Counts from now.
    pub(super) fn new(server: &'static str, settings: &GenerationSettings) -> Self {
        Self {
            server,
            first_token: settings.first_token(),
            token_pause: settings.token_pause(),
            asked: Instant::now(),
        }
    }

    /// Waits for what comes before the first token.
    ///
    /// # Errors
    /// Its own, or that it took too long.
    pub(super) async fn first<T>(
        &self,
        work: impl Future<Output = Result<T, GenerateError>>,
    ) -> Result<T, GenerateError> {
        match tokio::time::timeout_at(self.asked + self.first_token, work).await {
            Ok(result) => result,
            Err(_late) => Err(self.no_first_token()),
        }
    }

    fn no_first_token(&self) -> GenerateError {
        GenerateError::Silent {
            server: self.server,
            pause: self.first_token,
            setting: "generation.first_token_secs",
        }
    }

    fn no_next_token(&self) -> GenerateError {
        GenerateError::Silent {
            server: self.server,
            pause: self.token_pause,
            setting: "generation.token_pause_secs",
        }
    }
}

struct Answer {
    heard: BoxStream<'static, Result<Heard, GenerateError>>,
    patience: Patience,
    most_bytes: usize,
    bytes: usize,
    /// When its first and its latest text came.
    texts: Option<(Instant, Instant)>,
    thought: bool,
}

/// The pieces of an answer of at most `answer_tokens`; after its end, whatever it is, `heard` is
/// dropped, and so is the connection.
pub(super) fn pieces(
    heard: BoxStream<'static, Result<Heard, GenerateError>>,
    patience: Patience,
    answer_tokens: u32,
) -> Pieces {
    let tokens = usize::try_from(answer_tokens).unwrap_or(usize::MAX);
    let answer = Answer {
        heard,
        patience,
        most_bytes: tokens.saturating_mul(MOST_TOKEN_BYTES),
        bytes: 0,
        texts: None,
        thought: false,
    };
    stream::unfold(Some(answer), async |answer| {
        let mut answer = answer?;
        let piece = answer.next().await;
        let over = !matches!(piece, Ok(Piece::Text(_)));
        Some((piece, (!over).then_some(answer)))
    })
    .boxed()
}

impl Answer {
    async fn next(&mut self) -> Result<Piece, GenerateError> {
        loop {
            match self.hear().await? {
                Heard::Nothing => {}
                Heard::Thought => self.thought = true,
                Heard::Text(text) if text.is_empty() => {}
                Heard::Text(text) => {
                    self.bytes = self.bytes.saturating_add(text.len());
                    if self.bytes > self.most_bytes {
                        return Ok(Piece::End {
                            usage: TokenUsage::default(),
                            stop: Stop::AtLimit,
                            notes: Vec::new(),
                        });
                    }
                    let now = Instant::now();
                    self.texts = Some((self.texts.map_or(now, |(first, _)| first), now));
                    return Ok(Piece::Text(text));
                }
                Heard::End { usage, stop, notes } => return Ok(self.end(usage, stop, notes)),
            }
        }
    }

    /// The next of the stream. Until there is text or a thought, all waits together may take as
    /// long as the first token; some servers open the answer long before they have read the prompt.
    async fn hear(&mut self) -> Result<Heard, GenerateError> {
        let begun = self.texts.is_some() || self.thought;
        let until = if begun {
            Instant::now() + self.patience.token_pause
        } else {
            self.patience.asked + self.patience.first_token
        };
        match tokio::time::timeout_at(until, self.heard.next()).await {
            Ok(Some(heard)) => heard,
            Ok(None) => Err(GenerateError::BrokeOff {
                server: self.patience.server,
            }),
            Err(_late) if begun => Err(self.patience.no_next_token()),
            Err(_late) => Err(self.patience.no_first_token()),
        }
    }

    fn end(&self, mut usage: TokenUsage, stop: Stop, mut notes: Vec<String>) -> Piece {
        if stop == Stop::AtLimit && self.thought && self.texts.is_none() {
            notes.push(
                "the model used all its tokens for thinking; raise `generation.answer_tokens`, \
                 or choose a model that does not think"
                    .to_owned(),
            );
        }
        if usage.tokens_per_second.is_none()
            && let (Some((first, last)), Some(tokens)) = (self.texts, usage.answer_tokens)
        {
            let time = last.duration_since(first).as_secs_f64();
            // The first token's time is not in it.
            let tokens = f64::from(tokens.saturating_sub(1));
            usage.tokens_per_second = (time > 0.0 && tokens > 0.0).then_some(tokens / time);
        }
        Piece::End { usage, stop, notes }
    }
}

#[cfg(test)]
mod tests;
