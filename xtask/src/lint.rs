//! `cargo xtask lint`: what a reviewer should not have to say.

use anyhow::Result;

use crate::run::{cargo, run as run_command, say, succeeds};
use crate::tidy;

/// Formatting, clippy with warnings as errors, the house's rules, and dependencies.
pub(crate) fn run() -> Result<()> {
    run_command(cargo().args(["fmt", "--all", "--check"]))?;
    run_command(cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))?;
    tidy::run()?;
    if succeeds(cargo().args(["deny", "--version"])) {
        run_command(cargo().args(["deny", "check", "bans", "licenses", "sources"]))
    } else {
        say("skipped: licences of dependencies: cargo-deny is not installed");
        Ok(())
    }
}
