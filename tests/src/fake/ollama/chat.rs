//! `/api/chat`.

use axum::response::Response;
use serde_json::{Value, json};

use super::super::server::{Open, json as answer, typed};
use super::super::speech::{Protocol, body as stream_of, tokens};
use super::{FakeModel, OllamaScript, missing, named};

/// When a request does not say; Ollama's own default.
const DEFAULT_NUM_CTX: usize = 4_096;
/// Tokens that a chat template puts around each message.
const TEMPLATE_TOKENS: usize = 4;

/// The response, and the model that was loaded for it.
pub(super) async fn respond(
    script: OllamaScript,
    body: &Value,
    open: Open,
) -> (Response, Option<String>) {
    let name = named(body);
    let Some(model) = script.find(name) else {
        return (missing(name), None);
    };
    let think = body.get("think").filter(|think| !think.is_null());
    let wants_thoughts = think.is_none_or(|think| think != &json!(false));
    if think.is_some() && wants_thoughts && !model.can("thinking") {
        let words = format!("{name:?} does not support thinking");
        return (answer(400, &json!({"error": words})), None);
    }
    if !model.can("completion") {
        let words = format!("{name:?} does not support chat");
        return (answer(400, &json!({"error": words})), None);
    }
    let messages = body.get("messages").and_then(Value::as_array);
    let Some(messages) = messages.filter(|messages| !messages.is_empty()) else {
        tokio::time::sleep(script.speech.first_token).await;
        return (loaded(name), Some(model.name.clone()));
    };
    let speech = &script.speech;
    tokio::time::sleep(speech.first_token).await;
    let thoughts = if wants_thoughts && model.can("thinking") {
        tokens(&speech.thoughts)
    } else {
        Vec::new()
    };
    let read = prompt_tokens(model, messages, body);
    let mut spoken = tokens(&speech.text.for_request(body));
    let most = option(body, "num_predict").unwrap_or(usize::MAX);
    let reason = if spoken.len() > most {
        spoken.truncate(most);
        "length"
    } else {
        "stop"
    };
    let response = if body.get("stream").and_then(Value::as_bool) == Some(false) {
        let mut whole = end(
            model,
            &Counts {
                read,
                spoken: spoken.len(),
                reason,
            },
        );
        if let Some(message) = whole.get_mut("message") {
            *message = json!({"role": "assistant", "content": spoken.concat()});
        }
        answer(200, &whole)
    } else {
        let counts = Counts {
            read,
            spoken: spoken.len(),
            reason,
        };
        let protocol = Protocol {
            token: &|text| part(model, &json!({"role": "assistant", "content": text})),
            thought: &|text| {
                let message = json!({"role": "assistant", "content": "", "thinking": text});
                part(model, &message)
            },
            error: &|words| line(&json!({"error": words})),
            end: line(&end(model, &counts)),
        };
        let steps = speech.steps(&thoughts, &spoken, &protocol);
        typed(200, "application/x-ndjson", stream_of(steps, open))
    };
    (response, Some(model.name.clone()))
}

fn loaded(name: &str) -> Response {
    answer(
        200,
        &json!({
            "model": name,
            "created_at": "2025-05-04T17:37:44.706Z",
            "message": {"role": "assistant", "content": ""},
            "done": true,
            "done_reason": "load",
        }),
    )
}

/// Tokens of the prompt after Ollama has cut it to the window.
fn prompt_tokens(model: &FakeModel, messages: &[Value], body: &Value) -> usize {
    let trained = usize::try_from(model.context_length).unwrap_or(usize::MAX);
    let window = option(body, "num_ctx")
        .unwrap_or(DEFAULT_NUM_CTX)
        .min(trained);
    let all: usize = messages
        .iter()
        .map(|message| {
            let content = message.get("content").and_then(Value::as_str);
            tokens(content.unwrap_or_default()).len() + TEMPLATE_TOKENS
        })
        .sum();
    all.min(window)
}

fn option(body: &Value, name: &str) -> Option<usize> {
    let number = body.get("options")?.get(name)?.as_u64()?;
    usize::try_from(number).ok()
}

struct Counts {
    read: usize,
    spoken: usize,
    reason: &'static str,
}

fn part(model: &FakeModel, message: &Value) -> String {
    let mut part = json!({
        "model": model.name,
        "created_at": "2025-05-04T17:37:44.706Z",
        "message": message,
        "done": false,
    });
    add_remote(model, &mut part);
    line(&part)
}

fn end(model: &FakeModel, counts: &Counts) -> Value {
    let mut end = json!({
        "model": model.name,
        "created_at": "2025-05-04T17:37:44.706Z",
        "message": {"role": "assistant", "content": ""},
        "done_reason": counts.reason,
        "done": true,
        "total_duration": 4_883_583_458_u64,
        "load_duration": 1_334_875,
        "prompt_eval_count": counts.read,
        "prompt_eval_duration": 342_546_000,
        "eval_count": counts.spoken,
        // 20 tokens per second.
        "eval_duration": counts.spoken * 50_000_000,
    });
    add_remote(model, &mut end);
    end
}

fn add_remote(model: &FakeModel, part: &mut Value) {
    if let (Some(host), Some(part)) = (&model.remote_host, part.as_object_mut()) {
        part.insert("remote_host".to_owned(), json!(host));
        part.insert("remote_model".to_owned(), json!(model.name));
    }
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}
