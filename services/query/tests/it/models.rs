//! What the tests of model servers share.

use std::time::Duration;

use futures::StreamExt as _;
use ibid_tests::harness::wait_for;
use query::{GenerateError, GenerationSettings, Generator, Message, Piece, Prompt, Role, Stop};
use shared::contract::{ErrorBody, TokenUsage};

/// A text of the documents that must never leave in an error.
pub(crate) const SECRET: &str = "the Zürich office was sold for three million in May";

/// For anything on loopback, on a machine that also builds.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

pub(crate) fn prompt(words: usize) -> Prompt {
    let passage = format!("[1] {SECRET}. {}", "word ".repeat(words));
    let message = |role, content: &str| Message {
        role,
        content: content.to_owned(),
    };
    let messages = vec![
        message(Role::System, "Answer from the passages."),
        message(Role::User, "What was asked before?"),
        message(Role::Assistant, "Nothing."),
        message(Role::User, &format!("{passage}\n\nWhat was sold?")),
    ];
    Prompt {
        question: "What was sold?".to_owned(),
        passages: Vec::new(),
        messages,
        tokens: u32::try_from(words * 2 + 100).unwrap(),
        answer_tokens: 256,
        temperature: 0.2,
    }
}

/// Settings whose waits are long enough for a machine that also builds.
pub(crate) fn settings() -> GenerationSettings {
    GenerationSettings {
        first_token_secs: 20,
        token_pause_secs: 20,
        ..GenerationSettings::default()
    }
}

/// An answer that has ended.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) text: String,
    pub(crate) pieces: usize,
    pub(crate) usage: TokenUsage,
    pub(crate) stop: Stop,
    pub(crate) notes: Vec<String>,
}

/// The whole answer of `model` to `prompt`.
pub(crate) async fn hear(
    generator: &dyn Generator,
    model: &str,
    prompt: Prompt,
) -> Result<Heard, (String, GenerateError)> {
    let none = |error| (String::new(), error);
    let mut pieces = generator.generate(model, prompt).await.map_err(none)?;
    let mut text = String::new();
    let mut count = 0;
    while let Some(piece) = pieces.next().await {
        match piece {
            Ok(Piece::Text(more)) => {
                text.push_str(&more);
                count += 1;
            }
            Ok(Piece::Quote { .. }) => panic!("a model quotes nothing"),
            Ok(Piece::End { usage, stop, notes }) => {
                assert!(pieces.next().await.is_none(), "nothing follows the end");
                return Ok(Heard {
                    text,
                    pieces: count,
                    usage,
                    stop,
                    notes,
                });
            }
            Err(error) => {
                assert!(pieces.next().await.is_none(), "nothing follows an error");
                return Err((text, error));
            }
        }
    }
    panic!("the stream ended after {text:?} without an end");
}

/// Message and remedy, as people see them; nothing of the prompt is in them.
pub(crate) fn shown(error: GenerateError) -> String {
    let body = ErrorBody::from(error);
    let shown = format!("{}; {}", body.message, body.remedy);
    assert!(!shown.contains("Zürich office was sold"), "{shown}");
    assert!(shown.chars().count() < 500, "{shown}");
    shown
}

/// Waits until `open` requests are being answered.
pub(crate) async fn open_are(expect: usize, open: impl Fn() -> usize) {
    wait_for("the connections", LIMIT, async || match open() {
        count if count == expect => Ok(()),
        count => Err(format!("{count} are open")),
    })
    .await
    .unwrap();
}
