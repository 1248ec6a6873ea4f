//! A model of a fake Ollama.

use serde_json::{Map, Value, json};

/// A model and what is told of it.
#[derive(Debug, Clone)]
pub struct FakeModel {
    /// With its tag: `llama3.2:latest`.
    pub name: String,
    /// `llama`, `qwen3`, `bert`, …
    pub family: String,
    /// `completion`, `embedding`, `thinking`, …
    pub capabilities: Vec<String>,
    /// Tokens it was trained for; `num_ctx` is cut to this.
    pub context_length: u32,
    /// Bytes of its file.
    pub size: u64,
    /// RFC 3339.
    pub modified_at: String,
    /// Where it really runs, for a remote one.
    pub remote_host: Option<String>,
    /// Length of its vectors; 0 when it makes none.
    pub dimension: usize,
}

impl FakeModel {
    /// One that answers, with a window of 131,072 tokens.
    pub fn chat(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            family: "llama".to_owned(),
            capabilities: vec!["completion".to_owned(), "tools".to_owned()],
            context_length: 131_072,
            size: 2_019_393_189,
            modified_at: "2025-05-04T17:37:44.706015396-07:00".to_owned(),
            remote_host: None,
            dimension: 0,
        }
    }

    /// One that thinks first, unless told not to.
    pub fn thinking(name: &str) -> Self {
        Self {
            family: "qwen3".to_owned(),
            capabilities: vec!["completion".to_owned(), "thinking".to_owned()],
            ..Self::chat(name)
        }
    }

    /// One that makes vectors, and does not answer.
    pub fn embedding(name: &str, dimension: usize) -> Self {
        Self {
            family: "bert".to_owned(),
            capabilities: vec!["embedding".to_owned()],
            context_length: 512,
            size: 45_960_996,
            dimension,
            ..Self::chat(name)
        }
    }

    /// One that runs at `host`; its file here is a stub.
    pub fn remote(name: &str, host: &str) -> Self {
        Self {
            family: "gptoss".to_owned(),
            size: 384,
            remote_host: Some(host.to_owned()),
            ..Self::thinking(name)
        }
    }

    /// Whether `name` means it; the tag `latest` may be left out, and case does not count.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let tagged = name
            .rsplit('/')
            .next()
            .is_some_and(|last| last.contains(':'));
        let name = if tagged {
            name.to_owned()
        } else {
            format!("{name}:latest")
        };
        self.name.eq_ignore_ascii_case(&name)
    }

    pub(super) fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|known| known == capability)
    }

    fn details(&self) -> Value {
        json!({
            "parent_model": "",
            "format": if self.remote_host.is_some() { "" } else { "gguf" },
            "family": self.family,
            "families": [self.family],
            "parameter_size": "3.2B",
            "quantization_level": "Q4_K_M",
        })
    }

    fn remote_name(&self) -> String {
        let name = self.name.rsplit_once(':').map_or("", |(name, _)| name);
        name.to_owned()
    }

    /// As in `/api/tags`.
    pub(super) fn listed(&self, told: bool) -> Value {
        let mut model = self.common();
        model.insert("modified_at".to_owned(), json!(self.modified_at));
        if told {
            model.insert("capabilities".to_owned(), json!(self.capabilities));
        }
        self.add_remote(&mut model);
        Value::Object(model)
    }

    /// As in `/api/ps`.
    pub(super) fn running(&self) -> Value {
        let mut model = self.common();
        model.insert(
            "expires_at".to_owned(),
            json!("2026-06-04T14:38:31.83753-07:00"),
        );
        model.insert("size_vram".to_owned(), json!(0));
        model.insert("context_length".to_owned(), json!(4_096));
        Value::Object(model)
    }

    /// As in `/api/show`.
    pub(super) fn shown(&self, told: bool) -> Value {
        let mut model = Map::new();
        model.insert("modelfile".to_owned(), json!("FROM a file"));
        model.insert("template".to_owned(), json!("{{ .Prompt }}"));
        model.insert("details".to_owned(), self.details());
        model.insert(
            "model_info".to_owned(),
            json!({
                "general.architecture": self.family,
                "general.parameter_count": 3_212_749_888_u64,
                format!("{}.context_length", self.family): self.context_length,
            }),
        );
        model.insert("modified_at".to_owned(), json!(self.modified_at));
        if told {
            model.insert("capabilities".to_owned(), json!(self.capabilities));
        }
        self.add_remote(&mut model);
        Value::Object(model)
    }

    fn common(&self) -> Map<String, Value> {
        let mut model = Map::new();
        model.insert("name".to_owned(), json!(self.name));
        model.insert("model".to_owned(), json!(self.name));
        model.insert("size".to_owned(), json!(self.size));
        model.insert(
            "digest".to_owned(),
            json!("a80c4f17acd55265feec403c7aef86be0c25983ab279d83f3bcd3abbcb5b8b72"),
        );
        model.insert("details".to_owned(), self.details());
        model
    }

    fn add_remote(&self, model: &mut Map<String, Value>) {
        if let Some(host) = &self.remote_host {
            model.insert("remote_host".to_owned(), json!(host));
            model.insert("remote_model".to_owned(), json!(self.remote_name()));
        }
    }
}
