//! Running programs, and saying so.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A line for whoever runs the command. On standard error, in order with what the programs say.
#[expect(clippy::print_stderr, reason = "a command line tool talks to its user")]
pub(crate) fn say(line: &str) {
    eprintln!("{line}");
}

/// The workspace's root.
pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// The folder that cargo builds into, of the profile this program was built with.
///
/// # Errors
/// This program's own path is not known.
pub(crate) fn built() -> Result<PathBuf> {
    let program = std::env::current_exe().context("where is this program?")?;
    Ok(program.parent().unwrap_or(root()).to_owned())
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Says what is run, runs it in the workspace's root, and wants it to succeed.
///
/// # Errors
/// It does not start, or fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let text = describe(command);
    say(&format!("$ {text}"));
    let status = command
        .current_dir(root())
        .status()
        .with_context(|| format!("starting `{text}`"))?;
    if !status.success() {
        bail!("`{text}` ended with {status}");
    }
    Ok(())
}

/// Whether the command succeeds; its output is thrown away.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .current_dir(root())
        .output()
        .is_ok_and(|output| output.status.success())
}

fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    let short = |word: &std::ffi::OsStr| {
        let word = word.to_string_lossy();
        // A script given as an argument is no part of the line.
        if word.contains('\n') {
            "…".to_owned()
        } else {
            word.into_owned()
        }
    };
    words.map(short).collect::<Vec<_>>().join(" ")
}
