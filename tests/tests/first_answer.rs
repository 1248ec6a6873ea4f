//! The product's main job: a folder in, a cited passage out.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use ibid_tests::harness::Harness;
use ibid_tests::samples::{self, Fact};
use serde_json::Value;
use shared::contract::{AnswerEvent, DocumentState, Locator, Passage, Question};

const LIMIT: Duration = Duration::from_mins(2);

fn question(text: &str) -> Question {
    Question {
        text: text.to_owned(),
        k: 5,
        ..Question::default()
    }
}

/// Whether `passage` is from the fact's file and page.
fn is_from(passage: &Passage, fact: &Fact) -> bool {
    let page = match &passage.hit.locator {
        Locator::PdfPage { physical, .. } => Some(*physical),
        _ => None,
    };
    passage
        .hit
        .path
        .ends_with(&format!("samples/{}", fact.file))
        && page == fact.page
}

fn plain(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c == '>')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The passage that answers `fact`, among the first three.
async fn search(harness: &Harness, fact: &Fact) -> Result<Passage> {
    let reply = harness.client().search(&question(&fact.question)).await?;
    ensure!(reply.notes.is_empty(), "notes: {:?}", reply.notes);
    let found =
        reply.passages.iter().take(3).find(|passage| {
            is_from(passage, fact) && plain(&passage.hit.text).contains(&fact.phrase)
        });
    let labels: Vec<_> = reply
        .passages
        .iter()
        .map(|passage| &passage.label)
        .collect();
    found
        .cloned()
        .with_context(|| format!("`{}` is not in {labels:?}", fact.phrase))
}

