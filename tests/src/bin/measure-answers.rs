//! Asks judged questions of a running Ibid and prints how well each generator answers them, as
//! rows of a Markdown table.
//!
//! `measure-answers URL SET [EVERY] [GENERATOR…]`: SET is `squad` or `folder` of the shared corpus,
//! whose documents are added first where they are missing; a number asks every so manieth question
//! only; without generators all that are there answer.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use ibid_tests::answers::{HEAD, Judged, Outcome, of_beir, of_folder, row};
use ibid_tests::harness::{Client, Upload};
use ibid_tests::workspace;
use shared::contract::{AnswerEvent, CollectionName, Filter, GeneratorId, Question};

/// The folder's reports have hundreds of pages.
const INGEST_LIMIT: Duration = Duration::from_hours(1);

struct Set {
    collection: CollectionName,
    questions: Vec<Judged>,
    documents: Vec<(String, Content)>,
}

enum Content {
    Text(String),
    File(PathBuf),
}

#[tokio::main]
async fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, set, rest @ ..] = words.as_slice() else {
        bail!("usage: measure-answers URL squad|folder [EVERY] [GENERATOR…]");
    };
    let every = rest.first().and_then(|word| word.parse::<usize>().ok());
    let generators = rest.get(usize::from(every.is_some())..).unwrap_or_default();
    let client = Client::new(url)?;
    let mut set = read(set)?;
    let chosen = set.questions.into_iter().step_by(every.unwrap_or(1).max(1));
    set.questions = chosen.collect();
    ingest(&client, &set).await?;
    let generators = if generators.is_empty() {
        let listed = client.models().await?.generators.into_iter();
        listed
            .filter(|view| view.refused.is_none())
            .map(|view| view.id)
            .collect()
    } else {
        let ids = generators.iter().map(|name| name.parse());
        ids.collect::<Result<Vec<GeneratorId>, _>>()?
    };
    say(HEAD)?;
    for generator in generators {
        let outcomes = measure(&client, &set, &generator).await?;
        say(&row(&generator.to_string(), &outcomes))?;
    }
    Ok(())
}

fn say(text: &str) -> Result<()> {
    Ok(writeln!(std::io::stdout(), "{text}")?)
}

fn read(name: &str) -> Result<Set> {
    let corpus = workspace::corpus().context("no corpus; set IBID_CORPUS to its folder")?;
    let (questions, documents) = match name {
        "squad" => {
            let (questions, documents) = of_beir(&corpus.join("retrieval/squad2-sample"))?;
            let documents = documents.into_iter().map(|document| {
                let text = format!("{}\n{}\n", document.title.trim(), document.text.trim());
                let text = text.trim_start().to_owned();
                (format!("/squad/{}.txt", document.id), Content::Text(text))
            });
            (questions, documents.collect())
        }
        "folder" => {
            let questions = of_folder(&corpus.join("folder-questions.jsonl"))?;
            let mut documents = Vec::new();
            walk(&corpus.join("folder"), "/folder", &mut documents)?;
            (questions, documents)
        }
        other => bail!("`{other}` is no set; use `squad` or `folder`"),
    };
    Ok(Set {
        collection: name.parse()?,
        questions,
        documents,
    })
}

fn walk(folder: &Path, path: &str, found: &mut Vec<(String, Content)>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{path}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), &path, found)?;
        } else {
            found.push((path, Content::File(entry.path())));
        }
    }
    Ok(())
}

async fn ingest(client: &Client, set: &Set) -> Result<()> {
    let name = set.collection.to_string();
    let there = client.documents(Some(&name), None).await?;
    let missing = set
        .documents
        .iter()
        .filter(|(path, _)| !there.iter().any(|document| document.path == *path));
    let added = stream::iter(missing)
        .map(|(path, content)| add(client, &name, path, content))
        .buffer_unordered(4)
        .try_fold(0, async |all, added| Ok(all + u32::from(added)))
        .await?;
    if added > 0 {
        let all = client.documents(None, None).await?.len();
        client.wait_until_final(all, INGEST_LIMIT).await?;
    }
    Ok(())
}

/// Adds a document; files of a kind that is not read are left out.
async fn add(client: &Client, collection: &str, path: &str, content: &Content) -> Result<bool> {
    let bytes = match content {
        Content::Text(text) => text.as_bytes().to_vec(),
        Content::File(file) => std::fs::read(file)?,
    };
    let upload = Upload {
        path: path.to_owned(),
        collection: collection.to_owned(),
        bytes,
        ..Upload::default()
    };
    match client.add(&upload).await {
        Ok(_) => Ok(true),
        Err(error) if error.to_string().contains("unsupported") => Ok(false),
        Err(error) => Err(error.context(format!("adding `{path}`"))),
    }
}

async fn measure(client: &Client, set: &Set, generator: &GeneratorId) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    let mut failed = String::new();
    for judged in &set.questions {
        let question = Question {
            text: judged.text.clone(),
            filter: Filter {
                collections: vec![set.collection.clone()],
                ..Filter::default()
            },
            generator: Some(generator.clone()),
            ..Question::default()
        };
        let started = Instant::now();
        let (events, first) = client.ask_timed(&question).await?;
        let total = started.elapsed();
        if let Some(AnswerEvent::Error { error }) = events.last() {
            writeln!(failed, "{}: {}", judged.text, error.message)?;
        }
        outcomes.push(Outcome::judge(
            judged,
            &events,
            first.as_secs_f64() * 1_000.0,
            total.as_secs_f64() * 1_000.0,
        ));
    }
    ensure!(failed.is_empty(), "{generator} failed:\n{failed}");
    Ok(outcomes)
}
