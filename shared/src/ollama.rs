//! Which of Ollama's models run on other machines.
//!
//! Ollama lists cloud models beside its own and passes their prompts on. `ollama pull` of one
//! leaves a small file that names the machine; `/api/show` tells it.

use serde::Deserialize;

/// The part of the answer of `/api/show` that says where a model runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ShownModel {
    /// The machine that it runs on, when it is another.
    #[serde(default)]
    pub remote_host: Option<String>,
    /// Its name there.
    #[serde(default)]
    pub remote_model: Option<String>,
}

impl ShownModel {
    /// The other machine that `model` runs on; `None` when it runs in Ollama itself.
    pub fn elsewhere(&self, model: &str) -> Option<String> {
        let told = [&self.remote_host, &self.remote_model]
            .into_iter()
            .flatten()
            .find(|text| !text.is_empty());
        told.cloned()
            .or_else(|| cloud_name(model).then(|| "ollama.com".to_owned()))
    }
}

/// Whether the name alone says that a model runs in Ollama's cloud: the tag `cloud`, or one that
/// ends in `-cloud` (`internal/modelref` in Ollama's source), as in `gpt-oss:120b-cloud`. Ollama
/// passes even a question about such a model on, so it is not asked about.
pub fn cloud_name(model: &str) -> bool {
    let tag = model.trim().rsplit_once(':').map(|(_, tag)| tag.trim());
    let tag = tag.filter(|tag| !tag.contains('/'));
    tag.map(str::to_ascii_lowercase)
        .is_some_and(|tag| tag == "cloud" || tag.ends_with("-cloud"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_other_machines_are_known_by_name_or_answer() {
        #[track_caller]
        fn check(model: &str, shown: &str, expect: Option<&str>) {
            let shown: ShownModel = serde_json::from_str(shown).unwrap();
            assert_eq!(shown.elsewhere(model).as_deref(), expect, "{model}");
        }
        check("nomic-embed-text", r#"{"details": {}}"#, None);
        check("llama3.2:3b", r#"{"remote_host": ""}"#, None);
        check("llama3.2:3b", r#"{"remote_host": null}"#, None);
        check("cloudy", "{}", None);
        check("gpt-oss:120b-cloud", "{}", Some("ollama.com"));
        check("kimi-k2:cloud", "{}", Some("ollama.com"));
        check("Kimi-K2:CLOUD", "{}", Some("ollama.com"));
        let host = r#"{"remote_host": "https://ollama.com:443", "remote_model": "gpt-oss:120b"}"#;
        check("mine", host, Some("https://ollama.com:443"));
        check("mine", r#"{"remote_model": "gpt-oss"}"#, Some("gpt-oss"));
    }

    #[test]
    fn cloud_models_are_known_by_their_names() {
        for name in [
            "gpt-oss:120b-cloud",
            "gpt-oss:cloud",
            "qwen3-coder:480B-Cloud",
            "user/model:cloud",
            " kimi-k2: cloud ",
        ] {
            assert!(cloud_name(name), "{name}");
        }
        for name in [
            "llama3.2",
            "llama3.2:latest",
            "cloud",
            "cloud:8b",
            "nimbus-cloud:latest",
            "localhost:5000/my-cloud",
            "",
        ] {
            assert!(!cloud_name(name), "{name}");
        }
    }
}
