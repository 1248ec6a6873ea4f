//! `ibid doctor`: whether this machine has what Ibid needs, line by line, with or without a
//! running Ibid.

mod answering;
mod machine;
mod running;

use std::path::Path;

use serde::Serialize;
use serde_json::json;
use shared::contract::ErrorBody;
use shared::settings;

use super::{service, setup, success_if};
use crate::cli::DoctorArgs;
use crate::client::Gateway;
use crate::error::{CommandResult, Complaint};
use crate::output::{self, style};

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

    fn tell(&self) -> Result<(), Complaint> {
        let word = if self.ok {
            style().green().apply_to("OK  ")
        } else {
            style().red().bold().apply_to("FAIL")
        };
        let found = format!("{}: {}", self.what, self.found);
        output::line(format!("{word} {}", output::text(&found)))?;
        if let Some(remedy) = &self.remedy {
            output::line(format!("     {}", output::text(remedy)))?;
        }
        Ok(())
    }
}

/// An error of the services as a finding.
fn bad(error: ErrorBody) -> (String, String) {
    (error.message, error.remedy)
}

/// Tells each check as soon as it is made.
struct Checks {
    json: bool,
    all: Vec<Check>,
}

impl Checks {
    fn add(&mut self, check: Check) -> Result<(), Complaint> {
        if !self.json {
            check.tell()?;
        }
        self.all.push(check);
        Ok(())
    }

    fn add_all(&mut self, checks: Vec<Check>) -> Result<(), Complaint> {
        checks.into_iter().try_for_each(|check| self.add(check))
    }
}

/// Looks at everything; fails when something is not well.
pub(super) async fn run(args: &DoctorArgs, json: bool) -> CommandResult {
    let setup = setup::builtin()?;
    let data = settings::data_dir();
    let gateway = Gateway::find(&data);
    let mut checks = Checks {
        json,
        all: Vec::new(),
    };
    checks.add(settings_hold())?;
    // A section that does not hold is told above.
    let model = settings::load("model").unwrap_or_default();
    checks.add_all(machine::parts(&setup, &model))?;
    checks.add(machine::python(&setup.pip.python, &setup).await)?;
    checks.add(machine::writable("data folder", &data, "IBID_DATA"))?;
    checks.add(machine::free_space(&data))?;
    checks.add(machine::free_memory(Path::new("/proc"), gateway.is_ok()))?;
    checks.add(running::port(&data).await)?;
    checks.add_all(answering::checks(&setup.assets).await)?;
    match gateway {
        Ok(gateway) => {
            checks.add_all(running::services(&gateway).await)?;
            if args.generate {
                running::generate(&gateway, &mut checks).await?;
            }
        }
        Err(Complaint::Told { what, remedy, .. }) if args.generate => {
            let what = format!("`--generate` needs a running Ibid: {what}");
            checks.add(Check::new("generate", Err((what, remedy))))?;
        }
        Err(_not_running) => {}
    }
    let good = checks.all.iter().all(|check| check.ok);
    if json {
        output::json(&json!({ "ok": good, "checks": checks.all }))?;
    }
    Ok(success_if(good))
}

fn settings_hold() -> Check {
    let file = settings::config_file();
    let found = match service::check_settings() {
        Ok(()) if file.is_file() => Ok(format!("{} and the environment hold", file.display())),
        Ok(()) => Ok("defaults and the environment hold".to_owned()),
        Err(error) => Err((
            error.to_string(),
            "correct it, then start again; `ibid config` shows all settings".to_owned(),
        )),
    };
    Check::new("settings", found)
}
