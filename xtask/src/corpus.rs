//! `cargo xtask corpus FOLDER`: a judged folder of documents through the whole product.

use anyhow::Result;

use crate::run::{built, cargo, run as run_command};

/// Builds the product, feeds it the folder, and judges what it has read.
pub(crate) fn run(folder: &str) -> Result<()> {
    run_command(cargo().args(["build", "-p", "ibid", "-p", "ibid-tests"]))?;
    let built = built()?;
    // Relative to where the user stands, which the program is not started in.
    let folder = std::path::absolute(folder)?;
    let mut command = std::process::Command::new(built.join("measure-corpus"));
    command.arg(folder).env("IBID_BIN", built.join("ibid"));
    run_command(&mut command)
}
