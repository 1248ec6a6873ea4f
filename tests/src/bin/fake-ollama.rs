//! A stand-in for Ollama, for trying and timing Ibid by hand:
//! `fake-ollama [PORT] [--delay-ms N] [--answer TEXT]`.
//!
//! It answers with the sentence of the passages that has most words of the question, or with
//! TEXT; the delay is before each token. Without a port it takes a free one; it prints its address and runs until killed.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use ibid_tests::fake::{FakeOllama, Text};
use serde_json::Value;

struct Arguments {
    port: u16,
    delay: Duration,
    answer: Option<String>,
}

fn main() -> Result<()> {
    let arguments = arguments(std::env::args().skip(1))?;
    let ollama = FakeOllama::start_at(arguments.port)?;
    ollama.script(|script| {
        script.speech.first_token = arguments.delay;
        script.speech.per_token = arguments.delay;
        script.speech.text = match arguments.answer {
            Some(text) => Text::Fixed(text),
            None => Text::of(best_sentence),
        };
    });
    #[expect(
        clippy::print_stdout,
        reason = "the address is what the caller waits for"
    )]
    {
        println!("{}", ollama.url());
    }
    loop {
        std::thread::park();
    }
}

fn arguments(given: impl Iterator<Item = String>) -> Result<Arguments> {
    let mut arguments = Arguments {
        port: 0,
        delay: Duration::ZERO,
        answer: None,
    };
    let mut given = given;
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--delay-ms" => {
                let number = given.next().context("--delay-ms needs a number")?;
                arguments.delay = Duration::from_millis(number.parse().context(number)?);
            }
            "--answer" => {
                arguments.answer = Some(given.next().context("--answer needs a text")?);
            }
            port if !port.starts_with('-') => {
                arguments.port = port.parse().with_context(|| format!("no port: {port}"))?;
            }
            other => {
                bail!(
                    "`{other}` is not known; use: fake-ollama [PORT] [--delay-ms N] [--answer TEXT]"
                );
            }
        }
    }
    Ok(arguments)
}

/// The sentence of the passages that has most words of the question, cited.
fn best_sentence(body: &Value) -> String {
    let messages = body.get("messages").and_then(Value::as_array);
    let last = messages.and_then(|messages| messages.last());
    let content = last.and_then(|last| last.get("content")?.as_str());
    let content = content.unwrap_or_default();
    let (passages, question) = content.rsplit_once("Question:").unwrap_or((content, ""));
    let wanted = words(question);
    let shared = |sentence: &str| words(sentence).intersection(&wanted).count();
    let mut best = (0, String::new());
    for passage in passages.split("<passage id=\"").skip(1) {
        let (number, text) = passage.split_once('"').unwrap_or_default();
        // The rest of the tag's line says where the passage stands.
        let lines = text
            .lines()
            .skip(1)
            .take_while(|line| *line != "</passage>");
        for sentence in lines.flat_map(|line| line.split_inclusive(". ")) {
            let score = shared(sentence);
            if score > best.0 {
                let sentence = sentence.trim().trim_end_matches('.');
                best = (score, format!("{sentence} [{number}]."));
            }
        }
    }
    if best.0 == 0 {
        return "The documents do not say.".to_owned();
    }
    best.1
}

/// The words of `text` that say something: four letters and more.
fn words(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= 4)
        .map(str::to_lowercase)
        .collect()
}
