//! Engines over stand-in servers.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use embedder::engine::{Engine as _, Remote, Waits};
use embedder::error::EncodeError;
use ibid_tests::harness::wait_for;
use shared::contract::{DocumentId, EncoderDescription};
use shared::service::{Drain, HealthBoard};
use shared::settings::{Model, ModelProvider, Network};
use tempfile::TempDir;
use tokio::task::JoinHandle;

pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// As in a real run, but for what a test would have to wait for.
pub(crate) const WAITS: Waits = Waits {
    load: Duration::from_secs(10),
    chunks: Duration::from_secs(10),
    question: Duration::from_secs(4),
    pause: Duration::from_secs(10),
    retry: Duration::from_millis(50),
    check: Duration::from_millis(100),
};

pub(crate) struct Case {
    pub(crate) engine: Arc<Remote>,
    pub(crate) health: HealthBoard,
    pub(crate) drain: Drain,
    _tokenizer: TempDir,
}

impl Case {
    /// An engine for the Ollama at `url`.
    pub(crate) fn ollama(url: &str, name: &str) -> Self {
        Self::start(&model(ModelProvider::Ollama, name, url), WAITS)
    }

    /// An engine for the OpenAI-compatible server at `url`.
    pub(crate) fn openai(url: &str, name: &str) -> Self {
        Self::start(&model(ModelProvider::OpenAi, name, url), WAITS)
    }

    pub(crate) fn start(named: &Model, waits: Waits) -> Self {
        let tokenizer = tempfile::tempdir().unwrap();
        let named = Model {
            tokenizer: written(tokenizer.path()),
            ..named.clone()
        };
        let (drain, health) = (Drain::new(), HealthBoard::new("embedder"));
        let engine = Remote::start(&named, &Network::default(), waits, &drain, &health).unwrap();
        Self {
            engine: Arc::new(engine),
            health,
            drain,
            _tokenizer: tokenizer,
        }
    }

    pub(crate) async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EncodeError> {
        self.engine
            .embed_chunks(&DocumentId::generate(), texts)
            .await
    }

    /// As [`Case::embed`], while the test goes on.
    pub(crate) fn embedding(
        &self,
        texts: Vec<String>,
    ) -> JoinHandle<Result<Vec<Vec<f32>>, EncodeError>> {
        let engine = Arc::clone(&self.engine);
        tokio::spawn(async move { engine.embed_chunks(&DocumentId::generate(), texts).await })
    }

    /// Waits until the server is there.
    pub(crate) async fn ready(&self) -> EncoderDescription {
        wait_for("the server", LIMIT, async || self.engine.describe())
            .await
            .unwrap()
    }

    /// Waits until the notes are `expect` parts, each in a note of its own.
    pub(crate) async fn notes(&self, expect: &[&str]) {
        wait_for("the notes", LIMIT, async || {
            let notes = self.health.read().notes;
            let same = notes.len() == expect.len()
                && notes
                    .iter()
                    .zip(expect)
                    .all(|(note, part)| note.contains(part));
            same.then_some(()).ok_or(format!("{notes:?}"))
        })
        .await
        .unwrap();
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        self.drain.begin();
    }
}

/// The tokenizer that stands in the folder; its bytes are all that the embedder looks at.
pub(crate) const TOKENIZER: &[u8] = b"{}";

/// Writes it, and gives the folder as it stands in settings: an absolute path is no name under
/// the assets.
fn written(folder: &Path) -> String {
    std::fs::write(folder.join("tokenizer.json"), TOKENIZER).unwrap();
    folder.to_str().unwrap().to_owned()
}

pub(crate) fn model(provider: ModelProvider, name: &str, url: &str) -> Model {
    Model {
        provider,
        name: name.to_owned(),
        url: url.to_owned(),
        ..Model::default()
    }
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// 40 texts of 1 to 400 words in no order of length.
pub(crate) fn texts() -> Vec<String> {
    (0..40_usize)
        .map(|n| format!("{n} {}", "word ".repeat((n * 157) % 400)))
        .collect()
}

/// Stored vectors are rounded differently than the server's.
pub(crate) fn same(left: &[f32], right: &[f32]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(a, b)| (a - b).abs() < 1e-5)
}
