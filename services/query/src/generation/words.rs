//! A server's own words, fit to be shown: short, on one line, and without the prompt.

use serde_json::Value;

use super::Prompt;

/// Characters of a server's words that are shown.
const SHOWN: usize = 200;
/// A piece of the prompt as long as this is taken for an echo of it. Error texts of model servers
/// quote what they were sent; a shorter piece may be there by chance.
const ECHO: usize = 24;

/// What was sent, to be recognised in what comes back.
#[derive(Debug, Default)]
pub(super) struct Sent(String);

impl Sent {
    pub(super) fn new(prompt: &Prompt) -> Self {
        let texts = prompt
            .messages
            .iter()
            .map(|message| one_line(&message.content));
        Self(texts.collect::<Vec<_>>().join("\n"))
    }

    /// `words` as they may be shown.
    pub(super) fn shown(&self, words: &str) -> String {
        let words = one_line(words);
        let mut shown: String = words.chars().take(SHOWN).collect();
        if self.is_echoed(&shown) {
            return "(its words repeat the prompt and are not shown)".to_owned();
        }
        if shown.len() < words.len() {
            shown.push('…');
        }
        shown
    }

    fn is_echoed(&self, words: &str) -> bool {
        let starts: Vec<usize> = words.char_indices().map(|(at, _)| at).collect();
        starts.iter().enumerate().any(|(index, start)| {
            let end = match starts.get(index + ECHO) {
                Some(end) => *end,
                None if starts.len() == index + ECHO => words.len(),
                None => return false,
            };
            let piece = words.get(*start..end);
            piece.is_some_and(|piece| self.0.contains(piece))
        })
    }
}

/// What a body that reports an error says: `error` as Ollama has it, `error.message` as most
/// others, `message` or `detail` as vLLM had them, or all of it.
pub(super) fn of_body(body: &[u8]) -> String {
    match serde_json::from_slice::<Value>(body) {
        Ok(value) => of_error(&value),
        Err(_not_json) => String::from_utf8_lossy(body).into_owned(),
    }
}

/// The words in an error object.
pub(super) fn of_error(value: &Value) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    let inner = ["error", "message", "detail"]
        .into_iter()
        .filter_map(|key| value.get(key))
        .find(|inner| !inner.is_null());
    match inner {
        Some(inner) => of_error(inner),
        None => value.to_string(),
    }
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::{Message, Role};
    use super::*;

    fn sent(content: &str) -> Sent {
        Sent::new(&Prompt {
            question: String::new(),
            passages: Vec::new(),
            messages: vec![Message {
                role: Role::User,
                content: content.to_owned(),
            }],
            tokens: 1,
            answer_tokens: 1,
            temperature: 0.0,
        })
    }

    #[test]
    fn words_are_short_and_on_one_line() {
        let sent = sent("the Zürich office was sold for 3 million");
        assert_eq!(sent.shown("out of\n\tmemory\u{1b}[0m"), "out of memory [0m");
        let long = sent.shown(&"ä ".repeat(500));
        assert_eq!(long.chars().count(), SHOWN + 1);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn an_echo_of_the_prompt_is_not_shown() {
        let sent = sent("Passage [1]\n\nthe Zürich office   was sold for 3 million in May");
        let check = |words: &str, hidden: bool| {
            let shown = sent.shown(words);
            assert_eq!(shown.contains("not shown"), hidden, "{words}: {shown}");
        };
        check(
            "bad input: 'the Zürich office was sold for 3 million'",
            true,
        );
        check("bad input: '… Zürich office was sold for'", true);
        check("the Zürich office was so", true);
        check("the Zürich office was s", false);
        check("model requires more memory", false);
        check("", false);
    }

    #[test]
    fn each_kind_of_error_body_is_understood() {
        let check = |body: &str, words: &str| assert_eq!(of_body(body.as_bytes()), words);
        check(r#"{"error":"model 'x' not found"}"#, "model 'x' not found");
        check(r#"{"error":{"message":"no","type":"y"}}"#, "no");
        check(r#"{"object":"error","message":"too long"}"#, "too long");
        check(r#"{"detail":"Not Found"}"#, "Not Found");
        check(r#"{"error":null,"message":"m"}"#, "m");
        check("<h1>502</h1>", "<h1>502</h1>");
        check("[1]", "[1]");
    }
}
