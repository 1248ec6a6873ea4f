//! `ibid completions`.

use std::process::ExitCode;

use crate::cli::{self, CompletionsArgs};
use crate::error::CommandResult;
use crate::output;

/// Prints the script for a shell.
pub(super) fn run(args: &CompletionsArgs) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::visible(), "ibid", &mut script);
    output::piece(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
