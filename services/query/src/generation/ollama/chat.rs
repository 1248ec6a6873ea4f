//! `/api/chat`: what is sent, and how the answer is read.

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt as _, stream};
use reqwest::Response;
use shared::contract::TokenUsage;

use super::wire::{ChatLine, ChatMessage, ChatRequest, Options};
use crate::generation::lines::{LineError, lines};
use crate::generation::progress::Heard;
use crate::generation::server::Server;
use crate::generation::words::{Sent, of_error};
use crate::generation::{GenerateError, Prompt, Stop, cut};

/// What a chat template may add to a prompt.
pub(super) const TEMPLATE_TOKENS: u32 = 256;
/// The smallest window that is asked for; Ollama's own default.
const LEAST_WINDOW: u32 = 4_096;
/// Between two questions of one sitting; Ollama's own five minutes are short for reading.
const KEEP_ALIVE: &str = "30m";
/// A line holds one token and some numbers.
const LINE_BYTES: usize = 1 << 20;

/// The `num_ctx` for `tokens`: a power of two, so that prompts of about the same length do not
/// make Ollama load the model anew, and at most what the model was trained for.
pub(super) fn window_for(tokens: u32, trained: Option<u32>) -> u32 {
    let rounded = tokens.max(LEAST_WINDOW).checked_next_power_of_two();
    rounded.unwrap_or(u32::MAX).min(trained.unwrap_or(u32::MAX))
}

/// How a model is asked.
pub(super) struct Asking<'a> {
    pub(super) model: &'a str,
    pub(super) num_ctx: u32,
    pub(super) gpu_layers: i32,
    pub(super) thinks: bool,
}

impl<'a> Asking<'a> {
    /// Only loads the model: no messages.
    pub(super) fn loading(&self) -> ChatRequest<'a> {
        ChatRequest {
            model: self.model,
            messages: Vec::new(),
            stream: false,
            think: None,
            keep_alive: KEEP_ALIVE,
            options: self.options(),
        }
    }

    /// Asks for the answer to `prompt`.
    pub(super) fn question(&self, prompt: &'a Prompt) -> ChatRequest<'a> {
        let messages = prompt.messages.iter();
        ChatRequest {
            model: self.model,
            messages: messages
                .map(|message| ChatMessage {
                    role: message.role.name(),
                    content: &message.content,
                })
                .collect(),
            stream: true,
            think: self.thinks.then_some(false),
            keep_alive: KEEP_ALIVE,
            options: Options {
                num_predict: Some(prompt.answer_tokens),
                temperature: Some(prompt.temperature),
                ..self.options()
            },
        }
    }

    /// What loading depends on; the same for loading and asking, else the model is loaded twice.
    fn options(&self) -> Options {
        Options {
            num_ctx: self.num_ctx,
            num_gpu: (self.gpu_layers >= 0).then_some(self.gpu_layers),
            num_predict: None,
            temperature: None,
        }
    }
}

/// Reads one answer.
pub(super) struct Reading {
    pub(super) server: Server,
    pub(super) sent: Sent,
    pub(super) num_ctx: u32,
    pub(super) least_tokens: u32,
}

impl Reading {
    /// What `response` says.
    pub(super) fn heard(
        self,
        response: Response,
    ) -> BoxStream<'static, Result<Heard, GenerateError>> {
        let lines = lines(response.bytes_stream().boxed(), LINE_BYTES);
        lines
            .flat_map(move |line| {
                let heard = match line {
                    Ok(line) => self.line(&line),
                    Err(LineError::TooLong) => Err(self.server.strange("a line has no end")),
                    Err(LineError::Stream(_cut)) => Err(self.server.broken()),
                };
                stream::iter(match heard {
                    Ok(heard) => heard.into_iter().map(Ok).collect(),
                    Err(error) => vec![Err(error)],
                })
            })
            .boxed()
    }

    fn line(&self, line: &Bytes) -> Result<Vec<Heard>, GenerateError> {
        if line.trim_ascii().is_empty() {
            return Ok(Vec::new());
        }
        let line: ChatLine = serde_json::from_slice(line)
            .map_err(|_broken| self.server.strange("a line of it is no JSON object"))?;
        if let Some(error) = &line.error {
            let words = self.sent.shown(&of_error(error));
            return Err(self.server.said(words));
        }
        if !line.remote_host.is_empty() {
            // The model was replaced after it had been checked.
            return Err(self.server.strange("it comes from another machine"));
        }
        let said = line.message.as_ref();
        let mut heard = vec![match said.and_then(|said| said.content.as_deref()) {
            Some(text) if !text.is_empty() => Heard::Text(text.to_owned()),
            _ => match said.and_then(|said| said.thinking.as_deref()) {
                Some(thought) if !thought.is_empty() => Heard::Thought,
                _ => Heard::Nothing,
            },
        }];
        if line.done {
            heard.push(self.end(&line));
        }
        Ok(heard)
    }

    fn end(&self, line: &ChatLine) -> Heard {
        let mut notes = Vec::new();
        if let Some(read) = line.prompt_eval_count
            && (read >= self.num_ctx || read < self.least_tokens)
        {
            notes.push(cut::note(read));
        }
        let seconds = line.eval_duration.unwrap_or(0) as f64 / 1e9;
        Heard::End {
            usage: TokenUsage {
                prompt_tokens: line.prompt_eval_count,
                answer_tokens: line.eval_count,
                tokens_per_second: line
                    .eval_count
                    .filter(|_tokens| seconds > 0.0)
                    .map(|tokens| f64::from(tokens) / seconds),
            },
            stop: if line.done_reason == "length" {
                Stop::AtLimit
            } else {
                Stop::Finished
            },
            notes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_a_power_of_two_within_the_model() {
        let check = |tokens, trained, expect| {
            assert_eq!(
                window_for(tokens, trained),
                expect,
                "{tokens} of {trained:?}"
            );
        };
        check(10, Some(131_072), 4_096);
        check(4_096, Some(131_072), 4_096);
        check(4_097, Some(131_072), 8_192);
        check(4_097, None, 8_192);
        check(10, Some(2_048), 2_048);
        check(9_000, Some(10_000), 10_000);
        check(9_000, Some(8_192), 8_192);
        check(u32::MAX, None, u32::MAX);
    }
}
