//! `ibid search`.

use std::process::ExitCode;

use shared::contract::{Filter, Passage, Question};

use super::gateway;
use crate::cli::QuestionArgs;
use crate::error::CommandResult;
use crate::output::{self, style};

/// Finds passages.
pub(super) async fn run(args: QuestionArgs, json: bool) -> CommandResult {
    let reply = gateway()?.search(&question(&args)).await?;
    if json {
        output::json(&reply)?;
        return Ok(ExitCode::SUCCESS);
    }
    if reply.passages.is_empty() {
        output::line("nothing was found")?;
    }
    for (index, passage) in reply.passages.iter().enumerate() {
        output::line(headline(index + 1, passage))?;
        output::line(indented(&passage.hit.text))?;
        output::line("")?;
    }
    for note in &reply.notes {
        output::line(style().yellow().apply_to(format!("note: {note}")))?;
    }
    let timings = &reply.timings;
    output::line(style().dim().apply_to(format!(
        "{:.0} ms (embedding {:.0}, keywords {:.0}, vectors {:.0})",
        timings.total_ms, timings.embed_ms, timings.keyword_ms, timings.vector_ms
    )))?;
    Ok(ExitCode::SUCCESS)
}

/// The question that the arguments ask.
pub(super) fn question(args: &QuestionArgs) -> Question {
    Question {
        text: args.question.join(" "),
        k: args.k,
        semantic_weight: args.semantic_weight,
        filter: Filter {
            collections: args.collection.clone(),
            documents: Vec::new(),
        },
    }
}

/// `1. [name, p.4 — Pricing > Refunds]` with the path.
pub(super) fn headline(number: usize, passage: &Passage) -> String {
    let label = style().bold().apply_to(&passage.label);
    let path = style().dim().apply_to(&passage.hit.path);
    format!("{number}. {label}  {path}")
}

/// Document text must not be able to drive the terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

fn indented(text: &str) -> String {
    let lines = printable(text);
    let lines = lines.trim().lines().map(|line| format!("   {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_documents_cannot_drive_the_terminal() {
        assert_eq!(printable("a\u{1b}]0;x\u{7}b\r\n\tc\u{9b}"), "a]0;xb\n\tc");
        assert_eq!(indented("one\n\ntwo\n"), "   one\n   \n   two");
    }
}
