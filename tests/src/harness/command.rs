//! Commands that bring an Ibid of their own.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::process::{Child, Command};

use super::up::CliOutput;
use crate::workspace;

/// `ibid ARGUMENTS` for a user whose data folder is `data`.
///
/// # Errors
/// The program is not built.
fn command(data: &Path, arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new(workspace::ibid()?);
    command
        .args(arguments)
        .env("IBID_DATA", data)
        .env("IBID_ASSETS", workspace::assets())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    Ok(command)
}

/// Starts `ibid ARGUMENTS`.
///
/// # Errors
/// The program is not built, or cannot be started.
pub fn start(data: &Path, arguments: &[&str]) -> Result<Child> {
    let mut command = command(data, arguments)?;
    command.spawn().context("starting `ibid`")
}

/// Waits for the end of a command, `limit` at most.
///
/// # Errors
/// It takes longer.
pub async fn output(child: Child, limit: Duration) -> Result<CliOutput> {
    let output = tokio::time::timeout(limit, child.wait_with_output())
        .await
        .context("the command hangs")??;
    Ok(CliOutput {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}
