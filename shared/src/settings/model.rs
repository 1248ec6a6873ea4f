//! The embedding model, which chunker, embedder and indexer must agree on. Section `model`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{SettingsError, assets_dir};
use crate::contract::{ModelId, Sha256Hex};

/// The model that is used when none is named; its tokenizer also counts for models on a server.
const DEFAULT_NAME: &str = "all-MiniLM-L6-v2";
/// Where Ollama listens unless told otherwise.
const OLLAMA_URL: &str = "http://127.0.0.1:11434";
/// Most characters of a server's name for a model in an id, which may have 100 in all.
const NAME_IN_ID: usize = 70;

/// How exactly the model computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32-bit floats.
    Fp32,
    /// Dynamic 8-bit integers: faster, and a vector then depends a little on its neighbours in
    /// the batch.
    Int8,
}

/// Who runs the embedding model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelProvider {
    /// The embedder itself, from a folder of the assets.
    Onnx,
    /// The user's own Ollama.
    Ollama,
    /// Any OpenAI-compatible server.
    OpenAi,
}

impl ModelProvider {
    /// Its name in settings and ids.
    pub fn name(self) -> &'static str {
        match self {
            Self::Onnx => "onnx",
            Self::Ollama => "ollama",
            Self::OpenAi => "openai",
        }
    }
}

/// The embedding model. Section `model`.
#[derive(Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// `onnx`, `ollama` or `openai`.
    pub provider: ModelProvider,
    /// With `onnx`, a folder under `models/` of the assets, as `ibid model import` makes it; else
    /// the server's own name, such as `nomic-embed-text`.
    pub name: String,
    /// `fp32` or `int8`; a server has its own.
    pub precision: Precision,
    /// Where the server is: Ollama's address, or an OpenAI-compatible one such as
    /// `http://127.0.0.1:1234/v1`. Empty for Ollama's usual place.
    pub url: String,
    /// The key that the server asks for; empty when it asks for none.
    pub key: String,
    /// The folder under `models/` of the assets whose `tokenizer.json` counts the tokens of
    /// chunks for a server.
    pub tokenizer: String,
    /// Most tokens of a chunk for a server, special tokens included. The server's model may
    /// count others, so leave it room.
    pub window_tokens: u32,
    /// What a server's model wants before a question, verbatim, such as `search_query: ` with
    /// its space.
    pub query_prefix: String,
    /// What a server's model wants before a piece of a document, verbatim.
    pub document_prefix: String,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            provider: ModelProvider::Onnx,
            name: DEFAULT_NAME.to_owned(),
            precision: Precision::Fp32,
            url: String::new(),
            key: String::new(),
            tokenizer: DEFAULT_NAME.to_owned(),
            window_tokens: 256,
            query_prefix: String::new(),
            document_prefix: String::new(),
        }
    }
}

impl Model {
    /// The id its vectors carry. For a folder, name and precision. For a server, provider and
    /// name, and a mark of all that changes chunks or vectors: the exact name, tokenizer, window
    /// and document prefix. Vectors under two ids are never compared.
    ///
    /// # Errors
    /// When the name has characters an id may not have, or a server's settings do not hold.
    pub fn id(&self) -> Result<ModelId, SettingsError> {
        let id = match self.provider {
            ModelProvider::Onnx => {
                let precision = match self.precision {
                    Precision::Fp32 => "fp32",
                    Precision::Int8 => "int8",
                };
                format!("{}-{precision}", self.name)
            }
            server => {
                self.check_server()?;
                format!("{}-{}-{}", server.name(), plain(&self.name), self.mark())
            }
        };
        id.parse().map_err(|error| wrong(format!("{error}")))
    }

    /// Whether another program runs it.
    pub fn on_server(&self) -> bool {
        self.provider != ModelProvider::Onnx
    }

    /// The server's address.
    pub fn server_url(&self) -> &str {
        if self.url.is_empty() && self.provider == ModelProvider::Ollama {
            OLLAMA_URL
        } else {
            &self.url
        }
    }

    /// The folder of the assets that belongs to it: `model.json`, `tokenizer.json` and the ONNX
    /// files; for a model on a server the one whose `tokenizer.json` counts.
    pub fn folder(&self) -> PathBuf {
        let name = if self.on_server() {
            &self.tokenizer
        } else {
            &self.name
        };
        assets_dir().join("models").join(name)
    }

