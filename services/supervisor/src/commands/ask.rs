//! `ibid ask`.

use std::process::ExitCode;

use shared::contract::Question;

use super::{answer, gateway, scope};
use crate::cli::AskArgs;
use crate::error::CommandResult;

/// Asks, and prints the answer as it comes; with `--json`, one event a line.
pub(super) async fn run(args: AskArgs, json: bool) -> CommandResult {
    let gateway = gateway()?;
    let question = Question {
        text: args.question.join(" "),
        generator: args.model,
        ..scope::question(&gateway, &args.scope).await?
    };
    answer::show(&gateway, &question, json).await?;
    Ok(ExitCode::SUCCESS)
}
