//! `ibid doctor`: whether this machine has what Ibid needs, line by line, with or without a
//! running Ibid.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use shared::settings;

use super::{service, setup, success_if};
use crate::client::Gateway;
use crate::error::CommandResult;
use crate::output::{self, style};
use crate::setup::stamp::Stamps;
use crate::setup::{Setup, model_folder};
use crate::supervise::endpoint::{Endpoint, run_folder};

/// What documents, indexes and the bus need to begin with.
const FREE_BYTES: u64 = 2 << 30;
const PYTHON_WITHIN: Duration = Duration::from_secs(20);

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    what: String,
    ok: bool,
    /// What was found.
    found: String,
    /// What to do when it is not well.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Check {
    fn new(what: impl Into<String>, found: Result<String, (String, String)>) -> Self {
        let what = what.into();
        match found {
            Ok(found) => Self {
                what,
                ok: true,
                found,
                remedy: None,
            },
            Err((found, remedy)) => Self {
                what,
                ok: false,
                found,
                remedy: Some(remedy),
            },
        }
    }
}

/// Looks at everything; fails when something is not well.
pub(super) async fn run(json: bool) -> CommandResult {
    let setup = setup::builtin()?;
    let data = settings::data_dir();
    let mut checks = vec![settings_hold()];
    checks.extend(parts(&setup));
    checks.push(python(&setup.pip.python, &setup).await);
    checks.push(writable("data folder", &data, "IBID_DATA"));
    checks.push(free_space(&data));
    checks.push(port(&data).await);
    let good = checks.iter().all(|check| check.ok);
    if json {
        output::json(&json!({ "ok": good, "checks": checks }))?;
        return Ok(success_if(good));
    }
    for check in &checks {
        let word = if check.ok {
            style().green().apply_to("OK  ")
        } else {
            style().red().bold().apply_to("FAIL")
        };
        output::line(format!("{word} {}: {}", check.what, check.found))?;
        if let Some(remedy) = &check.remedy {
            output::line(format!("     {remedy}"))?;
        }
    }
    Ok(success_if(good))
}

fn settings_hold() -> Check {
    let file = settings::config_file();
    let found = match service::check_settings() {
        Ok(()) if file.is_file() => Ok(format!("{} and the environment hold", file.display())),
        Ok(()) => Ok("defaults and the environment hold".to_owned()),
        Err(error) => Err((error.to_string(), "correct it, then start again".to_owned())),
    };
    Check::new("settings", found)
}

/// Every file, hashed; and the models made of them.
fn parts(setup: &Setup) -> Vec<Check> {
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
                output::count(part.files.len() as u64, "file")
            )),
            Some(bad) => Err((bad, remedy())),
        };
        checks.push(Check::new(name, found));
    }
    let model = settings::load::<settings::Model>("model").unwrap_or_default();
    let folder = setup.assets.join(model_folder(&model.name));
    let found = if folder.join("model.json").is_file() {
        Ok(format!("in {}", folder.display()))
    } else {
        let remedy = "run `ibid setup`, or `ibid model import DIR` for a model of your own";
        Err((format!("not in {}", folder.display()), remedy.to_owned()))
    };
    checks.push(Check::new(format!("model {}", model.name), found));
    checks
}

/// Python is only needed to fetch parts.
async fn python(python: &Path, setup: &Setup) -> Check {
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

fn writable(what: &str, folder: &Path, variable: &str) -> Check {
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

fn free_space(folder: &Path) -> Check {
    let found = match free_bytes(folder) {
        Ok(free) if free >= FREE_BYTES => Ok(format!("{} MiB free", output::thousands(free >> 20))),
        Ok(free) => Err((
            format!(
                "only {} MiB free in {}",
                output::thousands(free >> 20),
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

/// The port is ours, or free.
async fn port(data: &Path) -> Check {
    if let Some(endpoint) = Endpoint::find(data) {
        let found = if Gateway::at(&endpoint.url).is_alive().await {
            Ok(format!("Ibid answers at {}", endpoint.url))
        } else {
            Err((
                format!(
                    "Ibid (process {}) does not answer at {}",
                    endpoint.pid, endpoint.url
                ),
                format!(
                    "see its log, or end it and remove {}",
                    endpoint_file(data).display()
                ),
            ))
        };
        return Check::new("port", found);
    }
    let gateway: gateway::Settings = settings::load("gateway").unwrap_or_default();
    let port = settings::variable("IBID_PORT").and_then(|text| text.parse().ok());
    let address = SocketAddr::new(gateway.address, port.unwrap_or(gateway.port));
    let found = match TcpListener::bind(address) {
        Ok(_free) => Ok(format!("{address} is free")),
        Err(error) => Err((
            format!("{address} cannot be used: {error}"),
            "end the program that has it, or set IBID_PORT to another".to_owned(),
        )),
    };
    Check::new("port", found)
}

fn endpoint_file(data: &Path) -> PathBuf {
    run_folder(data).join("endpoint.json")
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn missing_parts_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let setup = Setup {
            assets: folder.path().to_owned(),
            ..setup::builtin().unwrap()
        };
        let checks = parts(&setup);
        assert_eq!(checks.len(), setup.pins.parts.len() + 1);
        for check in checks {
            assert!(
                !check.ok && check.remedy.unwrap().contains("ibid setup"),
                "{}",
                check.what
            );
        }
    }
}
