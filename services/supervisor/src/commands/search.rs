//! `ibid search`.

mod explained;

use std::io;
use std::process::ExitCode;

use shared::contract::{DocumentId, Hit, Passage, Question, Understood};

use super::{find_document, gateway, scope};
use crate::cli::SearchArgs;
use crate::client::Gateway;
use crate::error::{CommandResult, Complaint};
use crate::output::{self, name, style};

/// Finds passages.
pub(super) async fn run(args: SearchArgs, json: bool) -> CommandResult {
    let gateway = gateway()?;
    let question = Question {
        text: args.question.join(" "),
        explain: args.explain,
        explain_documents: documents(&gateway, &args.explain_document).await?,
        ..scope::question(&gateway, &args.scope).await?
    };
    let reply = gateway.search(&question).await?;
    if json {
        output::json(&reply)?;
        return Ok(ExitCode::SUCCESS);
    }
    searched_for(&reply.understood)?;
    if reply.passages.is_empty() {
        output::line("nothing was found")?;
    }
    for (index, passage) in reply.passages.iter().enumerate() {
        output::line(headline(index + 1, passage))?;
        output::line(indented(&whole(&passage.hit)))?;
        output::line("")?;
    }
    if let Some(explanation) = &reply.explanation {
        explained::tell(explanation)?;
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

async fn documents(gateway: &Gateway, wanted: &[String]) -> Result<Vec<DocumentId>, Complaint> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let all = find_document::all(gateway, None).await?;
    let ids = wanted.iter().map(|wanted| {
        let found = find_document::one(&all, wanted)?;
        Ok(found.id.clone())
    });
    ids.collect()
}

/// Says what was searched for, when it is not what was typed.
///
/// # Errors
/// When standard output is closed.
pub(super) fn searched_for(understood: &Understood) -> io::Result<()> {
    if understood.rewritten.is_none() {
        return Ok(());
    }
    let told = format!("searched for: {}", output::text(&understood.text));
    output::line(style().dim().apply_to(told))
}

/// The passage's text, below the header of the table that it goes on from.
fn whole(hit: &Hit) -> String {
    if hit.table_header.is_empty() {
        return hit.text.clone();
    }
    format!("{}\n{}", hit.table_header.trim_end(), hit.text)
}

fn headline(number: usize, passage: &Passage) -> String {
    labelled(number, &passage.label, &passage.hit.path)
}

/// `1. [name, p.4 — Pricing > Refunds]` with the path.
pub(super) fn labelled(number: impl std::fmt::Display, label: &str, path: &str) -> String {
    let label = style().bold().apply_to(name(label));
    let path = style().dim().apply_to(name(path));
    format!("{number}. {label}  {path}")
}

/// Document text below its headline.
pub(super) fn indented(text: &str) -> String {
    let lines = output::text(text);
    let lines = lines.trim().lines().map(|line| format!("   {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_stand_below_their_place() {
        assert_eq!(indented("one\n\ntwo\u{1b}[2J\n"), "   one\n   \n   two[2J");
        assert_eq!(
            labelled(2, "[a\u{202e}b, p.4]", "/x/a\u{202e}b"),
            "2. [a\\u{202e}b, p.4]  /x/a\\u{202e}b"
        );
    }
}
