//! The `ibid` program: it brings the services up and down ([`supervise`]), fetches what they run
//! on ([`setup`]), takes files in ([`intake`]), and talks to the gateway for people ([`commands`]).
//!
//! It links every service and starts each as a child of itself, so that one file is the whole
//! product.

pub mod cli;
pub mod client;
pub mod commands;
pub mod error;
pub mod files;
pub mod intake;
pub mod memory;
pub mod output;
pub mod screen;
pub mod setup;
pub mod supervise;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::Cli;
use crate::error::Complaint;

/// Exit code for a wrong command line, as of sysexits.
const USAGE: u8 = 64;

/// Runs the command that the command line names.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody is left to hear of a closed output.
            error.print().ok();
            return if error.use_stderr() {
                ExitCode::from(USAGE)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    match commands::run(cli) {
        Ok(code) => code,
        Err(Complaint::OutputClosed) => ExitCode::SUCCESS,
        Err(complaint) => {
            complain(&complaint);
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "the last word of the program")]
fn complain(complaint: &Complaint) {
    eprintln!(
        "{} {complaint}",
        screen::style().red().bold().apply_to("error:")
    );
}
