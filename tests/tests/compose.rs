//! compose.yaml on a real container engine, where one answers.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use ibid_tests::workspace;

/// `tests/compose/run.sh`: up, add, ask, kill containers, still right, down.
#[test]
fn containers_answer_and_survive_being_killed() -> Result<()> {
    let script = workspace::root().join("tests/compose/run.sh");
    let output = Command::new("bash")
        .arg(script)
        .env("IBID_BIN", workspace::ibid()?)
        .env("IBID_ASSETS", workspace::assets())
        .output()
        .context("starting bash")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    println!("{said}{complaints}");
    ensure!(
        output.status.success(),
        "run.sh ended with {}",
        output.status
    );
    let last = said.lines().last().unwrap_or_default();
    ensure!(
        last.ends_with("PASS") || last.starts_with("skipped: "),
        "run.sh ended without a verdict"
    );
    Ok(())
}
