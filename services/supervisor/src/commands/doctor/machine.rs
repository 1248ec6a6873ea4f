//! What lies on this machine: parts, Python, folders, disk, memory.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use shared::settings::Model;

use super::super::model;
use super::Check;
use crate::memory;
use crate::output::{count, thousands};
use crate::setup::Setup;
use crate::setup::pins::Part;
use crate::setup::stamp::Stamps;

/// What documents, indexes and the bus need to begin with.
const FREE_BYTES: u64 = 2 << 30;
/// What all services take together, with room for reading a large document.
const FREE_MEMORY_MIB: u64 = 600;
const PYTHON_WITHIN: Duration = Duration::from_secs(20);

/// Every file, hashed; and the models made of them.
pub(super) fn parts(setup: &Setup, model: &Model) -> Vec<Check> {
    let mut stamps = Stamps::load(&setup.assets);
    let mut checks = Vec::new();
    for part in &setup.pins.parts {
        let name = format!("{} {}", part.name, part.version);
        let bad = part.files.iter().find_map(|file| {
            let path = part.folder.join(&file.path);
            match stamps.holds_by_hash(&path, file) {
                Ok(true) => None,
                Ok(false) => Some(format!(
                    "{} is missing or not the pinned file",
                    path.display()
                )),
                Err(error) => Some(format!("{} cannot be read: {error}", path.display())),
            }
        });
        let remedy = || "run `ibid setup`".to_owned();
        let found = match bad {
            None => Ok(format!(
                "{} of the pinned hash",
                count(part.files.len() as u64, "file")
            )),
            Some(_) if only_its_model_is_kept(setup, part) => {
                Ok("not kept; the model made of it is there".to_owned())
            }
            Some(bad) => Err((bad, remedy())),
        };
        checks.push(Check::new(name, found));
    }
    checks.push(embedding(setup, model));
    checks
}

/// Images of containers leave out what a model was made of.
fn only_its_model_is_kept(setup: &Setup, part: &Part) -> bool {
    let is_made = part.model.as_ref().is_some_and(|name| {
        let made = Model {
            name: name.clone(),
            ..Model::default()
        };
        model::needed(&made, &setup.assets).is_file()
    });
    let folder = setup.assets.join(&part.folder);
    let is_gone = || {
        part.files
            .iter()
            .all(|file| !folder.join(&file.path).exists())
    };
    is_made && is_gone()
}

/// The embedding model; of one on a server only the tokenizer lies here, and whether the server
/// answers stands in the notes of the running embedder.
fn embedding(setup: &Setup, model: &Model) -> Check {
    let file = model::needed(model, &setup.assets);
    let found = match model::check(model, &setup.assets) {
        Ok(()) if model.on_server() => Ok(format!(
            "at {}; {} counts its tokens",
            model.server_url(),
            file.display()
        )),
        Ok(()) => Ok(format!("in {}", file.parent().unwrap_or(&file).display())),
        Err(_missing) => Err((
            format!("{} is missing", file.display()),
            "run `ibid setup`, or `ibid model import DIR` for a model of your own".to_owned(),
        )),
    };
    Check::new(format!("model {}", model.name), found)
}

/// Whether everything fits into memory; an Ibid that runs has taken its share already.
pub(super) fn free_memory(proc: &Path, is_running: bool) -> Check {
    let found = match memory::available_mib(proc) {
        None => Ok("not known".to_owned()),
        Some(free) if is_running || free >= FREE_MEMORY_MIB => {
            Ok(format!("{} MiB free", thousands(free)))
        }
        Some(free) => Err((
            format!("only {} MiB free", thousands(free)),
            format!("end other programs; Ibid takes up to {FREE_MEMORY_MIB} MiB"),
        )),
    };
    Check::new("memory", found)
}

/// Python is only needed to fetch parts.
pub(super) async fn python(python: &Path, setup: &Setup) -> Check {
    let asked = tokio::process::Command::new(python)
        .args(["-m", "pip", "--version"])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let answer = tokio::time::timeout(PYTHON_WITHIN, asked).await;
    let found = match answer {
        Ok(Ok(output)) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            Ok(text
                .split(" from ")
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned())
        }
        _ if matches!(setup.is_complete(), Ok(true)) => {
            Ok("not there, and not needed: all parts are".to_owned())
        }
        _ => Err((
            format!(
                "`{} -m pip` does not run, and parts are missing",
                python.display()
            ),
            "install Python 3 with pip (on Debian: `apt-get install python3-pip`)".to_owned(),
        )),
    };
    Check::new("pip", found)
}

