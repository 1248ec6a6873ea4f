//! `ibid list`.

use std::io;
use std::process::ExitCode;

use serde_json::json;
use shared::contract::{DocumentState, DocumentView, ErrorBody};

use super::gateway;
use crate::cli::ListArgs;
use crate::client::Listing;
use crate::error::CommandResult;
use crate::output::{self, count, name, style, thousands};

/// Lists documents.
pub(super) async fn run(args: ListArgs, json: bool) -> CommandResult {
    let listing = Listing {
        collection: args.collection,
        state: args.state,
    };
    let filtered = listing.collection.is_some() || listing.state.is_some();
    let documents = gateway()?.documents(&listing).await?;
    if json {
        output::json(&json!({ "documents": documents }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if documents.is_empty() {
        output::line(if filtered {
            "no document is in that collection and state; `ibid status` shows what there is"
        } else {
            "no documents; add some with `ibid add PATH`"
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let head = ["state", "pages", "chunks", "collection", "id", "path"].map(str::to_owned);
    let mut rows = vec![head.to_vec()];
    rows.extend(documents.iter().map(row));
    output::table(&rows)?;
    for failure in failures(&documents) {
        failure.tell()?;
    }
    let outdated = documents
        .iter()
        .filter(|document| document.outdated)
        .count();
    if outdated > 0 {
        output::line(
            style()
                .yellow()
                .apply_to(super::status::outdated(outdated as u64)),
        )?;
    }
    output::line(count(documents.len() as u64, "document"))?;
    Ok(ExitCode::SUCCESS)
}

/// Documents that failed for one and the same reason.
struct Failure<'a> {
    error: &'a ErrorBody,
    paths: Vec<&'a str>,
}

impl Failure<'_> {
    fn tell(&self) -> io::Result<()> {
        let reason = output::text(&self.error.message);
        let headline = match self.paths.as_slice() {
            [one] => format!("{}: {reason}", name(one)),
            several => format!("{}: {reason}", count(several.len() as u64, "document")),
        };
        output::line(style().red().apply_to(headline))?;
        if let [_, _, ..] = self.paths.as_slice() {
            for path in &self.paths {
                output::line(format!("  {}", name(path)))?;
            }
        }
        output::line(format!("  → {}", output::text(&self.error.remedy)))
    }
}

/// The errors of `documents`, each once, in the order in which they are met first.
fn failures(documents: &[DocumentView]) -> Vec<Failure<'_>> {
    let mut failures: Vec<Failure<'_>> = Vec::new();
    for document in documents {
        let Some(error) = &document.error else {
            continue;
        };
        match failures.iter_mut().find(|failure| failure.error == error) {
            Some(failure) => failure.paths.push(&document.path),
            None => failures.push(Failure {
                error,
                paths: vec![&document.path],
            }),
        }
    }
    failures
}

fn row(document: &DocumentView) -> Vec<String> {
    vec![
        state(document.state),
        pages(document),
        thousands(document.chunks.into()),
        document.collection.to_string(),
        document.id.to_string(),
        name(&document.path),
    ]
}

/// `113 of 311` where some are missing.
fn pages(document: &DocumentView) -> String {
    let all = thousands(document.pages.into());
    if document.missing_count == 0 {
        return all;
    }
    let readable = document.pages.saturating_sub(document.missing_count);
    format!("{} of {all}", thousands(readable.into()))
}

/// The state as a coloured word.
pub(super) fn state(state: DocumentState) -> String {
    let (word, look) = match state {
        DocumentState::Queued => ("queued", style().dim()),
        DocumentState::Parsing => ("parsing", style().cyan()),
        DocumentState::Chunking => ("chunking", style().cyan()),
        DocumentState::Embedding => ("embedding", style().cyan()),
        DocumentState::Indexing => ("indexing", style().cyan()),
        DocumentState::Ready => ("ready", style().green()),
        DocumentState::Partial => ("partial", style().yellow()),
        DocumentState::Failed => ("failed", style().red()),
    };
    look.apply_to(word).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::find_document::tests::document;
    use shared::contract::ErrorCode;

    #[test]
    fn failures_are_told_once_each() {
        let failed = |id, path, message: &str| DocumentView {
            error: Some(ErrorBody::new(ErrorCode::Damaged, message, "mend it")),
            ..document(id, path)
        };
        let documents = [
            failed(1, "/a", "torn"),
            document(2, "/b"),
            failed(3, "/c", "locked"),
            failed(4, "/d", "torn"),
        ];
        let failures = failures(&documents);
        let paths: Vec<_> = failures
            .iter()
            .map(|failure| failure.paths.clone())
            .collect();
        assert_eq!(paths, [vec!["/a", "/d"], vec!["/c"]]);
    }

    #[test]
    fn coverage_stands_in_the_column_of_pages() {
        let part = DocumentView {
            pages: 1311,
            missing_count: 198,
            ..document(1, "/a")
        };
        assert_eq!(pages(&part), "1,113 of 1,311");
        assert_eq!(pages(&document(1, "/a")), "1");
    }
}
