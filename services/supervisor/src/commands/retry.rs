//! `ibid retry`.

use std::process::ExitCode;

use shared::contract::Retry;

use super::{find_document, gateway};
use crate::cli::RetryArgs;
use crate::error::CommandResult;
use crate::output::{self, count};

/// Reads documents again.
pub(super) async fn run(args: RetryArgs, json: bool) -> CommandResult {
    let gateway = gateway()?;
    let retry = match args.document {
        None if args.outdated => Retry::Outdated,
        None => Retry::AllFailed,
        Some(wanted) => {
            let all = find_document::all(&gateway, None).await?;
            Retry::Document(find_document::one(&all, &wanted)?.id.clone())
        }
    };
    let retried = gateway.retry(&retry).await?;
    if json {
        output::json(&retried)?;
    } else if retried.documents.is_empty() {
        output::line(if retry == Retry::Outdated {
            "every document is as this version of the program reads it; there is nothing to do"
        } else {
            "no document has failed; there is nothing to try again"
        })?;
    } else {
        let text = count(retried.documents.len() as u64, "document");
        output::line(format!("{text} queued again; `ibid list` shows the state"))?;
    }
    Ok(ExitCode::SUCCESS)
}