pub(super) fn writable(what: &str, folder: &Path, variable: &str) -> Check {
    let tried = std::fs::create_dir_all(folder)
        .and_then(|()| tempfile::NamedTempFile::new_in(folder).map(drop));
    let found = match tried {
        Ok(()) => Ok(format!("{} is writable", folder.display())),
        Err(error) => Err((
            format!("{} is not writable: {error}", folder.display()),
            format!("correct its permissions, or set {variable} to another folder"),
        )),
    };
    Check::new(what, found)
}

pub(super) fn free_space(folder: &Path) -> Check {
    let found = match free_bytes(folder) {
        Ok(free) if free >= FREE_BYTES => Ok(format!("{} MiB free", thousands(free >> 20))),
        Ok(free) => Err((
            format!(
                "only {} MiB free in {}",
                thousands(free >> 20),
                folder.display()
            ),
            format!(
                "make room for at least {} MiB, or set IBID_DATA",
                FREE_BYTES >> 20
            ),
        )),
        Err(error) => Err((error.to_string(), "check the data folder".to_owned())),
    };
    Check::new("disk", found)
}

fn free_bytes(folder: &Path) -> io::Result<u64> {
    let told = rustix::fs::statvfs(folder)?;
    Ok(told.f_bavail.saturating_mul(told.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::super::super::setup;
    use super::*;
    use shared::settings::ModelProvider;

    #[test]
    fn a_folder_that_cannot_be_written_is_told_with_its_remedy() {
        let folder = tempfile::tempdir().unwrap();
        assert!(writable("data folder", folder.path(), "IBID_DATA").ok);
        let file = folder.path().join("file");
        std::fs::write(&file, "x").unwrap();
        let check = writable("data folder", &file.join("below"), "IBID_DATA");
        assert!(!check.ok && check.remedy.unwrap().contains("IBID_DATA"));
        assert!(free_bytes(folder.path()).unwrap() > 0);
        assert!(!free_space(&file.join("below")).ok);
    }

    #[test]
    fn little_memory_is_told_unless_ibid_has_taken_it() {
        let proc = tempfile::tempdir().unwrap();
        assert!(free_memory(proc.path(), false).ok);
        let text = "MemTotal: 8000000 kB\nMemAvailable:  204800 kB\n";
        std::fs::write(proc.path().join("meminfo"), text).unwrap();
        let check = free_memory(proc.path(), false);
        assert!(
            !check.ok && check.found.contains("200 MiB"),
            "{}",
            check.found
        );
        assert!(free_memory(proc.path(), true).ok);
    }

    #[test]
    fn missing_parts_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let setup = Setup {
            assets: folder.path().to_owned(),
            ..setup::builtin().unwrap()
        };
        let checks = parts(&setup, &Model::default());
        assert_eq!(checks.len(), setup.pins.parts.len() + 1);
        for check in checks {
            assert!(
                !check.ok && check.remedy.unwrap().contains("ibid setup"),
                "{}",
                check.what
            );
        }
    }

    #[test]
    fn what_a_model_was_made_of_is_not_missed_when_the_model_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let setup = Setup {
            assets: folder.path().to_owned(),
            ..setup::builtin().unwrap()
        };
        let source = setup.pins.parts.iter().find(|part| part.model.is_some());
        let source = source.unwrap();
        let line = || {
            let checks = parts(&setup, &Model::default());
            let name = format!("{} {}", source.name, source.version);
            checks.into_iter().find(|check| check.what == name).unwrap()
        };
        assert!(!line().ok);
        let made = setup
            .assets
            .join("models")
            .join(source.model.as_ref().unwrap());
        std::fs::create_dir_all(&made).unwrap();
        std::fs::write(made.join("model.json"), "{}").unwrap();
        let found = line();
        assert!(found.ok && found.found.contains("not kept"), "{found:?}");

        // Half of it is a mistake.
        let file = setup
            .assets
            .join(&source.folder)
            .join(&source.files.first().unwrap().path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "other").unwrap();
        assert!(!line().ok);
    }

    #[test]
    fn a_model_on_a_server_needs_a_tokenizer_only() {
        let folder = tempfile::tempdir().unwrap();
        let setup = Setup {
            assets: folder.path().to_owned(),
            ..setup::builtin().unwrap()
        };
        let model = Model {
            provider: ModelProvider::Ollama,
            name: "bge-m3".to_owned(),
            ..Model::default()
        };
        let found = embedding(&setup, &model);
        assert!(
            !found.ok && found.found.contains("tokenizer.json"),
            "{found:?}"
        );
        let file = model::needed(&model, &setup.assets);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "{}").unwrap();
        let found = embedding(&setup, &model);
        assert!(
            found.ok && found.found.contains("127.0.0.1:11434"),
            "{found:?}"
        );
        assert_eq!(found.what, "model bge-m3");
    }
}
