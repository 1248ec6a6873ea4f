//! `ibid add`.

use shared::contract::CollectionName;

use super::{gateway, password, remove, success_if};
use crate::cli::AddArgs;
use crate::client::{Gateway, Listing};
use crate::error::{CommandResult, Complaint};
use crate::intake::{self, Request};
use crate::output::{self, count};
use crate::screen::Screen;

/// Takes files in, and waits until they can be searched.
pub(super) async fn run(args: AddArgs, json: bool) -> CommandResult {
    let gateway = gateway()?;
    // Asked for first: nobody sits by a long search of files.
    let password = password::given(&args.password)?;
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
        password,
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
        remove::confirm(&format!(
            "Remove {documents_text} of collection `{collection}`?"
        ))?;
    }
    let ids = documents.into_iter().map(|document| document.id).collect();
    remove::all(gateway, ids, screen).await?;
    screen.line(format!(
        "removed {documents_text} of collection `{collection}`"
    ));
    Ok(())
}
