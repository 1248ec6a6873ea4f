//! What a fake model says, and how it goes wrong.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures::stream;
use serde_json::Value;

use super::server::Open;

/// Time for what was sent before to leave, ahead of a cut.
const FLUSH: Duration = Duration::from_millis(20);

/// The text of an answer.
#[derive(Clone)]
pub enum Text {
    /// Always this.
    Fixed(String),
    /// Made from the body of the request.
    Of(Arc<dyn Fn(&Value) -> String + Send + Sync>),
}

impl Text {
    /// Made from the body of the request.
    pub fn of(make: impl Fn(&Value) -> String + Send + Sync + 'static) -> Self {
        Self::Of(Arc::new(make))
    }

    pub(super) fn for_request(&self, body: &Value) -> String {
        match self {
            Self::Fixed(text) => text.clone(),
            Self::Of(make) => make(body),
        }
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fixed(text) => f.debug_tuple("Fixed").field(text).finish(),
            Self::Of(_) => f.write_str("Of(..)"),
        }
    }
}

/// How a stream ends. The numbers count tokens of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// As documented.
    Whole,
    /// With an error object of these words after so many tokens.
    ErrorAfter(usize, String),
    /// With the connection broken after so many tokens.
    CutAfter(usize),
    /// Properly for HTTP, but without the protocol's last object, after so many tokens.
    StopAfter(usize),
    /// Not at all: silence after so many tokens, until the client goes.
    StallAfter(usize),
}

/// What is said in answer to every chat.
#[derive(Debug, Clone)]
pub struct Speech {
    /// The answer.
    pub text: Text,
    /// What a thinking model thinks before it, unless told not to.
    pub thoughts: String,
    /// Before the first token, as for loading and reading the prompt.
    pub first_token: Duration,
    /// Before every further token.
    pub per_token: Duration,
    /// How it ends.
    pub ending: Ending,
}

impl Default for Speech {
    fn default() -> Self {
        Self {
            text: Text::Fixed("Refunds are paid within 30 days [1].".to_owned()),
            thoughts: "Let me look at the passages.".to_owned(),
            first_token: Duration::ZERO,
            per_token: Duration::ZERO,
            ending: Ending::Whole,
        }
    }
}

/// A fake's tokens: words, each with the space before it.
pub fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for c in text.chars() {
        let in_space = tokens
            .last()
            .is_none_or(|last| last.chars().all(char::is_whitespace));
        match tokens.last_mut() {
            Some(last) if in_space || !c.is_whitespace() => last.push(c),
            _ => tokens.push(c.to_string()),
        }
    }
    tokens
}

/// One step of a streamed body.
pub(super) enum Step {
    /// Say nothing for a time.
    Wait(Duration),
    /// Send this.
    Send(String),
    /// Break the connection.
    Cut,
    /// Say nothing more.
    Stall,
}

/// What was said, in the words of a protocol.
pub(super) struct Protocol<'a> {
    /// An answer's token.
    pub(super) token: &'a dyn Fn(&str) -> String,
    /// A thought's token.
    pub(super) thought: &'a dyn Fn(&str) -> String,
    /// An error in the middle.
    pub(super) error: &'a dyn Fn(&str) -> String,
    /// What follows the last token.
    pub(super) end: String,
}

impl Speech {
    /// The steps of an answer of `answer` tokens after `thoughts`, in the words of `protocol`. A
    /// step before the first token is left to the caller.
    pub(super) fn steps(
        &self,
        thoughts: &[String],
        answer: &[String],
        protocol: &Protocol<'_>,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        for thought in thoughts {
            steps.extend([
                Step::Send((protocol.thought)(thought)),
                Step::Wait(self.per_token),
            ]);
        }
        let spoken = match self.ending {
            Ending::Whole => answer.len(),
            Ending::ErrorAfter(n, _)
            | Ending::CutAfter(n)
            | Ending::StopAfter(n)
            | Ending::StallAfter(n) => n,
        };
        for (index, token) in answer.iter().take(spoken).enumerate() {
            if index > 0 {
                steps.push(Step::Wait(self.per_token));
            }
            steps.push(Step::Send((protocol.token)(token)));
        }
        match &self.ending {
            Ending::Whole => steps.push(Step::Send(protocol.end.clone())),
            Ending::ErrorAfter(_, words) => steps.push(Step::Send((protocol.error)(words))),
            Ending::CutAfter(_) => steps.extend([Step::Wait(FLUSH), Step::Cut]),
            Ending::StopAfter(_) => {}
            Ending::StallAfter(_) => steps.push(Step::Stall),
        }
        steps
    }
}

/// A body that takes these steps.
pub(super) fn body(steps: Vec<Step>, open: Open) -> Body {
    let state = (steps.into_iter(), open);
    Body::from_stream(stream::unfold(state, async |(mut steps, open)| {
        loop {
            match steps.next()? {
                Step::Wait(time) if time.is_zero() => {}
                Step::Wait(time) => tokio::time::sleep(time).await,
                Step::Send(text) => {
                    return Some((Ok(Bytes::from(text)), (steps, open)));
                }
                Step::Cut => {
                    let cut = std::io::Error::other("cut as the script says");
                    return Some((Err(cut), (steps, open)));
                }
                Step::Stall => std::future::pending().await,
            }
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_words_with_their_spaces() {
        let check = |text: &str, expect: &[&str]| {
            assert_eq!(tokens(text), expect, "{text:?}");
            assert_eq!(tokens(text).concat(), text);
        };
        check("", &[]);
        check("one", &["one"]);
        check(
            "paid in 30 days [1].",
            &["paid", " in", " 30", " days", " [1]."],
        );
        check("  a\n\nb ", &["  a", "\n\nb", " "]);
    }
}
