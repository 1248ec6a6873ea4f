//! Damaged files through a parser service: none makes it exit, each reaches a final state.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use shared::contract::DocumentId;
use shared::format::{HEAD_BYTES, detect};

use crate::mutation::Originals;
use crate::parser::{Ending, LoneParser, peak_memory_kib};

/// What a child may use here. Less than by default, so that an endless file costs less.
const SETTINGS: [(&str, &str); 3] = [
    ("IBID_PARSER__CHILDREN", "2"),
    ("IBID_PARSER__WALL_CLOCK_SECS", "30"),
    ("IBID_PARSER__CPU_SECS", "20"),
];
/// Files in the service's hands at a time.
const IN_HAND: usize = 4;
/// Longer than any file may take, tried twice.
const LIMIT: Duration = Duration::from_mins(3);

/// What to send.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// The same seed gives the same files.
    pub seed: u64,
    /// How many.
    pub files: u32,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// A line per file: number, name, damage, bytes, how it ended, milliseconds.
    pub list: String,
    /// Files with pages.
    pub parsed: u32,
    /// Files refused before a child saw them, because they are no document.
    pub refused: u32,
    /// Failed files by code and message.
    pub failed: HashMap<String, u32>,
    /// The slowest file and its milliseconds.
    pub slowest: (String, u128),
    /// The most memory a reading child had at a time, in KiB, as far as seen.
    pub child_peak_kib: u64,
    /// The same of the service.
    pub service_peak_kib: u64,
}

struct Sent {
    line: String,
    at: Instant,
}

/// Sends the files and waits for each.
///
/// # Errors
/// The service exits, or a file reaches no final state.
pub async fn run(folder: &Path, run: Run) -> Result<Outcome> {
    let originals = Originals::read(folder)?;
    let mut parser = LoneParser::start(&SETTINGS).await?;
    let mut outcome = Outcome::default();
    let mut in_hand: HashMap<DocumentId, Sent> = HashMap::new();
    for number in 0..run.files {
        let mutation = originals.mutate(run.seed, number);
        let line = format!(
            "{number}\t{}\t{}\t{}",
            mutation.name,
            mutation.damage,
            mutation.bytes.len()
        );
        let head = mutation.bytes.get(..HEAD_BYTES).unwrap_or(&mutation.bytes);
        let Ok(format) = detect(&mutation.name, head) else {
            outcome.refused += 1;
            writeln!(outcome.list, "{line}\trefused\t0")?;
            continue;
        };
        let id = parser
            .send(&mutation.name, format, mutation.bytes, number)
            .await?;
        let at = Instant::now();
        in_hand.insert(id, Sent { line, at });
        if in_hand.len() >= IN_HAND {
            settle(&mut parser, &mut in_hand, &mut outcome).await?;
        }
    }
    while !in_hand.is_empty() {
        settle(&mut parser, &mut in_hand, &mut outcome).await?;
    }
    ensure!(parser.is_alive()?, "the parser exited");
    outcome.service_peak_kib = i32::try_from(parser.pid()).map_or(0, peak_memory_kib);
    Ok(outcome)
}

async fn settle(
    parser: &mut LoneParser,
    in_hand: &mut HashMap<DocumentId, Sent>,
    outcome: &mut Outcome,
) -> Result<()> {
    let (id, ending) = match parser.next(LIMIT).await {
        Ok(ended) => ended,
        Err(error) => {
            ensure!(parser.is_alive()?, "the parser exited: {error}");
            let open: Vec<_> = in_hand.values().map(|sent| &sent.line).collect();
            bail!("no final state for one of {open:#?}: {error}");
        }
    };
    // Work is delivered at least once, so a document may end twice.
    let Some(sent) = in_hand.remove(&id) else {
        return Ok(());
    };
    for child in parser.children()? {
        outcome.child_peak_kib = outcome.child_peak_kib.max(peak_memory_kib(child));
    }
    let millis = sent.at.elapsed().as_millis();
    let ended = match ending {
        Ending::Parsed { folder } => {
            let manifest = parser
                .manifest(&folder)
                .await
                .context("a parsed document")?;
            ensure!(!manifest.pages.is_empty(), "no pages: {}", sent.line);
            outcome.parsed += 1;
            format!(
                "{} pages, {} missing",
                manifest.pages.len(),
                manifest.missing().len()
            )
        }
        Ending::Failed(error) => {
            let code = format!("{:?}: {}", error.code, error.message);
            *outcome.failed.entry(code.clone()).or_default() += 1;
            code
        }
    };
    if millis > outcome.slowest.1 {
        outcome.slowest = (sent.line.clone(), millis);
    }
    writeln!(outcome.list, "{}\t{ended}\t{millis}", sent.line)?;
    Ok(())
}

impl Outcome {
    /// A few lines for people.
    pub fn summary(&self) -> String {
        let failed: u32 = self.failed.values().sum();
        let mut text = format!(
            "{} parsed, {failed} failed with a reason, {} refused as no document\n\
             slowest: {} ms: {}\npeak memory: {} MB in a reading child, {} MB in the service\n",
            self.parsed,
            self.refused,
            self.slowest.1,
            self.slowest.0,
            self.child_peak_kib >> 10,
            self.service_peak_kib >> 10,
        );
        let mut reasons: Vec<_> = self.failed.iter().collect();
        reasons.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        for (reason, count) in reasons.into_iter().take(25) {
            // Writing to a string does not fail.
            let _written = writeln!(text, "  {count} × {reason}");
        }
        text
    }
}
