//! `ibid models`.

use std::io;
use std::process::ExitCode;

use shared::contract::{ErrorBody, GeneratorId, GeneratorList, GeneratorView};

use super::gateway;
use crate::error::{CommandResult, Complaint};
use crate::output::{self, name, style, thousands};

/// Lists the language models.
pub(super) async fn run(json: bool) -> CommandResult {
    let list = gateway()?.models().await?;
    if json {
        output::json(&list)?;
    } else {
        tell(&list)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The list for people: usable models as a table, then what is refused or missing and why.
///
/// # Errors
/// When standard output is closed.
pub(super) fn tell(list: &GeneratorList) -> io::Result<()> {
    let head = ["model", "window", "size", "loaded", ""].map(str::to_owned);
    let mut rows = vec![head.to_vec()];
    let usable = list.generators.iter().filter(|view| view.refused.is_none());
    rows.extend(usable.map(row));
    output::table(&rows)?;
    for view in &list.generators {
        if let Some(error) = &view.refused {
            let id = name(&view.id.to_string());
            output::line(style().yellow().apply_to(format!("{id}: {}", said(error))))?;
        }
    }
    for (provider, error) in &list.problems {
        let provider = provider.name();
        output::line(
            style()
                .yellow()
                .apply_to(format!("{provider}: {}", said(error))),
        )?;
    }
    Ok(())
}

fn said(error: &ErrorBody) -> String {
    output::text(&error.to_string())
}

fn row(view: &GeneratorView) -> Vec<String> {
    let window = view.window_tokens.map(|n| thousands(n.into()));
    let loaded = view.loaded.map(|loaded| if loaded { "yes" } else { "no" });
    let default = view.is_default.then_some("default");
    vec![
        name(&view.id.to_string()),
        window.unwrap_or_default(),
        view.bytes.map(size).unwrap_or_default(),
        loaded.unwrap_or_default().to_owned(),
        default.unwrap_or_default().to_owned(),
    ]
}

/// `2.0 GB`, `98 MB`.
fn size(bytes: u64) -> String {
    let megabytes = bytes as f64 / 1e6;
    if megabytes >= 1000.0 {
        format!("{:.1} GB", megabytes / 1000.0)
    } else {
        format!("{megabytes:.0} MB")
    }
}

/// The one of `list` that `wanted` names, by its id or by the model's name alone.
///
/// # Errors
/// When there is none, it is refused, or several have the name.
pub(super) fn choose(list: &GeneratorList, wanted: &str) -> Result<GeneratorId, Complaint> {
    let id: Option<GeneratorId> = wanted.parse().ok();
    let fits = |view: &&GeneratorView| match &id {
        Some(id) => view.id == *id || (id.model.is_empty() && view.id.provider == id.provider),
        None => view.id.model == wanted,
    };
    let found: Vec<&GeneratorView> = list.generators.iter().filter(fits).collect();
    // A provider alone stands for its default model, whatever that is at the time.
    let chosen = match (found.as_slice(), id) {
        ([], _) => None,
        (_, Some(id)) if id.model.is_empty() => return Ok(id),
        ([one, ..], Some(_)) | ([one], None) => Some(one),
        _ => {
            return Err(Complaint::new(
                format!("several providers have `{wanted}`"),
                format!("name one, such as `{}`", name(&first_id(&found))),
            ));
        }
    };
    let Some(view) = chosen else {
        return Err(Complaint::new(
            format!("no model is called `{wanted}`"),
            "`/models` and `ibid models` list them",
        ));
    };
    match &view.refused {
        Some(error) => Err(error.clone().into()),
        None => Ok(view.id.clone()),
    }
}

fn first_id(found: &[&GeneratorView]) -> String {
    found
        .first()
        .map(|view| view.id.to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::contract::ErrorCode;

    fn list() -> GeneratorList {
        let view = |id: &str, refused: bool| GeneratorView {
            id: id.parse().unwrap(),
            is_default: id == "ollama/llama3.2",
            window_tokens: Some(8192),
            bytes: Some(2_019_393_189),
            loaded: Some(true),
            refused: refused.then(|| ErrorBody::new(ErrorCode::BadRequest, "it is remote", "no")),
        };
        GeneratorList {
            generators: vec![
                view("ollama/llama3.2", false),
                view("ollama/qwen", false),
                view("openai/qwen", false),
                view("ollama/big-cloud", true),
                view("extractive", false),
            ],
            problems: Vec::new(),
        }
    }

    #[track_caller]
    fn check(wanted: &str, expect: Result<&str, &str>) {
        match (choose(&list(), wanted), expect) {
            (Ok(id), Ok(expect)) => assert_eq!(id.to_string(), expect),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (got, expect) => panic!("{got:?}, not {expect:?}"),
        }
    }

    #[test]
    fn a_model_is_chosen_by_id_or_by_a_name_that_is_its_own() {
        check("ollama/llama3.2", Ok("ollama/llama3.2"));
        check("llama3.2", Ok("ollama/llama3.2"));
        check("extractive", Ok("extractive"));
        check("openai", Ok("openai"));
        check("openai/qwen", Ok("openai/qwen"));
        check("qwen", Err("several providers"));
        check("ollama/big-cloud", Err("it is remote"));
        check("builtin", Err("no model is called"));
        check("gpt", Err("ibid models"));
    }

    #[test]
    fn a_row_says_window_size_and_whether_it_is_loaded() {
        let list = list();
        let rows: Vec<_> = list.generators.iter().take(2).map(row).collect();
        assert_eq!(
            rows[0],
            ["ollama/llama3.2", "8,192", "2.0 GB", "yes", "default"]
        );
        assert_eq!(rows[1][4], "");
        assert_eq!(size(91_000_000), "91 MB");
    }
}
