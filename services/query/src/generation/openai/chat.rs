//! `/chat/completions`: how the answer is read.

use std::collections::VecDeque;
use std::time::Duration;

use eventsource_stream::Event;
use futures::stream::BoxStream;
use futures::{StreamExt as _, stream};
use reqwest::Response;
use shared::contract::TokenUsage;

use super::events::{self, EventError};
use super::wire::{Choice, Chunk, Usage};
use crate::generation::progress::Heard;
use crate::generation::server::{Reply, Server};
use crate::generation::words::{Sent, of_error};
use crate::generation::{GenerateError, Stop, cut};

/// How long the numbers may come after the last token; not every server sends them, or says that
/// it is done.
const NUMBERS_WITHIN: Duration = Duration::from_secs(2);

type HeardStream = BoxStream<'static, Result<Heard, GenerateError>>;

/// Reads one answer.
pub(super) struct Reading {
    pub(super) server: Server,
    pub(super) sent: Sent,
    pub(super) least_tokens: u32,
}

/// A stream half read.
struct Half {
    reading: Reading,
    events: BoxStream<'static, Result<Event, EventError>>,
    heard: VecDeque<Heard>,
    stop: Option<Stop>,
    usage: Usage,
    over: bool,
}

impl Reading {
    /// What the events of `response` say.
    pub(super) fn stream(self, response: Response) -> HeardStream {
        let half = Half {
            reading: self,
            events: events::of_response(response),
            heard: VecDeque::new(),
            stop: None,
            usage: Usage::default(),
            over: false,
        };
        stream::unfold(half, async |mut half| {
            let heard = half.next().await?;
            half.over |= heard.is_err();
            Some((heard, half))
        })
        .boxed()
    }

    /// What an answer says that came at once.
    pub(super) fn whole(&self, reply: &Reply) -> HeardStream {
        let heard = self.server.read::<Chunk>(reply).and_then(|chunk| {
            let mut heard = self.words(&chunk)?;
            let choice = chunk.choices.iter().flatten().next();
            let stop = choice.and_then(stop).unwrap_or_default();
            heard.push(self.end(stop, chunk.usage.unwrap_or_default()));
            Ok(heard)
        });
        let heard = match heard {
            Ok(heard) => heard.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        };
        stream::iter(heard).boxed()
    }

    fn words(&self, chunk: &Chunk) -> Result<Vec<Heard>, GenerateError> {
        if let Some(error) = &chunk.error {
            return Err(self.server.said(self.sent.shown(&of_error(error))));
        }
        let choice = chunk.choices.iter().flatten().next();
        let Some(said) = choice.and_then(Choice::said) else {
            return Ok(vec![Heard::Nothing]);
        };
        Ok(vec![match &said.content {
            Some(text) if !text.is_empty() => Heard::Text(text.clone()),
            _ if said.has_thought() => Heard::Thought,
            _ => Heard::Nothing,
        }])
    }

    fn end(&self, stop: Stop, usage: Usage) -> Heard {
        let read = usage.prompt_tokens;
        let short = read.filter(|read| *read > 0 && *read < self.least_tokens);
        Heard::End {
            usage: TokenUsage {
                prompt_tokens: read,
                answer_tokens: usage.completion_tokens,
                tokens_per_second: None,
            },
            stop,
            notes: short.map(cut::note).into_iter().collect(),
        }
    }
}

fn stop(choice: &Choice) -> Option<Stop> {
    match choice.finish_reason.as_deref() {
        None | Some("") => None,
        Some("length") => Some(Stop::AtLimit),
        Some(_other) => Some(Stop::Finished),
    }
}

impl Half {
    async fn next(&mut self) -> Option<Result<Heard, GenerateError>> {
        loop {
            if let Some(heard) = self.heard.pop_front() {
                return Some(Ok(heard));
            }
            if self.over {
                return None;
            }
            let event = match self.stop {
                None => self.events.next().await,
                Some(_) => tokio::time::timeout(NUMBERS_WITHIN, self.events.next())
                    .await
                    .unwrap_or_default(),
            };
            let said = match event {
                Some(Ok(event)) => self.event(&event),
                // After the last token only numbers can be missing.
                None | Some(Err(_)) if self.stop.is_some() => {
                    self.done();
                    Ok(())
                }
                None | Some(Err(EventError::Broken)) => Err(self.reading.server.broken()),
                Some(Err(EventError::Strange)) => {
                    Err(self.reading.server.strange("it is no stream of events"))
                }
            };
            if let Err(error) = said {
                return Some(Err(error));
            }
        }
    }

    fn event(&mut self, event: &Event) -> Result<(), GenerateError> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.done();
            return Ok(());
        }
        let server = &self.reading.server;
        let chunk: Chunk = match serde_json::from_str(data) {
            Ok(chunk) => chunk,
            Err(_words) if event.event == "error" => {
                return Err(server.said(self.reading.sent.shown(data)));
            }
            Err(_broken) => return Err(server.strange("an event of it is no JSON object")),
        };
        self.heard.extend(self.reading.words(&chunk)?);
        let choice = chunk.choices.iter().flatten().next();
        self.stop = choice.and_then(stop).or(self.stop);
        if let Some(usage) = chunk.usage {
            self.usage = usage;
        }
        Ok(())
    }

    fn done(&mut self) {
        let stop = self.stop.unwrap_or_default();
        self.heard.push_back(self.reading.end(stop, self.usage));
        self.over = true;
    }
}
