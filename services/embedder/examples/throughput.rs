//! How much of ONNX Runtime's speed is left after scheduling.
//!
//! `cargo run --release -p ibid-embedder --example throughput -- CORPUS.jsonl [TOKENS]` embeds the
//! `text` of each line, up to `TOKENS` tokens in all (default 150,000), five times each way in
//! turn: by ONNX Runtime driven directly, at its default settings, with batches of the whole
//! corpus sorted by length; and through a scheduler that eight callers feed in the corpus's order.
//! Prints the medians, then how long questions take meanwhile. Exit code 1 below 90 %.
#![expect(clippy::print_stdout, reason = "a program for the command line")]

use std::borrow::Cow;
use std::fs;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use embedder::batch::{Scheduler, SchedulerOptions};
use embedder::encoder::{OnnxEncoder, Runtime, SessionOptions};
use embedder::model::Model;
use embedder::settings::{Settings, runtime_library};
use embedder::tokens::TokenIds;
use ort::session::Session;
use ort::value::TensorRef;
use serde_json::Value;

const ROUNDS: usize = 5;
const CALLERS: usize = 8;
const CHUNKS: usize = 64;
const GOAL: f64 = 0.90;
const QUESTION: &str = "what is the drag of a flat plate at supersonic speed?";

fn main() -> anyhow::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let corpus = arguments.next().context("name a JSON Lines file")?;
    let most = arguments
        .next()
        .map_or(Ok(150_000), |tokens| tokens.parse())?;

    let settings = Settings::default();
    let named: shared::settings::Model = shared::settings::load("model")?;
    let runtime = Runtime::load(&runtime_library())?;
    let model = Arc::new(Model::open(&named.folder(), named.precision)?);
    let texts = read(&corpus, &model, most)?;
    let tokens: usize = texts.iter().map(Vec::len).sum();
    println!(
        "{} texts, {tokens} tokens, {} threads",
        texts.len(),
        settings.threads()
    );

    let mut session = default_session(&runtime, &model, settings.threads())?;
    let start = |name, nice| {
        let (runtime, model) = (runtime.clone(), Arc::clone(&model));
        let threads = settings.threads();
        let batch_time = settings.batch_time();
        let options = SchedulerOptions {
            name,
            nice,
            batch_time,
            texts: CALLERS * CHUNKS,
        };
        Scheduler::start(options, move || {
            OnnxEncoder::open(&runtime, model, SessionOptions { threads })
        })
    };
    // Nice value 0 for both ways, so that other programs slow them alike.
    let scheduler = Arc::new(start("chunks", 0)?);
    let tokio = tokio::runtime::Runtime::new()?;

    let speed = |took: Duration| tokens as f64 / took.as_secs_f64();
    let sample: Vec<&TokenIds> = texts.iter().take(20).collect();
    let sampled: usize = sample.iter().map(|ids| ids.len()).sum();
    direct(&mut session, sample.iter().map(|ids| vec![*ids]))?;
    let took = direct(&mut session, sample.iter().map(|ids| vec![*ids]))?;
    let budget = sampled as f64 / took.as_secs_f64() * settings.batch_time().as_secs_f64();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "some hundreds"
    )]
    let batches = sorted_batches(&texts, budget as usize);
    println!(
        "direct: {} batches of at most {budget:.0} tokens",
        batches.len()
    );

    let (mut directly, mut scheduled) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        directly.push(speed(direct(&mut session, batches.iter().cloned())?));
        scheduled.push(speed(tokio.block_on(through(&scheduler, &texts))?));
        println!(
            "direct {:.0}, scheduled {:.0} tokens/s",
            last(&directly),
            last(&scheduled)
        );
    }
    let (directly, scheduled) = (median(directly), median(scheduled));
    let ratio = scheduled / directly;
    println!("medians: direct {directly:.0}, scheduled {scheduled:.0} tokens/s, ratio {ratio:.3}");

    drop(scheduler);
    let (chunks, questions) = (Arc::new(start("chunks", 10)?), start("questions", 0)?);
    let question = model.tokens.question(QUESTION)?;
    tokio.block_on(ask(&questions, &question, through(&chunks, &texts)))?;
    Ok(if ratio < GOAL {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Asks while nothing else runs and while `bulk` does, and prints how long it took.
async fn ask(
    questions: &Scheduler,
    question: &TokenIds,
    bulk: impl Future<Output = anyhow::Result<Duration>>,
) -> anyhow::Result<()> {
    let ask = async |pause: u64| -> anyhow::Result<f64> {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let start = Instant::now();
        questions.encode(vec![question.clone()]).await?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    let (mut idle, mut busy) = (Vec::new(), Vec::new());
    for _ in 0..50 {
        idle.push(ask(20).await?);
    }
    tokio::pin!(bulk);
    loop {
        tokio::select! {
            done = &mut bulk => break done.map(|_| ())?,
            took = ask(37) => busy.push(took?),
        }
    }
    for (name, mut times) in [("idle", idle), ("under load", busy)] {
        times.sort_by(f64::total_cmp);
        let part = |percent: usize| times.get(times.len() * percent / 100);
        let [middle, late] = [50, 95].map(|percent| part(percent).copied().unwrap_or_default());
        let count = times.len();
        println!("question {name}: median {middle:.1} ms, 95 % {late:.1} ms, {count} asked");
    }
    Ok(())
}

fn read(path: &str, model: &Model, most: usize) -> anyhow::Result<Vec<TokenIds>> {
    let mut texts = Vec::new();
    let mut tokens = 0;
    for line in fs::read_to_string(path)
        .with_context(|| format!("cannot read `{path}`"))?
        .lines()
    {
        let line: Value = serde_json::from_str(line)?;
        let text = line.get("text").and_then(Value::as_str).unwrap_or_default();
        let mut ids = model.tokens.document(text)?;
        ids.truncate(model.tokens.longest());
        tokens += ids.len();
        texts.push(ids);
        if tokens >= most {
            break;
        }
    }
    Ok(texts)
}

/// A session at ONNX Runtime's own settings but for the number of threads.
fn default_session(runtime: &Runtime, model: &Model, threads: usize) -> ort::Result<Session> {
    Session::builder(runtime.environment())?
        .with_intra_threads(threads)?
        .commit_from_file(model.graph())
}

/// Batches of the texts sorted by length, each of at most `budget` tokens, padding included.
fn sorted_batches(texts: &[TokenIds], budget: usize) -> Vec<Vec<&TokenIds>> {
    let mut sorted: Vec<&TokenIds> = texts.iter().collect();
    sorted.sort_by_key(|ids| ids.len());
    let mut batches: Vec<Vec<&TokenIds>> = Vec::new();
    for ids in sorted {
        match batches.last_mut() {
            Some(batch) if (batch.len() + 1) * ids.len() <= budget => batch.push(ids),
            _ => batches.push(vec![ids]),
        }
    }
    batches
}

/// Runs the batches one after another and does nothing with the outcome.
fn direct<'a>(
    session: &mut Session,
    batches: impl Iterator<Item = Vec<&'a TokenIds>>,
) -> anyhow::Result<Duration> {
    let start = Instant::now();
    for batch in batches {
        let longest = batch.iter().map(|ids| ids.len()).max().unwrap_or_default();
        let padded = |value: fn(u32) -> i64| -> Vec<i64> {
            let row = |ids: &&TokenIds| {
                let padding = std::iter::repeat_n(0, longest - ids.len());
                ids.iter()
                    .map(|id| value(*id))
                    .chain(padding)
                    .collect::<Vec<_>>()
            };
            batch.iter().flat_map(row).collect()
        };
        let (ids, mask) = (padded(i64::from), padded(|_| 1));
        let shape = [batch.len(), longest];
        session.run(vec![
            (
                Cow::from("input_ids"),
                TensorRef::from_array_view((shape, ids.as_slice()))?,
            ),
            (
                Cow::from("attention_mask"),
                TensorRef::from_array_view((shape, mask.as_slice()))?,
            ),
        ])?;
    }
    Ok(start.elapsed())
}

/// Hands the texts to the scheduler as the embed stage does: some messages at a time.
async fn through(scheduler: &Arc<Scheduler>, texts: &[TokenIds]) -> anyhow::Result<Duration> {
    let start = Instant::now();
    let (sender, receiver) = tokio::sync::mpsc::channel::<Vec<TokenIds>>(1);
    let receiver = Arc::new(tokio::sync::Mutex::new(receiver));
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let (scheduler, receiver) = (Arc::clone(scheduler), Arc::clone(&receiver));
            tokio::spawn(async move {
                loop {
                    let message = receiver.lock().await.recv().await;
                    let Some(message) = message else {
                        return anyhow::Ok(());
                    };
                    scheduler.encode(message).await?;
                }
            })
        })
        .collect();
    for message in texts.chunks(CHUNKS) {
        sender.send(message.to_vec()).await?;
    }
    drop(sender);
    for caller in callers {
        caller.await??;
    }
    Ok(start.elapsed())
}

fn last(values: &[f64]) -> f64 {
    values.last().copied().unwrap_or_default()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
