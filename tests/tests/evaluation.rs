//! `ibid eval retrieval` as a user has it: an Ibid of its own, kept sets, comparison, a tidy end.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use ibid_tests::harness::{command, processes, wait_for, wait_until_gone};
use rustix::process::{Pid, Signal, kill_process};

const LIMIT: Duration = Duration::from_mins(3);

/// Topics that no two documents share.
const TOPICS: [&str; 6] = [
    "The lighthouse keeper polishes the lens every evening.",
    "Sourdough bread rises slowly in a cold kitchen.",
    "A glacier carves the valley over thousands of years.",
    "The violin maker chooses spruce for the front.",
    "Bees return to the hive before the thunderstorm.",
    "The tax office sends a reminder after thirty days.",
];

/// Each question is about one document; ids have what file names must not have.
fn write_set(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder.join("qrels"))?;
    let (mut corpus, mut queries) = (String::new(), String::new());
    let mut qrels = "query-id\tcorpus-id\tscore\n".to_owned();
    for (number, text) in TOPICS.iter().enumerate() {
        let id = format!("doc/{number}: \u{e4}");
        let document = serde_json::json!({ "_id": id, "title": "", "text": text });
        writeln!(corpus, "{document}")?;
        let words: Vec<&str> = text.split(' ').skip(1).take(4).collect();
        let query = serde_json::json!({ "_id": format!("q{number}"), "text": words.join(" ") });
        writeln!(queries, "{query}")?;
        writeln!(qrels, "q{number}\t{id}\t1")?;
    }
    fs::write(folder.join("corpus.jsonl"), corpus)?;
    fs::write(folder.join("queries.jsonl"), queries)?;
    fs::write(folder.join("qrels/test.tsv"), qrels)?;
    Ok(())
}

#[tokio::test]
async fn a_set_is_taken_in_once_and_nothing_of_the_user_is_touched() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let set = folder.path().join("topics");
    write_set(&set)?;
    let (set, cache) = (
        set.display().to_string(),
        folder.path().join("cache").display().to_string(),
    );
    let saved = folder.path().join("first.json").display().to_string();
    let data = folder.path().join("data");

    let arguments = [
        "eval",
        "retrieval",
        &set,
        "--cache",
        &cache,
        "--save",
        &saved,
    ];
    let first = command::output(command::start(&data, &arguments)?, LIMIT).await?;
    ensure!(first.code == Some(0), "{}", first.stderr);
    ensure!(
        first.stderr.contains("taking 6 documents in"),
        "{}",
        first.stderr
    );
    let row = "| topics | 6 | 6 | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 |";
    ensure!(first.stdout.contains(row), "{}", first.stdout);
    ensure!(first.stdout.contains("p95 ms"), "{}", first.stdout);
    ensure!(!data.exists(), "the data folder of the user was made");

    let arguments = [
        "eval",
        "retrieval",
        &set,
        "--cache",
        &cache,
        "--compare",
        &saved,
    ];
    let second = command::output(command::start(&data, &arguments)?, LIMIT).await?;
    ensure!(second.code == Some(0), "{}", second.stderr);
    ensure!(!second.stderr.contains("taking"), "{}", second.stderr);
    let row = "| topics | default | 6 | 1.000 | 1.000 | 0.000 | 1.000 |";
    ensure!(second.stdout.contains(row), "{}", second.stdout);
    Ok(())
}

#[tokio::test]
async fn ctrl_c_ends_everything_and_the_next_run_goes_on() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let set = folder.path().join("topics");
    write_set(&set)?;
    let (set, cache) = (set.display().to_string(), folder.path().join("cache"));
    let cached = cache.display().to_string();
    let data = folder.path().join("data");
    let arguments = ["eval", "retrieval", &set, "--cache", &cached];
    let child = command::start(&data, &arguments)?;
    let pid = child
        .id()
        .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));

    let scratch = wait_for("the services to run", LIMIT, async || {
        let mut entries = fs::read_dir(&cache)?;
        let scratch = entries
            .find_map(|entry| Some(entry.ok()?.path().join("data")))
            .context("no folder yet")?;
        ensure!(!processes(&scratch)?.is_empty(), "no process yet");
        anyhow::Ok(scratch)
    })
    .await?;
    kill_process(pid.context("it has ended")?, Signal::INT)?;
    let done = command::output(child, LIMIT).await?;
    ensure!(done.code == Some(1), "{:?}: {}", done.code, done.stderr);
    ensure!(done.stderr.contains("stopped"), "{}", done.stderr);
    wait_until_gone(&scratch, Duration::from_secs(10)).await?;

    let again = command::output(command::start(&data, &arguments)?, LIMIT).await?;
    ensure!(again.code == Some(0), "{}", again.stderr);
    ensure!(
        again.stdout.contains("| topics | 6 | 6 | 1.000 |"),
        "{}",
        again.stdout
    );
    Ok(())
}
