//! Which models there are, and which of them may be given documents.

use futures::{StreamExt as _, future, stream};
use reqwest::Method;
use shared::contract::{GeneratorId, GeneratorView, Provider};
use shared::ollama::cloud_name;

use super::wire::{Details, Running, Tagged, Tags};
use super::{NAME, Ollama};
use crate::generation::GenerateError;

/// Models that Ollama is asked about at once.
const AT_ONCE: usize = 4;
/// Where Ollama passes cloud models on to when it does not say.
const CLOUD: &str = "ollama.com";

pub(crate) fn remote(model: &str, host: &str) -> GenerateError {
    let host = if host.is_empty() { CLOUD } else { host };
    GenerateError::Remote {
        model: model.to_owned(),
        host: host.to_owned(),
    }
}

/// Whether a model completes text. Versions before 0.6.4 do not tell; there the family and the
/// name do.
pub(super) fn writes_answers(
    capabilities: Option<&[String]>,
    details: &Details,
    model: &str,
) -> bool {
    if let Some(capabilities) = capabilities.filter(|known| !known.is_empty()) {
        return capabilities.iter().any(|known| known == "completion");
    }
    let mut families = details.families.iter().flatten().chain([&details.family]);
    let encoder = families.any(|family| family.contains("bert"));
    !encoder && !model.to_ascii_lowercase().contains("embed")
}

/// The name with its tag, in lower case: `Llama3.2` and `llama3.2:latest` are one model.
fn full_name(model: &str) -> String {
    let model = model.trim().to_ascii_lowercase();
    let tagged = model
        .rsplit('/')
        .next()
        .is_some_and(|last| last.contains(':'));
    if tagged {
        model
    } else {
        format!("{model}:latest")
    }
}

impl Tagged {
    /// Why it may not be chosen, as far as the list says.
    fn refused(&self) -> Option<GenerateError> {
        (self.is_remote() || cloud_name(&self.name)).then(|| remote(&self.name, &self.remote_host))
    }
}

impl Ollama {
    /// All models that write answers, remote ones refused, the most likely default first.
    pub(super) async fn list(&self) -> Result<Vec<GeneratorView>, GenerateError> {
        let (models, loaded) = self.there().await?;
        let views: Vec<Option<GeneratorView>> = stream::iter(models)
            .map(|model| self.view(model, &loaded))
            .buffered(AT_ONCE)
            .collect()
            .await;
        let mut views: Vec<GeneratorView> = views.into_iter().flatten().collect();
        let set = full_name(&self.settings.model);
        let default = if self.settings.model.trim().is_empty() {
            views.iter_mut().find(|view| view.refused.is_none())
        } else {
            views
                .iter_mut()
                .find(|view| full_name(&view.id.model) == set)
        };
        if let Some(default) = default.filter(|view| view.refused.is_none()) {
            default.is_default = true;
        }
        Ok(views)
    }

    /// The model of the settings, else the one in memory, else the newest.
    pub(super) async fn choose(&self) -> Result<String, GenerateError> {
        let set = self.settings.model.trim();
        if !set.is_empty() {
            self.examine(set).await?;
            return Ok(set.to_owned());
        }
        let (models, _loaded) = self.there().await?;
        for model in models {
            let told = model.capabilities.as_deref();
            if model.refused().is_some() || !writes_answers(told, &model.details, &model.name) {
                continue;
            }
            match self.examine(&model.name).await {
                Ok(_may_answer) => return Ok(model.name),
                Err(
                    GenerateError::NoModel { .. }
                    | GenerateError::NoChat { .. }
                    | GenerateError::Remote { .. }
                    | GenerateError::Said { .. },
                ) => {}
                Err(error) => return Err(error),
            }
        }
        Err(GenerateError::NoModels {
            server: NAME,
            remedy: "run: ollama pull llama3.2".to_owned(),
        })
    }

    /// The models on disk, those in memory first and then the newest, and the names of those in
    /// memory.
    async fn there(&self) -> Result<(Vec<Tagged>, Vec<String>), GenerateError> {
        let tags = self.server.request(Method::GET, "/api/tags");
        let running = self.server.request(Method::GET, "/api/ps");
        let (tags, running) =
            future::try_join(self.server.ask(tags), self.server.ask(running)).await?;
        let tags: Tags = self.server.read(&tags)?;
        let running: Running = self.server.read(&running)?;
        let loaded: Vec<String> = running
            .models
            .into_iter()
            .flatten()
            .map(|model| model.name)
            .collect();
        let mut models = tags.models.unwrap_or_default();
        models.sort_by(|a, b| b.modified_at.cmp(&a.modified_at));
        models.sort_by_key(|model| {
            let place = loaded.iter().position(|name| *name == model.name);
            place.unwrap_or(usize::MAX)
        });
        Ok((models, loaded))
    }

    /// How `model` is shown; `None` when it writes no answers.
    async fn view(&self, model: Tagged, loaded: &[String]) -> Option<GeneratorView> {
        let mut refused = model.refused();
        let mut window = model.details.context_length;
        // A remote one is not asked about: Ollama might pass that on.
        if refused.is_none() {
            match self.examine(&model.name).await {
                Ok(known) => window = known.window.or(window),
                Err(GenerateError::NoChat { .. }) => return None,
                Err(error) => refused = Some(error),
            }
        }
        Some(GeneratorView {
            is_default: false,
            window_tokens: window,
            bytes: refused.is_none().then_some(model.size),
            loaded: Some(loaded.contains(&model.name)),
            refused: refused.map(Into::into),
            id: GeneratorId::new(Provider::Ollama, model.name),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_make_vectors_write_no_answers() {
        let check = |capabilities: Option<&[&str]>, family: &str, name: &str, expect: bool| {
            let capabilities: Option<Vec<String>> =
                capabilities.map(|known| known.iter().map(|&one| one.to_owned()).collect());
            let details = Details {
                family: family.to_owned(),
                ..Details::default()
            };
            assert_eq!(
                writes_answers(capabilities.as_deref(), &details, name),
                expect,
                "{name}"
            );
        };
        check(Some(&["completion"]), "llama", "llama3.2", true);
        check(Some(&["embedding"]), "gemma3", "embeddinggemma", false);
        check(Some(&["image"]), "", "flux", false);
        check(Some(&[]), "qwen2", "qwen2.5", true);
        check(None, "nomic-bert", "nomic", false);
        check(None, "llama", "snowflake-arctic-embed2", false);
        check(None, "llama", "llama3.2", true);
    }

    #[test]
    fn the_tag_latest_may_be_left_out() {
        assert_eq!(full_name("Llama3.2"), full_name("llama3.2:latest"));
        assert_ne!(full_name("llama3.2:1b"), full_name("llama3.2"));
        assert_eq!(full_name("localhost:5000/m"), "localhost:5000/m:latest");
    }
}
