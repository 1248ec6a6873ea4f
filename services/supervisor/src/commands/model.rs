//! `ibid model import`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use shared::settings::Model;

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
    let model = Model {
        name: name.clone(),
        ..Model::default()
    };
    if name.starts_with('.') || model.id().is_err() {
        return Err(Complaint::new(
            format!("`{}` is no name of a model", output::name(&name)),
            "give one with `--name`: letters, digits, `.`, `_` or `-`",
        ));
    }
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

/// The file without which the services do not start with `model`: its description, or for a model
/// on a server the tokenizer that counts for it. Below `assets`.
pub(super) fn needed(model: &Model, assets: &Path) -> PathBuf {
    let (name, file) = if model.on_server() {
        (&model.tokenizer, "tokenizer.json")
    } else {
        (&model.name, "model.json")
    };
    assets.join(model_folder(name)).join(file)
}

/// Whether the model is there.
///
/// # Errors
/// When a file of it is missing.
pub(super) fn check(model: &Model, assets: &Path) -> Result<(), Complaint> {
    let file = needed(model, assets);
    if file.is_file() {
        return Ok(());
    }
    let (setting, name) = if model.on_server() {
        ("model.tokenizer", &model.tokenizer)
    } else {
        ("model.name", &model.name)
    };
    Err(Complaint::new(
        format!(
            "model `{}` is not there: no {}",
            output::name(name),
            file.display()
        ),
        format!("run `ibid model import DIR`, or correct `{setting}`"),
    ))
}

/// An error with all its causes on one line.
pub(super) fn chain(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::settings::ModelProvider;

    #[test]
    fn a_model_needs_its_description_and_one_on_a_server_only_a_tokenizer() {
        let assets = tempfile::tempdir().unwrap();
        let own = Model::default();
        let server = Model {
            provider: ModelProvider::Ollama,
            name: "bge-m3".to_owned(),
            ..Model::default()
        };
        for (model, part) in [(&own, "model.json"), (&server, "tokenizer.json")] {
            let told = check(model, assets.path()).unwrap_err().to_string();
            assert!(told.contains(part), "{told}");
            let file = needed(model, assets.path());
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "{}").unwrap();
            assert!(check(model, assets.path()).is_ok());
        }
    }
}