/// The answer cites the passage: a source, a citation with its label, and text that quotes it.
async fn ask(harness: &Harness, fact: &Fact, passage: &Passage) -> Result<bool> {
    let events = harness.client().ask(&question(&fact.question)).await?;
    let Some(AnswerEvent::Sources { sources, .. }) = events.first() else {
        anyhow::bail!("an answer begins with its sources: {:?}", events.first());
    };
    ensure!(
        sources
            .iter()
            .any(|source| source.chunk_id == passage.hit.chunk_id),
        "not a source"
    );
    let Some(AnswerEvent::Done {
        answered,
        citations,
        ..
    }) = events.last()
    else {
        anyhow::bail!("an answer ends with done: {:?}", events.last());
    };
    ensure!(*answered && !citations.is_empty(), "nothing was cited");
    let text: String = events
        .iter()
        .filter_map(|event| match event {
            AnswerEvent::Token { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    for citation in citations {
        ensure!(
            text.contains(&citation.label),
            "`{}` is cited but not shown",
            citation.label
        );
    }
    let cited = citations.iter().filter_map(|citation| {
        sources
            .iter()
            .find(|source| source.number == citation.number)
    });
    Ok(cited
        .into_iter()
        .any(|source| source.chunk_id == passage.hit.chunk_id)
        && plain(&text).contains(&fact.phrase))
}

#[tokio::test]
async fn a_question_gets_the_cited_passage_from_the_right_page() -> Result<()> {
    let folder = samples::folder();
    let harness = Harness::start(&[&folder]).await?;
    let files = samples::count()?;
    let documents = harness.client().wait_until_final(files, LIMIT).await?;
    for document in &documents {
        let ready = document.state == DocumentState::Ready && document.searchable;
        ensure!(
            ready,
            "`{}` is {:?}: {:?}",
            document.name,
            document.state,
            document.error
        );
    }

    let facts = samples::facts()?;
    let mut wrong = Vec::new();
    let mut quoted = 0;
    for fact in &facts {
        let outcome = match search(&harness, fact).await {
            Ok(passage) => ask(&harness, fact, &passage).await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok(right) => quoted += usize::from(right),
            Err(error) => wrong.push(format!("{}: {error:#}", fact.question)),
        }
    }
    ensure!(
        wrong.is_empty(),
        "{} of {} facts:\n{}",
        wrong.len(),
        facts.len(),
        wrong.join("\n")
    );
    println!("answers that quote the fact: {quoted} of {}", facts.len());
    ensure!(
        quoted * 10 >= facts.len() * 9,
        "only {quoted} of {} answers quote the fact",
        facts.len()
    );

    labels(&harness).await?;
    command_line(&harness, files).await?;
    let code = harness.stop(Duration::from_secs(40)).await?;
    ensure!(
        code == Some(0),
        "`ibid up` ended with {code:?} after SIGTERM"
    );
    Ok(())
}

/// A PDF page shows its number, printed and physical where they differ; a text shows none.
async fn labels(harness: &Harness) -> Result<()> {
    for (text, expect) in [
        (
            "What does error code E23 mean?",
            "[kl-40-service-manual.pdf, p.2 (3)",
        ),
        (
            "What is the mileage rate for a private car?",
            "[staff-handbook.pdf, p.4",
        ),
        (
            "How wide is the cellar door at the bakery?",
            "[mill-road-bakery.md — ",
        ),
    ] {
        let reply = harness.client().search(&question(text)).await?;
        let labels: Vec<_> = reply
            .passages
            .iter()
            .map(|passage| passage.label.as_str())
            .collect();
        ensure!(
            labels.iter().any(|label| label.starts_with(expect)),
            "{expect} is not in {labels:?}"
        );
    }
    Ok(())
}

/// The commands that a person types.
async fn command_line(harness: &Harness, files: usize) -> Result<()> {
    let ask = harness
        .cli(&["ask", "What is the mileage rate for a private car?"])
        .await?;
    ensure!(ask.code == Some(0), "{ask:?}");
    ensure!(ask.stdout.contains("45 pence a mile"), "{ask:?}");
    ensure!(ask.stdout.contains("staff-handbook.pdf, p.4"), "{ask:?}");

    let search = harness
        .cli(&["search", "refrigerant leak E42", "--json"])
        .await?;
    let reply: Value =
        serde_json::from_str(&search.stdout).with_context(|| format!("{search:?}"))?;
    ensure!(reply.pointer("/passages/0/label").is_some(), "{reply}");

    let list = harness.cli(&["list"]).await?;
    ensure!(
        list.stdout.contains("staff-handbook.pdf") && list.stdout.contains("ready"),
        "{list:?}"
    );

    let again = samples::folder();
    let again = again.to_str().context("samples folder")?;
    let add = harness.cli(&["add", again]).await?;
    ensure!(add.code == Some(0), "{add:?}");
    let told = format!("{}{}", add.stdout, add.stderr);
    ensure!(told.contains("already indexed"), "{add:?}");

    for command in ["status", "doctor", "fsck"] {
        let output = harness.cli(&[command]).await?;
        ensure!(output.code == Some(0), "ibid {command}: {output:?}");
        ensure!(
            !output.stdout.trim().is_empty(),
            "ibid {command}: {output:?}"
        );
    }

    let remove = harness.cli(&["rm", "mill-road-bakery.md"]).await?;
    ensure!(remove.code == Some(0), "{remove:?}");
    let left = harness.client().documents(None, None).await?;
    ensure!(
        left.len() == files - 1,
        "{} documents after one was removed",
        left.len()
    );
    let reply = harness
        .client()
        .search(&question("How wide is the cellar door at the bakery?"))
        .await?;
    let still = reply
        .passages
        .iter()
        .any(|passage| passage.hit.name == "mill-road-bakery.md");
    ensure!(!still, "a removed document is still found");
    ensure!(
        harness.client().fsck().await?.findings.is_empty(),
        "fsck after a removal"
    );

    let usage = harness.cli(&["serach", "x"]).await?;
    ensure!(usage.code == Some(64), "{usage:?}");
    let nothing = harness.cli(&["rm", "no-such-file.md"]).await?;
    ensure!(nothing.code == Some(1), "{nothing:?}");
    Ok(())
}
