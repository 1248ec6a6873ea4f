//! The data folder, looked at before anything else: in a container it is a volume, which may
//! belong to another user.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::process::{getegid, geteuid};

/// A data folder that this process cannot use.
#[derive(Debug, thiserror::Error)]
#[error(
    "user {user} cannot write the data folder `{}`{}; {}",
    .path.display(),
    .owner.map(|owner| format!(", which belongs to user {owner}")).unwrap_or_default(),
    remedy(.path, .user, *.owner)
)]
pub struct DataFolderError {
    /// The folder.
    path: PathBuf,
    /// Who we are, `uid:gid`.
    user: String,
    /// Who it belongs to, where it is there.
    owner: Option<u32>,
    /// Why.
    #[source]
    source: io::Error,
}

fn remedy(path: &Path, user: &str, owner: Option<u32>) -> String {
    let path = path.display();
    let ours = user.split(':').next().and_then(|uid| uid.parse().ok());
    match owner {
        Some(owner) if Some(owner) == ours => format!(
            "check that it is not mounted read-only, that its disk has room, and its mode \
             (`chmod u+rwx {path}`)"
        ),
        Some(owner) => {
            let or = if owner == 0 {
                String::new()
            } else {
                format!(", or run the service as its owner (in compose.yaml: `user: \"{owner}\"`)")
            };
            format!("run `chown -R {user} {path}`, for a container on the folder mounted there{or}")
        }
        None => format!("make it, and run `chown -R {user} {path}`, or set IBID_DATA to another"),
    }
}

/// Makes the folder if need be, and writes a file in it that is removed again.
///
/// # Errors
/// When it cannot be made or written: path, user, owner and the remedy.
pub fn ensure_writable(path: &Path) -> Result<(), DataFolderError> {
    let probe = path.join(format!(".write-test-{}", uuid::Uuid::now_v7()));
    let tried = std::fs::create_dir_all(path)
        .and_then(|()| File::create_new(&probe))
        .and_then(|_file| std::fs::remove_file(&probe));
    tried.map_err(|source| DataFolderError {
        path: path.to_owned(),
        user: format!("{}:{}", geteuid().as_raw(), getegid().as_raw()),
        owner: std::fs::metadata(path).ok().map(|folder| folder.uid()),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(path: &Path) -> DataFolderError {
        ensure_writable(path).unwrap_err()
    }

    #[test]
    fn a_folder_is_made_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("new/data");
        ensure_writable(&data).unwrap();
        ensure_writable(&data).unwrap();
        assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0);
    }

    /// `/sys` takes no new files, not even from root, whom these tests may run as.
    #[test]
    fn who_cannot_write_is_told_path_user_and_remedy() {
        let text = error(Path::new("/sys")).to_string();
        let uid = geteuid().as_raw();
        assert!(
            text.contains("`/sys`") && text.contains(&format!("user {uid}:")),
            "{text}"
        );
        assert!(text.contains("belongs to user 0"), "{text}");
        let text = error(Path::new("/proc/none/data")).to_string();
        assert!(text.contains("IBID_DATA"), "{text}");
    }

    #[test]
    fn the_remedy_fits_the_owner() {
        let check = |owner, part: &str, not: &str| {
            let text = remedy(Path::new("/data"), "10001:10001", owner);
            assert!(text.contains(part), "{text}");
            assert!(!text.contains(not), "{text}");
        };
        check(Some(0), "chown -R 10001:10001 /data", "user:");
        check(Some(1000), "user: \"1000\"", "chmod");
        check(Some(10001), "read-only", "chown");
        check(None, "IBID_DATA", "user:");
    }
}
