//! OpenAI's messages, as far as they are read.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::generation::Prompt;

/// Where the servers say how many tokens the window has; the one that is in force comes before
/// the one of the model's training. vLLM: `max_model_len`; llama.cpp: `meta`; others:
/// `context_length`.
const WINDOWS: [&str; 6] = [
    "/meta/n_ctx",
    "/max_model_len",
    "/context_length",
    "/max_context_length",
    "/context_window",
    "/meta/n_ctx_train",
];

/// `GET /models`: `{"data": […]}`, or the list alone.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Models {
    List(Vec<Value>),
    Object {
        #[serde(default)]
        data: Option<Vec<Value>>,
    },
}

impl Models {
    pub(super) fn models(self) -> Vec<Model> {
        let (Self::List(entries)
        | Self::Object {
            data: Some(entries),
        }) = self
        else {
            return Vec::new();
        };
        let entries = entries.into_iter();
        entries
            .filter_map(|entry| {
                let id = entry.get("id")?.as_str()?.to_owned();
                Some(Model { id, entry })
            })
            .collect()
    }
}

/// A model in the list.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) id: String,
    entry: Value,
}

impl Model {
    /// Whether it is an embedding model; only the name tells.
    pub(super) fn makes_vectors(&self) -> bool {
        self.id.to_ascii_lowercase().contains("embed")
    }

    /// Tokens of its window, where the server says so.
    pub(super) fn window(&self) -> Option<u32> {
        let mut windows = WINDOWS
            .into_iter()
            .filter_map(|at| u32::try_from(self.entry.pointer(at)?.as_u64()?).ok());
        windows.find(|tokens| *tokens > 0)
    }
}

/// `POST /chat/completions`.
#[derive(Debug, Serialize)]
pub(super) struct ChatRequest<'a> {
    model: &'a str,
    messages: Vec<ChatMessage<'a>>,
    stream: bool,
    max_tokens: u32,
    temperature: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream_options: Option<StreamOptions>,
}

#[derive(Debug, Serialize)]
struct ChatMessage<'a> {
    role: &'static str,
    content: &'a str,
}

/// Asks for the numbers at the end.
#[derive(Debug, Serialize)]
pub(super) struct StreamOptions {
    include_usage: bool,
}

impl<'a> ChatRequest<'a> {
    /// Asks for the answer to `prompt`.
    pub(super) fn asking(model: &'a str, prompt: &'a Prompt) -> Self {
        let messages = prompt.messages.iter();
        Self {
            model,
            messages: messages
                .map(|message| ChatMessage {
                    role: message.role.name(),
                    content: &message.content,
                })
                .collect(),
            stream: true,
            max_tokens: prompt.answer_tokens,
            temperature: prompt.temperature,
            stream_options: Some(StreamOptions {
                include_usage: true,
            }),
        }
    }

    /// Makes the server load the model.
    pub(super) fn warming(model: &'a str) -> Self {
        Self {
            model,
            messages: vec![ChatMessage {
                role: "user",
                content: "Hello",
            }],
            stream: false,
            max_tokens: 1,
            temperature: 0.0,
            stream_options: None,
        }
    }
}

/// One event of the answer, or all of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    pub(super) choices: Option<Vec<Choice>>,
    pub(super) usage: Option<Usage>,
    pub(super) error: Option<Value>,
}

/// The one answer that is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    delta: Option<Delta>,
    message: Option<Delta>,
    pub(super) finish_reason: Option<String>,
}

impl Choice {
    /// What is new in it. Foundry Local sends both fields, with the same in them.
    pub(super) fn said(&self) -> Option<&Delta> {
        self.delta.as_ref().or(self.message.as_ref())
    }
}

/// What the model says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    pub(super) content: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
}

impl Delta {
    pub(super) fn has_thought(&self) -> bool {
        let thoughts = [&self.reasoning_content, &self.reasoning];
        thoughts
            .into_iter()
            .flatten()
            .any(|thought| !thought.is_empty())
    }
}

/// The numbers at the end.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    pub(super) prompt_tokens: Option<u32>,
    pub(super) completion_tokens: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_in_force_comes_first() {
        let check = |entry: &str, expect: Option<u32>| {
            let list = format!(r#"{{"object":"list","data":[{entry}]}}"#);
            let models = serde_json::from_str::<Models>(&list).unwrap().models();
            assert_eq!(models[0].window(), expect, "{entry}");
        };
        check(r#"{"id":"a","max_model_len":32768}"#, Some(32_768));
        check(r#"{"id":"a","context_length":4096}"#, Some(4_096));
        check(r#"{"id":"a","meta":{"n_ctx_train":131072}}"#, Some(131_072));
        check(
            r#"{"id":"a","meta":{"n_ctx_train":131072,"n_ctx":8192}}"#,
            Some(8_192),
        );
        check(r#"{"id":"a","meta":null,"context_length":0}"#, None);
        check(r#"{"id":"a"}"#, None);
    }

    #[test]
    fn lists_of_any_shape_are_read() {
        let check = |list: &str, expect: &[&str]| {
            let models = serde_json::from_str::<Models>(list).unwrap().models();
            let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
            assert_eq!(ids, expect, "{list}");
        };
        check(r#"{"data":[{"id":"a"},{"object":"model"},7]}"#, &["a"]);
        check(r#"{"data":null}"#, &[]);
        check(r#"[{"id":"a"},{"id":"b"}]"#, &["a", "b"]);
        check("{}", &[]);
    }
}
