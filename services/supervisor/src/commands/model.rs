//! `ibid model import`.

use std::error::Error;
use std::process::ExitCode;

use serde_json::json;

use crate::cli::ModelCommand;
use crate::error::{CommandResult, Complaint};
use crate::output;
use crate::setup::model_folder;

/// Imports a model.
pub(super) fn run(command: ModelCommand, json: bool) -> CommandResult {
    let ModelCommand::Import { folder, name } = command;
    let source = folder.canonicalize().map_err(|error| {
        let folder = folder.display();
        Complaint::new(format!("cannot read `{folder}`: {error}"), "check the path")
    })?;
    let name = name
        .or_else(|| Some(source.file_name()?.to_string_lossy().into_owned()))
        .unwrap_or_default();
    let into = shared::settings::assets_dir().join(model_folder(&name));
    embedder::import::import_model(&source, &into).map_err(|error| {
        let folder = folder.display();
        Complaint::new(
            format!("cannot import `{folder}`: {}", chain(&error)),
            "give a sentence-transformers folder of the BERT family, with `model.safetensors` or \
             `onnx/model.onnx`",
        )
    })?;
    if json {
        output::json(&json!({ "model": name, "folder": into }))?;
    } else {
        let folder = output::name(&into.display().to_string());
        output::line(format!("model `{name}` is in {folder}"))?;
        output::line(format!(
            "to use it, set `name = \"{name}\"` in section `[model]` of {} and start again",
            shared::settings::config_file().display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// An error with all its causes on one line.
pub(super) fn chain(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}
