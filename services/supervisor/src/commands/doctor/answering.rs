//! Who can answer: asked in this process, so that it needs no running Ibid.

use std::path::Path;

use query::{GenerateError, GenerationSettings, Generators};
use shared::contract::{ErrorBody, GeneratorList, Provider};
use shared::settings::{self, Network, SettingsError};

use super::{Check, bad};
use crate::output::count;

/// Models named in one line.
const NAMED: usize = 5;

/// A line per provider that may answer, and one that says who does.
pub(super) async fn checks(assets: &Path) -> Vec<Check> {
    let generation = match loaded() {
        Ok((generation, network)) => {
            Generators::new(&generation, &network, assets).map(|all| (all, generation))
        }
        // Told by the check of the settings.
        Err(_wrong) => return Vec::new(),
    };
    match generation {
        Ok((generators, generation)) => judge(&generators.list().await, &generation),
        Err(error) => vec![refused(error)],
    }
}

fn loaded() -> Result<(GenerationSettings, Network), SettingsError> {
    Ok((settings::load("generation")?, settings::load("network")?))
}

fn refused(error: GenerateError) -> Check {
    Check::new("answers", Err(bad(ErrorBody::from(error))))
}

fn judge(list: &GeneratorList, settings: &GenerationSettings) -> Vec<Check> {
    let chosen = settings.provider.provider();
    let asked = |provider: &Provider| match (chosen, provider) {
        (Some(chosen), provider) => chosen == *provider,
        (None, Provider::Ollama) => !settings.ollama_url.is_empty(),
        (None, Provider::OpenAi) => !settings.openai_url.is_empty(),
        (None, Provider::Builtin) => !settings.builtin_model.is_empty(),
        (None, Provider::Extractive) => false,
    };
    let providers = Provider::ALL.into_iter().filter(asked);
    let mut checks: Vec<Check> = providers
        .map(|provider| one(list, settings, provider, chosen.is_some()))
        .collect();
    checks.push(default(list, settings));
    checks
}

/// A provider that is not there is only a fault when it is the chosen one.
fn one(
    list: &GeneratorList,
    settings: &GenerationSettings,
    provider: Provider,
    is_chosen: bool,
) -> Check {
    let (what, place) = match provider {
        Provider::Ollama => ("Ollama", settings.ollama_url.as_str()),
        Provider::OpenAi => ("OpenAI-compatible server", settings.openai_url.as_str()),
        Provider::Builtin => ("built-in model", ""),
        Provider::Extractive => ("quotations", ""),
    };
    let problem = list.problems.iter().find(|(of, _)| *of == provider);
    let usable: Vec<&str> = list
        .generators
        .iter()
        .filter(|view| view.id.provider == provider && view.refused.is_none())
        .map(|view| view.id.model.as_str())
        .collect();
    let found = match problem {
        Some((_, error)) if is_chosen => Err(bad(error.clone())),
        Some((_, error)) => Ok(format!("not running ({})", error.message)),
        None if provider == Provider::Extractive => Ok("they need no model".to_owned()),
        None if usable.is_empty() && is_chosen => Err((
            format!("no model that can answer {place}")
                .trim_end()
                .to_owned(),
            remedy(provider).to_owned(),
        )),
        None if usable.is_empty() => Ok(format!("no model; {}", remedy(provider))),
        None => Ok(named(&usable, place)),
    };
    Check::new(what, found)
}

fn remedy(provider: Provider) -> &'static str {
    match provider {
        Provider::Ollama => "to get one, run: ollama pull llama3.2",
        Provider::OpenAi => "load a model in that server",
        Provider::Builtin => "run `ibid setup --with generator`",
        Provider::Extractive => "",
    }
}

fn named(models: &[&str], place: &str) -> String {
    let names: Vec<&str> = models.iter().copied().take(NAMED).collect();
    let more = if models.len() > NAMED { ", …" } else { "" };
    let place = if place.is_empty() {
        String::new()
    } else {
        format!(" at {place}")
    };
    let number = count(models.len() as u64, "model");
    format!("{number}{place}: {}{more}", names.join(", "))
}

