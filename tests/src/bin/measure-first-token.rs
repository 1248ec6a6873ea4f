//! How long a person waits for the first word: `cargo run --release -p ibid-tests --bin
//! measure-first-token`. Ten thousand chunks, an Ollama that takes 50 ms for its first token, 200
//! distinct questions one after the other, over HTTP. Prints the time that is ours, which is all
//! but those 50 ms.

#![expect(clippy::print_stdout, reason = "it prints what it has measured")]

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use ibid_tests::corpus::{self, Recipe};
use ibid_tests::fake::{FakeOllama, Text};
use ibid_tests::harness::Harness;
use shared::contract::{AnswerEvent, Question, Timings};

const CHUNKS: u64 = 10_000;
const QUESTIONS: usize = 200;
const DELAY: Duration = Duration::from_millis(50);
const LIMIT: Duration = Duration::from_mins(30);

#[tokio::main]
async fn main() -> Result<()> {
    let ollama = FakeOllama::start()?;
    ollama.script(|script| {
        script.speech.first_token = DELAY;
        script.speech.text = Text::Fixed("It is so [1].".to_owned());
    });
    let harness = Harness::start_with_ollama(&[], &ollama.url()).await?;
    let client = harness.client();
    let documents = corpus::documents(Recipe {
        seed: 7,
        documents: 950,
        words: (1_300, 1_500),
    })?;
    let mut texts = Vec::new();
    for document in &documents {
        client.add(document).await?;
        if Path::new(&document.path).extension() == Some(OsStr::new("txt")) {
            texts.push(String::from_utf8_lossy(&document.bytes).into_owned());
        }
    }
    client.wait_until_final(documents.len(), LIMIT).await?;
    let (_, catalog) = client.status().await?;
    ensure!(
        catalog.chunks >= CHUNKS,
        "{} chunks; raise the number of documents",
        catalog.chunks
    );

    let mut ours = Vec::new();
    let mut steps: Vec<Timings> = Vec::new();
    for number in 0..QUESTIONS {
        let question = Question {
            text: sentence(&texts, number)?,
            ..Question::default()
        };
        let (events, first) = client.ask_timed(&question).await?;
        let Some(AnswerEvent::Done { timings, .. }) = events.last() else {
            anyhow::bail!("no answer: {:?}", events.last());
        };
        ours.push((first.saturating_sub(DELAY)).as_secs_f64() * 1_000.0);
        steps.push(timings.clone());
    }
    println!(
        "{} chunks, {QUESTIONS} questions, first token after 50 ms",
        catalog.chunks
    );
    row("ours, until the first token", ours);
    let step = |name, of: fn(&Timings) -> f64| row(name, steps.iter().map(of).collect());
    step("embedding the question", |t| t.embed_ms);
    step("keyword engine", |t| t.keyword_ms);
    step("vector engine", |t| t.vector_ms);
    step("until the first token, within the query service", |t| {
        t.first_token_ms
    });
    Ok(())
}

/// A question in the words of the `number`th text: distinct, and with something to find.
fn sentence(texts: &[String], number: usize) -> Result<String> {
    let text = texts.get(number % texts.len()).context("no texts")?;
    let sentences: Vec<&str> = text.split(". ").filter(|s| s.len() > 30).collect();
    let chosen = sentences
        .get((number * 7) % sentences.len().max(1))
        .context("no sentence")?;
    Ok(chosen
        .split_whitespace()
        .take(12)
        .collect::<Vec<_>>()
        .join(" ")
        + "?")
}

/// Prints median, 95th percentile and largest of `millis`.
fn row(name: &str, mut millis: Vec<f64>) {
    millis.sort_by(f64::total_cmp);
    let at = |share: usize| {
        let index = (millis.len() * share / 100).min(millis.len().saturating_sub(1));
        millis.get(index).copied().unwrap_or_default()
    };
    println!(
        "{name}: median {:.1} ms, 95 % {:.1} ms, largest {:.1} ms",
        at(50),
        at(95),
        at(100)
    );
}
