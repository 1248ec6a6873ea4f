//! `ibid list`.

use std::process::ExitCode;

use serde_json::json;
use shared::contract::{DocumentState, DocumentView};

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
    for document in &documents {
        if let Some(error) = &document.error {
            output::line(output::text(&format!("{}: {error}", name(&document.path))))?;
        }
    }
    output::line(count(documents.len() as u64, "document"))?;
    Ok(ExitCode::SUCCESS)
}

fn row(document: &DocumentView) -> Vec<String> {
    vec![
        state(document.state),
        thousands(document.pages.into()),
        thousands(document.chunks.into()),
        document.collection.to_string(),
        document.id.to_string(),
        name(&document.path),
    ]
}

/// The state as a coloured word.
fn state(state: DocumentState) -> String {
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
