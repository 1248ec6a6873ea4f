//! The running parser service beside `markitdown`: `cargo run --release -p ibid-tests --bin
//! measure-parse -- FOLDER TIMES [CHILDREN]`, where TIMES comes from
//! `tests/python/markitdown_times.py`. All files of a format that both read are handed out at
//! once; the time until the last one has ended is set beside the sum of `markitdown`'s. Sandbox on,
//! warm, best of three rounds.

#![expect(clippy::print_stdout, reason = "it prints what it has measured")]

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ibid_tests::facts::{Entry, Fact, Reading, entries};
use ibid_tests::parser::{Ending, LoneParser};
use serde::Deserialize;
use shared::contract::DocumentId;
use shared::format::{HEAD_BYTES, detect};

const ROUNDS: u32 = 3;
const LIMIT: Duration = Duration::from_mins(3);

/// What `markitdown` did with a file.
#[derive(Debug, Deserialize)]
struct Other {
    seconds: f64,
    found: usize,
    characters: u64,
}

#[derive(Debug, Default)]
struct Row {
    files: usize,
    pages: usize,
    facts: usize,
    ours: f64,
    theirs: f64,
    found: usize,
    found_by_other: usize,
}

impl Row {
    fn count(&mut self, read: &[(&Entry, Reading)]) {
        for (entry, reading) in read {
            self.pages += reading.pages.len();
            let found = required(entry).filter(|fact| reading.find(fact).in_markdown);
            self.found += found.count();
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().context("which folder of documents?")?);
    let times = arguments.next().context("which file of times?")?;
    let children = arguments.next().unwrap_or_else(|| "0".to_owned());
    let others: HashMap<String, Other> = serde_json::from_slice(&std::fs::read(times)?)?;
    let mut formats: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for entry in entries(&folder)? {
        let read = others
            .get(&entry.file)
            .is_some_and(|other| other.characters > 0);
        if read && entry.expect.is_none() {
            formats.entry(entry.format.clone()).or_default().push(entry);
        }
    }
    let mut parser = LoneParser::start(&[("IBID_PARSER__CHILDREN", &children)]).await?;
    let mut rows = BTreeMap::new();
    for (format, entries) in &formats {
        let mut row = Row::default();
        for entry in entries {
            let other = others.get(&entry.file).context("a file without times")?;
            row.files += 1;
            row.facts += required(entry).count();
            row.theirs += other.seconds;
            row.found_by_other += other.found;
        }
        // The first round warms up.
        let mut best = f64::INFINITY;
        for round in 0..=ROUNDS {
            let (seconds, read) = round_of(&mut parser, &folder, entries, round).await?;
            if round == 0 {
                row.count(&read);
            } else {
                best = best.min(seconds);
            }
        }
        row.ours = best;
        rows.insert(format.as_str(), row);
    }
    print(&rows);
    Ok(())
}

fn required(entry: &Entry) -> impl Iterator<Item = &Fact> {
    entry.facts.iter().filter(|fact| !fact.optional)
}

/// Hands all files out, waits for the last, and reads what the parser wrote.
async fn round_of<'a>(
    parser: &mut LoneParser,
    folder: &Path,
    entries: &'a [Entry],
    round: u32,
) -> Result<(f64, Vec<(&'a Entry, Reading)>)> {
    let mut files = Vec::new();
    for entry in entries {
        let bytes = std::fs::read(folder.join(&entry.file))?;
        let format = detect(&entry.file, bytes.get(..HEAD_BYTES).unwrap_or(&bytes))?;
        files.push((entry, format, bytes));
    }
    let started = Instant::now();
    let mut open: HashMap<DocumentId, &Entry> = HashMap::new();
    for (entry, format, bytes) in files {
        let id = parser.send(&entry.file, format, bytes, round).await?;
        open.insert(id, entry);
    }
    let mut ended = Vec::new();
    while !open.is_empty() {
        let (id, ending) = parser.next(LIMIT).await?;
        ended.extend(open.remove(&id).map(|entry| (entry, ending)));
    }
    let seconds = started.elapsed().as_secs_f64();
    let mut read = Vec::new();
    for (entry, ending) in ended {
        let mut reading = Reading::default();
        if let Ending::Parsed { folder } = ending {
            for page in parser.manifest(&folder).await?.pages {
                let text = parser.page(&folder, page.number).await?;
                reading.pages.insert(page.number, (page.locator, text));
            }
        } else {
            println!("not read: {}: {ending:?}", entry.file);
        }
        read.push((entry, reading));
    }
    Ok((seconds, read))
}

fn print(rows: &BTreeMap<&str, Row>) {
    println!(
        "| format | files | pages | ours, pages/s | MarkItDown, pages/s | ratio | facts | ours | MarkItDown |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut all = Row::default();
    for (format, row) in rows {
        line(format, row);
        all.files += row.files;
        all.pages += row.pages;
        all.facts += row.facts;
        all.ours += row.ours;
        all.theirs += row.theirs;
        all.found += row.found;
        all.found_by_other += row.found_by_other;
    }
    line("all", &all);
}

fn line(name: &str, row: &Row) {
    let pages = row.pages as f64;
    println!(
        "| {name} | {} | {} | {:.1} | {:.1} | {:.1} | {} | {} | {} |",
        row.files,
        row.pages,
        pages / row.ours,
        pages / row.theirs,
        row.theirs / row.ours,
        row.facts,
        row.found,
        row.found_by_other
    );
}
