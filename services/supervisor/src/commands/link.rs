//! `ibid link`.

use std::process::ExitCode;

use serde_json::json;

use super::gateway;
use crate::error::CommandResult;
use crate::output;

/// Prints the page's address, with the token if there is one.
pub(super) fn run(json: bool) -> CommandResult {
    let link = gateway()?.link();
    if json {
        output::json(&json!({ "url": link }))?;
    } else {
        output::line(link)?;
    }
    Ok(ExitCode::SUCCESS)
}