    fn check_server(&self) -> Result<(), SettingsError> {
        let ollama = self.provider == ModelProvider::Ollama;
        if self.name.is_empty() || (ollama && self.name == DEFAULT_NAME) {
            return Err(wrong(
                "`name` must be the server's name of an embedding model, such as \
                 `nomic-embed-text`"
                    .to_owned(),
            ));
        }
        if self.server_url().is_empty() {
            return Err(wrong(
                "`url` must be the server's address, such as `http://127.0.0.1:1234/v1`".to_owned(),
            ));
        }
        Ok(())
    }

    fn mark(&self) -> String {
        let window = self.window_tokens.to_string();
        let parts = [&self.name, &self.tokenizer, &window, &self.document_prefix];
        let hash = Sha256Hex::of(parts.map(String::as_str).join("\0").as_bytes());
        hash.as_str().chars().take(8).collect()
    }
}

/// `name` with `-` for what an id may not have.
fn plain(name: &str) -> String {
    name.chars()
        .take(NAME_IN_ID)
        .map(|c| match c {
            c if c.is_ascii_alphanumeric() || "._-".contains(c) => c,
            _ => '-',
        })
        .collect()
}

fn wrong(reason: String) -> SettingsError {
    SettingsError::Value {
        section: "model".to_owned(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(provider: ModelProvider, name: &str, url: &str) -> Model {
        Model {
            provider,
            name: name.to_owned(),
            url: url.to_owned(),
            ..Model::default()
        }
    }

    #[test]
    fn ids_tell_who_runs_which_model() {
        #[track_caller]
        fn check(model: &Model, expect: Result<&str, &str>) {
            match (model.id(), expect) {
                (Ok(id), Ok(start)) => assert!(id.as_str().starts_with(start), "{id}"),
                (Err(error), Err(part)) => {
                    assert!(error.to_string().contains(part), "`{error}` lacks `{part}`");
                }
                (got, want) => panic!("got {got:?}, want {want:?}"),
            }
        }
        use ModelProvider::{Ollama, Onnx, OpenAi};
        let url = "http://127.0.0.1:1234/v1";
        check(&Model::default(), Ok("all-MiniLM-L6-v2-fp32"));
        check(&server(Onnx, "a/b", ""), Err("is not a model id"));
        check(
            &server(Ollama, "nomic-embed-text:v1.5", ""),
            Ok("ollama-nomic-embed-text-v1.5-"),
        );
        check(
            &server(OpenAi, "BAAI/bge-m3", url),
            Ok("openai-BAAI-bge-m3-"),
        );
        check(&server(OpenAi, &"x".repeat(300), url), Ok("openai-xxx"));
        check(&server(OpenAi, "größe", url), Ok("openai-gr--e-"));
        check(&server(OpenAi, "bge-m3", ""), Err("`url` must be"));
        check(&server(Ollama, "", ""), Err("`name` must be"));
        check(&server(Ollama, DEFAULT_NAME, ""), Err("`name` must be"));
    }

    #[test]
    fn what_changes_vectors_changes_the_id_and_nothing_else_does() {
        let base = server(ModelProvider::OpenAi, "a/b", "http://127.0.0.1:1");
        let id = |change: fn(&mut Model)| {
            let mut model = base.clone();
            change(&mut model);
            model.id().unwrap()
        };
        let same = base.id().unwrap();
        for change in [
            (|model| model.name = "a-b".to_owned()) as fn(&mut Model),
            |model| model.tokenizer = "other".to_owned(),
            |model| model.window_tokens = 128,
            |model| model.document_prefix = "passage: ".to_owned(),
            |model| model.provider = ModelProvider::Ollama,
        ] {
            assert_ne!(id(change), same);
        }
        for change in [
            (|model| model.url = "http://127.0.0.1:2".to_owned()) as fn(&mut Model),
            |model| model.key = "secret".to_owned(),
            |model| model.query_prefix = "query: ".to_owned(),
            |model| model.precision = Precision::Int8,
        ] {
            assert_eq!(id(change), same);
        }
    }

    #[test]
    fn chunks_for_a_server_are_counted_with_a_folder_of_the_assets() {
        let model = server(ModelProvider::Ollama, "bge-m3", "");
        assert!(model.folder().ends_with("models/all-MiniLM-L6-v2"));
        assert_eq!(model.server_url(), "http://127.0.0.1:11434");
        assert!(Model::default().folder().ends_with("all-MiniLM-L6-v2"));
    }
}
