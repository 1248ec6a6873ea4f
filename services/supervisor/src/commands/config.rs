//! `ibid config`: every setting as it is in force, and where it comes from.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use shared::bus::BusSettings;
use shared::settings::{
    self, Model, Network, Origin, SECTIONS, SettingView, SettingsError, Shown, variable,
};
use shared::telemetry::TelemetrySettings;

use crate::cli::ConfigArgs;
use crate::error::{CommandResult, Complaint};
use crate::output::{self, name, style};
use crate::supervise::fleet;

/// Short for `IBID_GATEWAY__PORT`, and before it.
const PORT: &str = "IBID_PORT";

/// Shows the settings; what does not hold is told after all that does.
pub(super) fn run(args: &ConfigArgs, json: bool) -> CommandResult {
    let wanted = |section: &&str| args.section.as_deref().is_none_or(|one| one == *section);
    let (mut views, mut wrong) = (Vec::new(), None);
    for section in SECTIONS.into_iter().filter(wanted) {
        match of(section) {
            Ok(section) => views.extend(section),
            Err(error) => wrong = wrong.or(Some(error)),
        }
    }
    let folders = folders();
    if json {
        output::json(&json!({ "folders": folders, "settings": views }))?;
    } else {
        if args.section.is_none() {
            tell_folders(&folders)?;
        }
        tell(&views)?;
    }
    match wrong {
        Some(error) => Err(error.into()),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// A folder or file that Ibid uses.
#[derive(Debug, Serialize)]
struct Folder {
    what: &'static str,
    path: PathBuf,
    exists: bool,
    origin: Origin,
}

fn folders() -> Vec<Folder> {
    let folder = |what, path: PathBuf, name: &str| Folder {
        what,
        exists: path.exists(),
        path,
        origin: match variable(name) {
            Some(_) => Origin::Variable(name.to_owned()),
            None => Origin::Default,
        },
    };
    vec![
        folder("data", settings::data_dir(), "IBID_DATA"),
        folder("settings", settings::config_file(), "IBID_CONFIG"),
        folder("assets", settings::assets_dir(), "IBID_ASSETS"),
    ]
}

fn tell_folders(folders: &[Folder]) -> Result<(), Complaint> {
    let row = |folder: &Folder| {
        let missing = if folder.exists { "" } else { " (not there)" };
        let path = name(&folder.path.to_string_lossy());
        vec![
            folder.what.to_owned(),
            format!("{path}{missing}"),
            origin(&folder.origin),
        ]
    };
    output::table(&folders.iter().map(row).collect::<Vec<_>>())?;
    Ok(output::line("")?)
}

fn tell(views: &[SettingView]) -> Result<(), Complaint> {
    let row = |view: &SettingView| {
        vec![
            format!("{}.{}", view.section, view.key),
            name(&view.value.to_string()),
            origin(&view.origin),
        ]
    };
    Ok(output::table(&views.iter().map(row).collect::<Vec<_>>())?)
}

/// What is not a default stands out.
fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Default => style().dim().apply_to("default").to_string(),
        Origin::File(path) => style()
            .cyan()
            .apply_to(name(&path.to_string_lossy()))
            .to_string(),
        Origin::Variable(name) => style().cyan().apply_to(name).to_string(),
    }
}

/// All settings of one section.
fn of(section: &str) -> Result<Vec<SettingView>, SettingsError> {
    match section {
        "bus" => explain::<BusSettings>(section),
        "network" => explain::<Network>(section),
        "telemetry" => explain::<TelemetrySettings>(section),
        "model" => explain::<Model>(section),
        "parser" => explain::<parser::Settings>(section),
        "chunker" => explain::<chunker::Settings>(section),
        "embedder" => explain::<embedder::Settings>(section),
        "indexer" => explain::<indexer::Settings>(section),
        "query" => explain::<query::Settings>(section),
        "generation" => explain::<query::GenerationSettings>(section),
        "gateway" => explain::<gateway::Settings>(section).map(|mut views| {
            if let Some(port) = variable(PORT) {
                replace_port(&mut views, &port);
            }
            views
        }),
        "supervisor" => explain::<fleet::Settings>(section),
        _ => Ok(Vec::new()),
    }
}

fn explain<T>(section: &str) -> Result<Vec<SettingView>, SettingsError>
where
    T: DeserializeOwned + Serialize + Default,
{
    settings::explain::<T>(section)
}

/// The variable that goes before the setting.
fn replace_port(views: &mut [SettingView], port: &str) {
    let number = port
        .parse::<u16>()
        .map_or_else(|_| json!(port), |port| json!(port));
    for view in views.iter_mut().filter(|view| view.key == "port") {
        view.value = Shown::Plain(number.clone());
        view.origin = Origin::Variable(PORT.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_is_shown() {
        for section in SECTIONS {
            let views = of(section).unwrap();
            assert!(!views.is_empty(), "{section}");
            assert!(views.iter().all(|view| view.section == section));
        }
    }

    #[test]
    fn the_short_variable_goes_before_the_setting() {
        let mut views = settings::explain::<gateway::Settings>("gateway").unwrap();
        replace_port(&mut views, "8080");
        let port = views.iter().find(|view| view.key == "port").unwrap();
        assert_eq!(port.value.to_string(), "8080");
        assert_eq!(port.origin, Origin::Variable(PORT.to_owned()));
    }
}
