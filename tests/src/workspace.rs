//! Where things lie around the workspace.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// The workspace's root.
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_owned()
}

/// The `ibid` program: `IBID_BIN`, or the one that was built beside this test.
///
/// # Errors
/// There is none; the text says how to build it.
pub fn ibid() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("IBID_BIN") {
        return Ok(PathBuf::from(path));
    }
    let test = std::env::current_exe()?;
    // target/debug/deps/kill-0123456789abcdef → target/debug/ibid
    let built = test
        .parent()
        .and_then(Path::parent)
        .map(|folder| folder.join("ibid"));
    match built {
        Some(path) if path.is_file() => Ok(path),
        _ => bail!(
            "the `ibid` program is not built; run `cargo xtask test`, or `cargo build -p ibid`"
        ),
    }
}

/// The fetched runtime parts: `IBID_ASSETS`, or the user's cache.
pub fn assets() -> PathBuf {
    let home = || {
        std::env::var_os("HOME")
            .map(PathBuf::from)
            .unwrap_or_default()
    };
    std::env::var_os("IBID_ASSETS").map_or_else(|| home().join(".cache/ibid"), PathBuf::from)
}

/// The folder of the Python packages that the test command installs.
pub fn python_packages() -> PathBuf {
    std::env::var_os("IBID_TEST_PYTHONPATH")
        .map_or_else(|| root().join("target/python"), PathBuf::from)
}

/// The shared corpus: `IBID_CORPUS`, or `../shared/corpus` beside the workspace. `None` when it
/// is not there.
pub fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("IBID_CORPUS")
        .map_or_else(|| root().join("../shared/corpus"), PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// The corpus, or a line on why the test has nothing to do.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub fn corpus_or_skip(test: &str) -> Option<PathBuf> {
    let corpus = corpus();
    if corpus.is_none() {
        eprintln!("skipped: {test}: no corpus; set IBID_CORPUS to its folder");
    }
    corpus
}
