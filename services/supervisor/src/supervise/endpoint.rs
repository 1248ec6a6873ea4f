//! Where a running Ibid is found: `run/endpoint.json` in the data folder, readable by its owner
//! alone, there from the first answer of the gateway to the drain.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::write_durably;

/// How to reach it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// The gateway: page and API.
    pub url: String,
    /// The bus, for more instances of a stage.
    pub bus_url: String,
    /// What the bus asks for.
    pub bus_token: String,
    /// The process of `ibid up`.
    pub pid: u32,
}

/// The folder of a running Ibid's own files.
pub fn run_folder(data: &Path) -> PathBuf {
    data.join("run")
}

/// Held by `ibid up` for as long as it lives.
pub fn lock_file(data: &Path) -> PathBuf {
    run_folder(data).join("lock")
}

fn file(data: &Path) -> PathBuf {
    run_folder(data).join("endpoint.json")
}

impl Endpoint {
    /// Makes it known.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn publish(&self, data: &Path) -> io::Result<()> {
        let bytes = serde_json::to_vec_pretty(self)?;
        write_durably(&file(data), 0o600, |file| file.write_all(&bytes))
    }

    /// Takes it back.
    ///
    /// # Errors
    /// When the file is there and cannot be removed.
    pub fn withdraw(data: &Path) -> io::Result<()> {
        match fs::remove_file(file(data)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The endpoint of the Ibid that runs on `data`; `None` when none runs. A killed one leaves
    /// its file, but not its lock.
    pub fn find(data: &Path) -> Option<Self> {
        let endpoint = serde_json::from_slice(&fs::read(file(data)).ok()?).ok()?;
        let lock = File::open(lock_file(data)).ok()?;
        matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)).then_some(endpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::try_lock;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn found_while_it_runs_and_not_after() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(Endpoint::find(data.path()), None);
        let endpoint = Endpoint {
            url: "http://127.0.0.1:1".to_owned(),
            bus_url: "nats://127.0.0.1:2".to_owned(),
            bus_token: "t".to_owned(),
            pid: std::process::id(),
        };
        let up = try_lock(&lock_file(data.path())).unwrap();
        endpoint.publish(data.path()).unwrap();
        let mode = fs::metadata(file(data.path()))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(Endpoint::find(data.path()), Some(endpoint.clone()));

        // Killed: the file stays, the lock does not.
        drop(up);
        assert_eq!(Endpoint::find(data.path()), None);
        let _up = try_lock(&lock_file(data.path())).unwrap();
        assert_eq!(Endpoint::find(data.path()), Some(endpoint));

        Endpoint::withdraw(data.path()).unwrap();
        Endpoint::withdraw(data.path()).unwrap();
        assert_eq!(Endpoint::find(data.path()), None);
    }
}
