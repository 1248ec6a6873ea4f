//! All generators, and which of them speaks.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use futures::future::join_all;
use parking_lot::Mutex;
use shared::contract::{GeneratorId, GeneratorList, GeneratorTried, GeneratorView, Provider};
use shared::settings::Network;
use tracing::{info, warn};

use super::{
    Builtin, Extractive, GenerateError, GenerationSettings, Generator, Message, Ollama, OpenAi,
    Piece, Prompt, Role,
};

/// A server that did not answer is not asked again for so long, unless a question names it: to
/// find out may take seconds when it is not on this machine.
const LEFT_ALONE: Duration = Duration::from_secs(10);

/// The generators there are, in the order `auto` asks them.
pub struct Generators {
    all: Vec<Arc<dyn Generator>>,
    settings: GenerationSettings,
    /// When a provider last did not answer.
    unreachable: Mutex<HashMap<Provider, Instant>>,
}

/// A generator that may answer, and the model asked for; `None` for its default.
#[derive(Clone)]
pub struct Candidate {
    /// The generator.
    pub generator: Arc<dyn Generator>,
    /// The model.
    pub model: Option<String>,
}

impl Candidate {
    /// Its model's name.
    ///
    /// # Errors
    /// When it is asked for its default and has none.
    pub async fn model(&self) -> Result<String, GenerateError> {
        match &self.model {
            Some(model) => Ok(model.clone()),
            None => self.generator.default_model().await,
        }
    }
}

impl Generators {
    /// Those that the settings name; models in files are looked for in `assets`.
    ///
    /// # Errors
    /// An address that is none, or that `network` does not allow.
    pub fn new(
        settings: &GenerationSettings,
        network: &Network,
        assets: &Path,
    ) -> Result<Self, GenerateError> {
        let mut all: Vec<Arc<dyn Generator>> = Vec::new();
        if !settings.ollama_url.is_empty() {
            all.push(Arc::new(Ollama::new(settings, network)?));
        }
        if !settings.openai_url.is_empty() {
            all.push(Arc::new(OpenAi::new(settings, network)?));
        }
        all.push(Arc::new(Builtin::new(settings, assets)));
        all.push(Arc::new(Extractive));
        Ok(Self::of(all, settings.clone()))
    }

    /// These, in this order.
    pub fn of(all: Vec<Arc<dyn Generator>>, settings: GenerationSettings) -> Self {
        Self {
            all,
            settings,
            unreachable: Mutex::default(),
        }
    }

    /// Those to ask in turn: the one named, else the one set, else all that `auto` stands for.
    /// A model in a file belongs to `auto` only when the settings name it.
    ///
    /// # Errors
    /// A provider that the settings give no address for.
    pub fn candidates(
        &self,
        wanted: Option<&GeneratorId>,
    ) -> Result<Vec<Candidate>, GenerateError> {
        let named = |model: &str| Some(model.to_owned()).filter(|model| !model.is_empty());
        let one = |provider: Provider, model: Option<String>| {
            let generator = self.find(provider).ok_or(GenerateError::NotSet {
                provider: provider.name(),
            })?;
            Ok(vec![Candidate { generator, model }])
        };
        if let Some(wanted) = wanted {
            return one(wanted.provider, named(&wanted.model));
        }
        if let Some(provider) = self.settings.provider.provider() {
            return one(provider, None);
        }
        let in_auto = |generator: &&Arc<dyn Generator>| match generator.provider() {
            Provider::Builtin => !self.settings.builtin_model.is_empty(),
            provider => !self.is_left_alone(provider),
        };
        let candidates = self.all.iter().filter(in_auto).map(|generator| Candidate {
            generator: Arc::clone(generator),
            model: None,
        });
        Ok(candidates.collect())
    }

    fn find(&self, provider: Provider) -> Option<Arc<dyn Generator>> {
        let found = self.all.iter().find(|one| one.provider() == provider);
        found.map(Arc::clone)
    }

    fn is_left_alone(&self, provider: Provider) -> bool {
        let unreachable = self.unreachable.lock();
        let since = unreachable.get(&provider);
        since.is_some_and(|since| since.elapsed() < LEFT_ALONE)
    }

    /// Remembers a provider that did not answer.
    pub fn note_failure(&self, provider: Provider, error: &GenerateError) {
        if matches!(error, GenerateError::Unreachable { .. }) {
            self.unreachable.lock().insert(provider, Instant::now());
        }
    }

    /// All models of all providers, the default one first.
    pub async fn list(&self) -> GeneratorList {
        let asked = self.all.iter().map(async |generator| {
            let provider = generator.provider();
            (provider, generator.models().await)
        });
        let (default, answers) = tokio::join!(self.default(), join_all(asked));
        let mut list = GeneratorList {
            generators: Vec::new(),
            problems: Vec::new(),
        };
        for (provider, answer) in answers {
            match answer {
                Ok(models) => list.generators.extend(models),
                Err(error) => list.problems.push((provider, error.into())),
            }
        }
        for view in &mut list.generators {
            view.is_default = default.as_ref() == Some(&view.id);
        }
        list.generators
            .sort_by_key(|view: &GeneratorView| !view.is_default);
        list
    }

    /// Who speaks when a question names nobody.
    pub async fn default(&self) -> Option<GeneratorId> {
        for candidate in self.candidates(None).ok()? {
            let provider = candidate.generator.provider();
            let usable = async {
                let model = candidate.model().await?;
                candidate.generator.check(&model).await?;
                Ok::<_, GenerateError>(model)
            };
            match usable.await {
                Ok(model) => return Some(GeneratorId::new(provider, model)),
                Err(error) => self.note_failure(provider, &error),
            }
        }
        None
    }

    /// Loads the default model, so that the first question need not wait for it.
    pub async fn warm(&self) {
        let Some(id) = self.default().await else {
            warn!("no generator can answer yet");
            return;
        };
        let Some(generator) = self.find(id.provider) else {
            return;
        };
        let started = Instant::now();
        match generator.warm(&id.model).await {
            Ok(()) => {
                let duration_ms = started.elapsed().as_millis();
                info!(generator = %id, duration_ms, "the generator is warm");
            }
            Err(error) => warn!(generator = %id, %error, "the generator could not be warmed"),
        }
    }

    /// Has `id` make one real token.
    ///
    /// # Errors
    /// When it cannot.
    pub async fn try_one(&self, id: &GeneratorId) -> Result<GeneratorTried, GenerateError> {
        let started = Instant::now();
        let mut tried = id.clone();
        for candidate in self.candidates(Some(id))? {
            tried.model = candidate.model().await?;
            candidate.generator.check(&tried.model).await?;
            let mut pieces = candidate.generator.generate(&tried.model, trial()).await?;
            while let Some(piece) = pieces.next().await {
                if !matches!(piece?, Piece::Text(text) if text.is_empty()) {
                    break;
                }
            }
        }
        Ok(GeneratorTried {
            id: tried,
            first_token_ms: started.elapsed().as_secs_f64() * 1_000.0,
        })
    }
}

/// A prompt without any document.
fn trial() -> Prompt {
    let question = "Say yes.".to_owned();
    Prompt {
        messages: vec![Message {
            role: Role::User,
            content: question.clone(),
        }],
        question,
        passages: Vec::new(),
        tokens: 16,
        answer_tokens: 1,
        temperature: 0.0,
    }
}
