//! `ibid ask`.

use std::process::ExitCode;

use futures::StreamExt as _;
use shared::contract::{AnswerEvent, Passage};

use super::gateway;
use super::search::{headline, printable, question};
use crate::cli::QuestionArgs;
use crate::error::{CommandResult, Complaint};
use crate::output::{self, style};

/// Asks, and prints the answer as it comes; with `--json`, one event a line.
pub(super) async fn run(args: QuestionArgs, json: bool) -> CommandResult {
    let events = gateway()?.ask(&question(&args)).await?;
    let mut events = std::pin::pin!(events);
    let mut sources = Vec::new();
    while let Some(event) = events.next().await {
        let event = event?;
        if json {
            output::json_line(&event)?;
        }
        match event {
            AnswerEvent::Sources { passages } => sources = passages,
            AnswerEvent::Token { text } if !json => output::piece(&printable(&text))?,
            AnswerEvent::Token { .. } => {}
            AnswerEvent::Done { .. } if json => return Ok(ExitCode::SUCCESS),
            AnswerEvent::Done {
                generator,
                timings,
                citations,
                notes,
                ..
            } => {
                let numbers: Vec<u32> = citations.iter().map(|citation| citation.number).collect();
                end(&sources, &numbers, &notes)?;
                let text = format!("{generator}, {:.0} ms", timings.total_ms);
                output::line(style().dim().apply_to(text))?;
                return Ok(ExitCode::SUCCESS);
            }
            AnswerEvent::Error { error } => return Err(error.into()),
        }
    }
    Err(Complaint::new(
        "the answer broke off",
        "ask again; see the log of `ibid up`",
    ))
}

/// Where the quoted passages stand, and what else there is to know.
fn end(sources: &[Passage], cited: &[u32], notes: &[String]) -> Result<(), Complaint> {
    output::line("")?;
    for (index, passage) in sources.iter().enumerate() {
        let number = index + 1;
        if u32::try_from(number).is_ok_and(|number| cited.contains(&number)) {
            output::line(headline(number, passage))?;
        }
    }
    for note in notes {
        output::line(style().yellow().apply_to(format!("note: {note}")))?;
    }
    Ok(())
}
