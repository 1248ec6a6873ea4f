//! A judged folder of documents through the whole product: `cargo xtask corpus FOLDER`. Every
//! fact of its `manifest.jsonl` is looked for in the Markdown of the pages and in the chunks at
//! its place, and every damaged file must end in a clear state. Fails under 98 % of the facts.

#![expect(clippy::print_stdout, reason = "it prints what it has measured")]

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use ibid_tests::facts::{Entry, Reading, entries};
use ibid_tests::harness::{Client, Harness, Upload};
use shared::contract::{DocumentState, DocumentView, DumpRow, ErrorBody, ErrorCode};

const LIMIT: Duration = Duration::from_mins(15);
/// Of the facts that may not be left out.
const ENOUGH: f64 = 0.98;

#[derive(Debug, Default)]
struct Tally {
    files: usize,
    facts: usize,
    in_markdown: usize,
    in_both: usize,
    damaged: usize,
    clear: usize,
}

#[tokio::main]
async fn main() -> Result<()> {
    let folder = std::env::args()
        .nth(1)
        .context("which folder of documents?")?;
    let folder = PathBuf::from(folder).canonicalize()?;
    let entries = entries(&folder)?;
    let harness = Harness::start(&[]).await?;
    let views = add(harness.client(), &folder, &entries).await?;
    let mut rows: HashMap<String, Vec<DumpRow>> = HashMap::new();
    for row in harness.client().dump().await? {
        rows.entry(row.path.clone()).or_default().push(row);
    }

    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for entry in &entries {
        let view = views.get(&path_of(entry)).context("a document is gone")?;
        let chunks = rows.remove(&path_of(entry)).unwrap_or_default();
        let reading = read(harness.client(), view, chunks).await?;
        judge(
            tallies.entry(&entry.format).or_default(),
            entry,
            view,
            &reading,
        );
    }
    report(&tallies)
}

fn path_of(entry: &Entry) -> String {
    format!("/corpus/{}", entry.file)
}

/// Adds all files, those with a password first without it.
async fn add(
    client: &Client,
    folder: &Path,
    entries: &[Entry],
) -> Result<HashMap<String, DocumentView>> {
    let mut locked = Vec::new();
    for entry in entries {
        let mut upload = Upload {
            path: path_of(entry),
            bytes: std::fs::read(folder.join(&entry.file))?,
            ..Upload::default()
        };
        client
            .add(&upload)
            .await
            .with_context(|| entry.file.clone())?;
        if let Some(password) = &entry.password {
            upload.password.clone_from(password);
            locked.push(upload);
        }
    }
    let views = client.wait_until_final(entries.len(), LIMIT).await?;
    for upload in &locked {
        let view = views.iter().find(|view| view.path == upload.path);
        let code = view.and_then(|view| Some(view.error.as_ref()?.code));
        ensure!(
            code == Some(ErrorCode::PasswordNeeded),
            "`{}` without its password: {code:?}",
            upload.path
        );
        client.add(upload).await?;
    }
    let views = client.wait_until_final(entries.len(), LIMIT).await?;
    Ok(views
        .into_iter()
        .map(|view| (view.path.clone(), view))
        .collect())
}

async fn read(client: &Client, view: &DocumentView, rows: Vec<DumpRow>) -> Result<Reading> {
    let mut reading = Reading::default();
    if !view.searchable {
        return Ok(reading);
    }
    for page in client.pages(&view.id).await? {
        let place = (page.locator, page.markdown);
        reading.pages.insert(page.number, place);
    }
    reading.chunks = rows
        .into_iter()
        .map(|row| (row.spans.iter().map(|span| span.page).collect(), row.text))
        .collect();
    Ok(reading)
}

fn judge(tally: &mut Tally, entry: &Entry, view: &DocumentView, reading: &Reading) {
    tally.files += 1;
    for fact in entry.facts.iter().filter(|fact| !fact.optional) {
        let found = reading.find(fact);
        tally.facts += 1;
        tally.in_markdown += usize::from(found.in_markdown);
        let both = found.in_markdown && found.in_chunks;
        tally.in_both += usize::from(both);
        if !both {
            println!("lacks {}: {fact:?}: {found:?}", entry.file);
        }
    }
    if let Some(expect) = &entry.expect {
        tally.damaged += 1;
        match unclear(expect, entry, view) {
            None => tally.clear += 1,
            Some(why) => println!("unclear {}: {why}", entry.file),
        }
    }
}

/// What is wrong with the state that a damaged, locked or empty file has reached.
fn unclear(expect: &str, entry: &Entry, view: &DocumentView) -> Option<String> {
    let state = view.state;
    match (state, &view.error) {
        (DocumentState::Failed, Some(error)) if is_for_people(error) => None,
        (DocumentState::Failed, error) => Some(format!("failed with {error:?}")),
        _ if expect == "clear error" && entry.password.is_none() => Some(format!("{state:?}")),
        _ if view.chunks == 0 => Some(format!("{state:?} without a chunk")),
        _ => None,
    }
}

/// Whether an error tells of the document, not of us, and what to do.
fn is_for_people(error: &ErrorBody) -> bool {
    let ours = [
        ErrorCode::Internal,
        ErrorCode::Unknown,
        ErrorCode::Unavailable,
        ErrorCode::TooManyAttempts,
    ];
    !ours.contains(&error.code) && !error.message.is_empty() && !error.remedy.is_empty()
}

fn report(tallies: &BTreeMap<&str, Tally>) -> Result<()> {
    println!("\n| format | files | facts | in Markdown | and in chunks | damaged | clear |");
    println!("|---|---|---|---|---|---|---|");
    let mut all = Tally::default();
    for (format, one) in tallies {
        row(format, one);
        all.files += one.files;
        all.facts += one.facts;
        all.in_markdown += one.in_markdown;
        all.in_both += one.in_both;
        all.damaged += one.damaged;
        all.clear += one.clear;
    }
    row("all", &all);
    let share = all.in_both as f64 / all.facts.max(1) as f64;
    println!("\n{:.1} % of the facts", share * 100.0);
    ensure!(share >= ENOUGH, "fewer facts than {} %", ENOUGH * 100.0);
    ensure!(
        all.clear == all.damaged,
        "a damaged file is in no clear state"
    );
    Ok(())
}

fn row(name: &str, tally: &Tally) {
    println!(
        "| {name} | {} | {} | {} | {} | {} | {} |",
        tally.files, tally.facts, tally.in_markdown, tally.in_both, tally.damaged, tally.clear
    );
}
