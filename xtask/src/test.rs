//! `cargo xtask test`: everything that a test needs is built or fetched first; then nothing is
//! fetched any more.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::machine::{self, Isolation};
use crate::run::{built, cargo, root, run as run_command, say, succeeds};

/// What `tests/python/chunker.py` imports. Without their own dependencies, which it does not use.
const PYTHON_PACKAGES: [&str; 2] = ["nats-py==2.16.0", "tokenizers==0.23.3"];

/// Builds, fetches, tests. `arguments` go to the test runner.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    build()?;
    let ibid = built()?.join("ibid");
    setup(&ibid)?;
    let python = root().join("target/python");
    python_packages(&python)?;

    for lack in machine::lacks() {
        say(&format!("skipped: {lack}: not on this machine"));
    }
    let isolation = Isolation::find();
    say(match isolation {
        Some(_) => "network: the tests reach nothing but this machine",
        None => "network: no namespace can be made here, the tests run in the machine's own",
    });
    let runner = runner(arguments);
    let mut command = match isolation {
        Some(isolation) => {
            let mut command = isolation.command(runner.get_program());
            command.args(runner.get_args());
            command
        }
        None => runner,
    };
    command
        .env("IBID_BIN", &ibid)
        .env("IBID_TEST_PYTHONPATH", &python)
        .env("CARGO_NET_OFFLINE", "true")
        // A failed test says what it waited for; where in the runtime it did is no help.
        .env("RUST_LIB_BACKTRACE", "0");
    run_command(&mut command)
}

/// One build for everything: what the runner tests is what was built here.
fn build() -> Result<()> {
    run_command(cargo().args(["build", "--workspace", "--all-targets"]))
}

/// The program fetches its own runtime parts; all of them are checked against its lock file.
fn setup(ibid: &Path) -> Result<()> {
    let mut setup = Command::new(ibid);
    run_command(setup.args(["setup", "--with", "generator"]))
        .context("the tests need the runtime parts")
}

/// Installs [`PYTHON_PACKAGES`] once; a stamp says which.
fn python_packages(folder: &Path) -> Result<()> {
    let stamp = folder.join("installed");
    let wanted = PYTHON_PACKAGES.join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
    ]);
    pip.args(["--root-user-action=ignore", "--upgrade", "--target"])
        .arg(folder);
    run_command(pip.args(PYTHON_PACKAGES)).context("the chunker in Python needs its packages")?;
    std::fs::write(stamp, wanted).context("writing the stamp of the Python packages")
}

/// nextest when it is installed, else cargo's own runner.
fn runner(arguments: &[String]) -> Command {
    let ci = std::env::var_os("CI").is_some();
    let mut command = cargo();
    if succeeds(cargo().args(["nextest", "--version"])) {
        command.args([
            "nextest",
            "run",
            "--workspace",
            "--no-fail-fast",
            "--profile",
        ]);
        command.arg(if ci { "ci" } else { "default" });
    } else {
        say("nextest is not installed, so cargo runs the tests");
        command.args([
            "test",
            "--workspace",
            "--no-fail-fast",
            "--lib",
            "--bins",
            "--tests",
        ]);
    }
    command.args(arguments);
    command
}