/// Who speaks when a question names nobody.
fn default(list: &GeneratorList, settings: &GenerationSettings) -> Check {
    let default = list.generators.iter().find(|view| view.is_default);
    let found = match default {
        Some(view) if view.id.provider == Provider::Extractive && settings.model.is_empty() => {
            Ok("quotations from your documents; no language model".to_owned())
        }
        Some(view) if settings.model.is_empty() || view.id.model == settings.model => {
            Ok(format!("`{}` answers", view.id))
        }
        Some(view) if view.id.model.strip_suffix(":latest") == Some(&settings.model) => {
            Ok(format!("`{}` answers", view.id))
        }
        other => Err((
            match other {
                Some(view) => format!(
                    "the set model `{}` is not there; `{}` answers instead",
                    settings.model, view.id
                ),
                None => "nobody can answer".to_owned(),
            },
            "see `ibid models`, then correct `generation.provider` and `generation.model`"
                .to_owned(),
        )),
    };
    Check::new("answers", found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::Choice;
    use shared::contract::{ErrorCode, GeneratorView};

    fn list(models: &[&str], problems: &[Provider]) -> GeneratorList {
        let views = models.iter().enumerate().map(|(index, id)| GeneratorView {
            id: id.parse().unwrap(),
            is_default: index == 0,
            window_tokens: None,
            bytes: None,
            loaded: None,
            refused: None,
        });
        let error = ErrorBody::new(ErrorCode::Unavailable, "could not reach it", "start it");
        GeneratorList {
            generators: views.collect(),
            problems: problems.iter().map(|one| (*one, error.clone())).collect(),
        }
    }

    #[track_caller]
    fn check(list: &GeneratorList, settings: &GenerationSettings, expect: &[(&str, bool, &str)]) {
        let checks = judge(list, settings);
        assert_eq!(checks.len(), expect.len(), "{checks:?}");
        for (check, (what, ok, part)) in checks.iter().zip(expect) {
            assert!(check.what == *what && check.ok == *ok, "{check:?}");
            let text = format!(
                "{} {}",
                check.found,
                check.remedy.as_deref().unwrap_or_default()
            );
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn an_absent_ollama_is_a_fault_only_when_it_is_the_chosen_one() {
        let absent = list(&["extractive"], &[Provider::Ollama]);
        let auto = GenerationSettings::default();
        check(
            &absent,
            &auto,
            &[
                ("Ollama", true, "not running"),
                ("answers", true, "quotations"),
            ],
        );
        let chosen = GenerationSettings {
            provider: Choice::Ollama,
            ..auto.clone()
        };
        let nobody = list(&[], &[Provider::Ollama]);
        check(
            &nobody,
            &chosen,
            &[
                ("Ollama", false, "start it"),
                ("answers", false, "nobody can answer"),
            ],
        );
        let empty = list(&[], &[]);
        check(
            &empty,
            &chosen,
            &[
                ("Ollama", false, "ollama pull"),
                ("answers", false, "ibid models"),
            ],
        );
    }

    #[test]
    fn models_are_named_and_a_set_one_that_is_missing_is_a_fault() {
        let there = list(
            &["ollama/llama3.2:latest", "ollama/qwen3", "extractive"],
            &[],
        );
        let mut settings = GenerationSettings {
            model: "llama3.2".to_owned(),
            ..GenerationSettings::default()
        };
        check(
            &there,
            &settings,
            &[
                (
                    "Ollama",
                    true,
                    "2 models at http://127.0.0.1:11434: llama3.2:latest, qwen3",
                ),
                ("answers", true, "`ollama/llama3.2:latest` answers"),
            ],
        );
        settings.model = "gemma3".to_owned();
        check(
            &there,
            &settings,
            &[
                ("Ollama", true, "2 models"),
                ("answers", false, "the set model `gemma3` is not there"),
            ],
        );
    }
}
