//! `/v1/chat/completions`.

use axum::response::Response;
use serde_json::{Value, json};

use super::super::server::{Open, json as answer, typed};
use super::super::speech::{Protocol, Step, body as stream_of, tokens};
use super::{OpenAiScript, error, missing, named};

pub(super) fn respond(script: &OpenAiScript, body: &Value, open: Open) -> Response {
    let model = named(body);
    if !script.has(model) {
        return missing(model);
    }
    let options = body.get("stream_options");
    if options.is_some() && !script.knows_usage {
        let words = "Unrecognized request argument supplied: stream_options";
        return answer(400, &error(words, "invalid_request_error"));
    }
    let speech = &script.speech;
    let mut spoken = tokens(&speech.text.for_request(body));
    let most = body.get("max_tokens").and_then(Value::as_u64);
    let most = most.and_then(|most| usize::try_from(most).ok());
    let reason = match most {
        Some(most) if spoken.len() > most => {
            spoken.truncate(most);
            "length"
        }
        _all => "stop",
    };
    let usage = usage(body, spoken.len());
    if body.get("stream").and_then(Value::as_bool) != Some(true) {
        return answer(
            200,
            &json!({
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1_746_400_000,
                "model": model,
                "choices": [{
                    "index": 0,
                    "message": {"role": "assistant", "content": spoken.concat()},
                    "finish_reason": reason,
                }],
                "usage": usage,
            }),
        );
    }
    let chunk = |delta: &Value, reason: Option<&str>| {
        event(&json!({
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_746_400_000,
            "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }))
    };
    let mut end = chunk(&json!({}), Some(reason));
    if options.and_then(|options| options.get("include_usage")) == Some(&json!(true)) {
        end.push_str(&event(&json!({
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_746_400_000,
            "model": model,
            "choices": [],
            "usage": usage,
        })));
    }
    if script.says_done {
        end.push_str("data: [DONE]\n\n");
    }
    let protocol = Protocol {
        token: &|text| chunk(&json!({"content": text}), None),
        thought: &|text| chunk(&json!({"content": null, "reasoning_content": text}), None),
        error: &|words| event(&error(words, "server_error")),
        end,
    };
    // The role comes at once and the first token later, as vLLM has it.
    let role = json!({"role": "assistant", "content": ""});
    let mut steps = vec![Step::Send(chunk(&role, None))];
    steps.extend(script.prelude.iter().cloned().map(Step::Send));
    steps.push(Step::Wait(speech.first_token));
    let thoughts = tokens(&speech.thoughts);
    steps.extend(speech.steps(&thoughts, &spoken, &protocol));
    typed(200, "text/event-stream", stream_of(steps, open))
}

fn usage(body: &Value, spoken: usize) -> Value {
    let messages = body.get("messages").and_then(Value::as_array);
    let read: usize = messages
        .into_iter()
        .flatten()
        .filter_map(|message| message.get("content")?.as_str())
        .map(|content| tokens(content).len() + 4)
        .sum();
    json!({
        "prompt_tokens": read,
        "completion_tokens": spoken,
        "total_tokens": read + spoken,
    })
}

fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}
