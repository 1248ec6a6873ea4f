//! The `ibid` program: it brings the services up and down ([`supervise`]), fetches what they run
//! on ([`setup`]), takes files in ([`intake`]), talks to the gateway for people ([`commands`]), and
//! judges retrieval ([`evaluation`]).
//!
//! It links every service and starts each as a child of itself, so that one file is the whole
//! product.

pub mod cli;
pub mod client;
pub mod commands;
pub mod error;
pub mod evaluation;
pub mod files;
pub mod intake;
pub mod ledger;
pub mod memory;
pub mod output;
pub mod screen;
pub mod setup;
pub mod supervise;

use std::ffi::OsStr;
use std::process::ExitCode;

use clap::error::ErrorKind;

use crate::cli::Cli;
use crate::error::Complaint;

/// Exit code for a wrong command line, as of sysexits.
const USAGE: u8 = 64;

/// Runs the command that the command line names.
pub fn run() -> ExitCode {
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let json = cli.json;
    match commands::run(cli) {
        Ok(code) => code,
        Err(Complaint::OutputClosed) => ExitCode::SUCCESS,
        Err(complaint) => {
            screen::complain(&complaint, json);
            ExitCode::FAILURE
        }
    }
}

/// A wrong command line, or a request for help.
fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // Nobody is left to hear of a closed output.
        error.print().ok();
        return ExitCode::SUCCESS;
    }
    let is_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if wants_json() && !is_help {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        let what = first.strip_prefix("error: ").unwrap_or(first);
        screen::complain(&Complaint::new(what, "see `ibid --help`"), true);
    } else {
        error.print().ok();
    }
    ExitCode::from(USAGE)
}

/// Whether `--json` was given on a line that could not be read.
fn wants_json() -> bool {
    std::env::args_os()
        .take_while(|word| word != OsStr::new("--"))
        .any(|word| word == OsStr::new("--json"))
}
