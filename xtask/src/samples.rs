//! `cargo xtask samples`: the PDF and Word files under `samples/` from their sources.

use anyhow::Result;

use crate::run::{cargo, run as run_command};

/// Writes them; `git diff` shows what changed.
pub(crate) fn run() -> Result<()> {
    run_command(cargo().args([
        "run",
        "--quiet",
        "-p",
        "ibid-tests",
        "--bin",
        "write-samples",
    ]))
}
