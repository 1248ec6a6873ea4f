//! `ibid add`.

use console::Term;
use futures::StreamExt as _;
use shared::contract::CollectionName;

use super::{gateway, success_if};
use crate::cli::AddArgs;
use crate::client::{ClientError, Gateway, Listing};
use crate::error::{CommandResult, Complaint};
use crate::intake::{self, Request};
use crate::output::{self, count};
use crate::screen::Screen;

/// Deletions at once.
const AT_ONCE: usize = 8;

/// Takes files in, and waits until they can be searched.
pub(super) async fn run(args: AddArgs, json: bool) -> CommandResult {
    let gateway = gateway()?;
    let screen = Screen::stderr();
    // Before anything is removed, so that a wrong path costs nothing.
    let found = intake::find(args.paths).await?;
    if args.reset {
        reset(&gateway, &args.collection, args.yes, &screen).await?;
    }
    let request = Request {
        collection: args.collection,
        force: args.force,
        wait: !args.no_wait,
    };
    let report = intake::run(&gateway, request, found, &screen).await?;
    screen.finish();
    if json {
        output::json(&report)?;
    } else {
        report.tell(output::line)?;
    }
    Ok(success_if(report.is_good()))
}

async fn reset(
    gateway: &Gateway,
    collection: &CollectionName,
    sure: bool,
    screen: &Screen,
) -> Result<(), Complaint> {
    let listing = Listing {
        collection: Some(collection.clone()),
        state: None,
    };
    let documents = gateway.documents(&listing).await?;
    if documents.is_empty() {
        return Ok(());
    }
    let documents_text = count(documents.len() as u64, "document");
    if !sure {
        confirm(&format!(
            "Remove {documents_text} of collection `{collection}`?"
        ))?;
    }
    let removed: Vec<Result<_, ClientError>> = futures::stream::iter(documents)
        .map(|document| async move { gateway.delete(&document.id).await })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    removed.into_iter().collect::<Result<Vec<_>, _>>()?;
    screen.line(format!(
        "removed {documents_text} of collection `{collection}`"
    ));
    Ok(())
}

fn confirm(question: &str) -> Result<(), Complaint> {
    let terminal = Term::stderr();
    if !terminal.is_term() {
        return Err(Complaint::new(
            "`--reset` asks before it removes, and nobody is there to answer",
            "give `--yes` as well",
        ));
    }
    terminal.write_str(&format!("{question} [y/N] "))?;
    let answer = terminal.read_line()?;
    if ["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
        Ok(())
    } else {
        Err(Complaint::new("nothing was removed", "answer `y` to go on"))
    }
}
