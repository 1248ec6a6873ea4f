//! Answers written by a model server, through the whole product.

use std::time::Duration;

use anyhow::{Result, ensure};
use ibid_tests::fake::{Ending, FakeOllama, Text};
use ibid_tests::harness::{Harness, wait_for};
use ibid_tests::samples;
use serde_json::Value;
use shared::contract::{AnswerEvent, GeneratorId, Provider, Question};

const LIMIT: Duration = Duration::from_mins(2);

fn question(text: &str) -> Question {
    Question {
        text: text.to_owned(),
        ..Question::default()
    }
}

fn text(events: &[AnswerEvent]) -> String {
    events
        .iter()
        .filter_map(|event| match event {
            AnswerEvent::Token { text } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// What a sensible model would write: the number of the first passage that has `word`.
fn citing(body: &Value, word: &str) -> String {
    let prompt = body
        .pointer("/messages")
        .and_then(Value::as_array)
        .and_then(|messages| messages.last())
        .and_then(|message| message["content"].as_str())
        .unwrap_or_default();
    let number = prompt
        .split("<passage id=\"")
        .skip(1)
        .find(|passage| passage.contains(word))
        .and_then(|passage| passage.split('"').next());
    match number {
        Some(number) => format!("It is **45 pence** a mile [{number}], see [{number}] [77]."),
        None => "The documents do not say.".to_owned(),
    }
}

#[tokio::test]
async fn a_model_answers_with_citations_and_is_stopped_when_nobody_listens() -> Result<()> {
    let ollama = FakeOllama::start()?;
    ollama.script(|script| script.speech.text = Text::of(|body| citing(body, "45 pence")));
    let folder = samples::folder();
    let harness = Harness::start_with_ollama(&[&folder], &ollama.url()).await?;
    let files = samples::count()?;
    harness.client().wait_until_final(files, LIMIT).await?;
    let asked = question("What is the mileage rate for a private car?");

    let events = harness.client().ask(&asked).await?;
    let answer = text(&events);
    ensure!(
        answer.starts_with("It is **45 pence** a mile [staff-handbook.pdf, p.4]"),
        "{answer}"
    );
    ensure!(
        !answer.contains("77"),
        "a citation of nothing is shown: {answer}"
    );
    let Some(AnswerEvent::Done {
        generator,
        answered: true,
        citations,
        usage,
        notes,
        ..
    }) = events.last()
    else {
        anyhow::bail!("{:?}", events.last());
    };
    ensure!(generator.provider == Provider::Ollama && citations.len() == 1);
    ensure!(
        usage.answer_tokens.is_some() && usage.prompt_tokens.is_some(),
        "{usage:?}"
    );
    ensure!(
        notes.iter().any(|note| note.contains("name no passage")),
        "{notes:?}"
    );

    let nothing = harness
        .client()
        .ask(&question("Who won the regatta of 1911?"))
        .await?;
    ensure!(
        matches!(
            nothing.last(),
            Some(AnswerEvent::Done {
                answered: false,
                ..
            })
        ),
        "{:?}",
        nothing.last()
    );

    // The same through the command line, with the model it names and a table of them.
    let cli = harness.cli(&["ask", &asked.text]).await?;
    ensure!(
        cli.code == Some(0) && cli.stdout.contains("staff-handbook.pdf, p.4"),
        "{cli:?}"
    );
    let models = harness.cli(&["models"]).await?;
    ensure!(models.stdout.contains(&generator.to_string()), "{models:?}");
    ensure!(models.stdout.contains("extractive"), "{models:?}");
    let doctor = harness.cli(&["doctor", "--generate"]).await?;
    ensure!(
        doctor.code == Some(0) && doctor.stdout.contains("ollama/"),
        "{doctor:?}"
    );

    // A model that is missing, named by the question.
    let missing = Question {
        generator: Some(GeneratorId::new(Provider::Ollama, "nobody:1b")),
        ..asked.clone()
    };
    let events = harness.client().ask(&missing).await?;
    let Some(AnswerEvent::Error { error }) = events.last() else {
        anyhow::bail!("{:?}", events.last());
    };
    ensure!(error.message.contains("`nobody:1b` not found"), "{error}");
    ensure!(error.remedy.contains("ollama pull nobody:1b"), "{error}");

    // Who stops listening ends the work, in the model server too.
    ollama.script(|script| script.speech.ending = Ending::StallAfter(1));
    let client = harness.client().clone();
    let listening = tokio::spawn(async move { client.ask(&asked).await });
    let open = async |wanted: bool| {
        wait_for("the chat to begin or end", LIMIT, async || {
            let open = ollama.open();
            ensure!((open > 0) == wanted, "{open} chats are open");
            Ok::<_, anyhow::Error>(())
        })
        .await
    };
    open(true).await?;
    listening.abort();
    open(false).await?;
    harness.stop(Duration::from_secs(40)).await?;
    Ok(())
}
