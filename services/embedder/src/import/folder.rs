//! Reading what a sentence-transformers folder says about its model.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokenizers::Tokenizer;

use crate::error::ImportError;
use crate::model::{Pooling, Prompts, TOKENIZER_FILE};

const RETRIEVAL_PROMPT: &str = "Represent this sentence for searching relevant passages: ";
/// Of the e5 models that want a task told.
const INSTRUCTION: &str = "Instruct: Given a web search query, retrieve relevant passages that \
                           answer the query\nQuery: ";

/// The parts of `config.json` that decide how the layers are computed.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct BertConfig {
    pub(super) model_type: String,
    pub(super) hidden_size: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) num_attention_heads: usize,
    pub(super) intermediate_size: usize,
    pub(super) vocab_size: usize,
    pub(super) type_vocab_size: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) layer_norm_eps: f32,
    pub(super) hidden_act: String,
    #[serde(default)]
    pub(super) pad_token_id: usize,
    #[serde(default)]
    position_embedding_type: Option<String>,
    #[serde(default, rename = "_name_or_path")]
    name_or_path: String,
}

impl BertConfig {
    /// `RoBERTa` numbers positions from one past the padding token's id, BERT from 0.
    pub(super) fn first_position(&self) -> usize {
        if self.model_type == "bert" {
            0
        } else {
            self.pad_token_id + 1
        }
    }

    /// Most tokens that have a position.
    pub(super) fn positions(&self) -> usize {
        self.max_position_embeddings
            .saturating_sub(self.first_position())
    }

    fn check(&self) -> Result<(), ImportError> {
        let unsupported = |what, found: &str, remedy| {
            Err(ImportError::Unsupported {
                what,
                found: found.to_owned(),
                remedy,
            })
        };
        if !["bert", "roberta", "xlm-roberta"].contains(&self.model_type.as_str()) {
            return unsupported(
                "model type",
                &self.model_type,
                "use a model of the BERT family, or a folder with `onnx/model.onnx`",
            );
        }
        if self.hidden_act != "gelu" {
            return unsupported("activation", &self.hidden_act, "use a model with `gelu`");
        }
        match self.position_embedding_type.as_deref() {
            None | Some("absolute") => {}
            Some(other) => {
                return unsupported("position embedding", other, "use one with `absolute`");
            }
        }
        if self.num_attention_heads == 0
            || !self.hidden_size.is_multiple_of(self.num_attention_heads)
        {
            return unsupported(
                "number of attention heads",
                &self.num_attention_heads.to_string(),
                "it must divide `hidden_size` in `config.json`",
            );
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Module {
    path: String,
    r#type: String,
}

#[derive(Deserialize)]
struct PoolingConfig {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

#[derive(Deserialize)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
}

#[derive(Default, Deserialize)]
struct PromptsConfig {
    #[serde(default)]
    prompts: PromptTexts,
}

#[derive(Default, Deserialize)]
struct PromptTexts {
    query: Option<String>,
    #[serde(alias = "passage")]
    document: Option<String>,
}

/// A sentence-transformers folder, read and checked but for its weights.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) config: BertConfig,
    pub(super) pooling: Pooling,
    pub(super) window: usize,
    pub(super) prompts: Prompts,
}

impl Folder {
    pub(super) fn read(path: &Path) -> Result<Self, ImportError> {
        let tokenizer = path.join(TOKENIZER_FILE);
        fs::metadata(&tokenizer).map_err(ImportError::read(&tokenizer))?;
        let tokenizer =
            Tokenizer::from_file(&tokenizer).map_err(|source| ImportError::Tokenizer {
                path: tokenizer,
                source,
            })?;
        let config: BertConfig = json(&path.join("config.json"))?;
        config.check()?;
        let sentence: Option<SentenceConfig> = optional(&path.join("sentence_bert_config.json"))?;
        let window = sentence.and_then(|sentence| sentence.max_seq_length);
        let window = window.unwrap_or(usize::MAX).min(config.positions());
        let prompts = read_prompts(path, &config)?;
        let prompt =
            prompt_tokens(tokenizer, &prompts.document).map_err(|source| ImportError::Prompt {
                prompt: prompts.document.clone(),
                source,
            })?;
        let pooling = read_pooling(path)?;
        let window = window.saturating_sub(prompt);
        Ok(Self {
            path: path.to_owned(),
            config,
            pooling,
            window,
            prompts,
        })
    }

    pub(super) fn has_onnx(&self) -> bool {
        self.path.join("onnx/model.onnx").is_file()
    }

    pub(super) fn weights_path(&self) -> PathBuf {
        self.path.join("model.safetensors")
    }

    pub(super) fn weights(&self) -> Result<Vec<u8>, ImportError> {
        let path = self.weights_path();
        fs::read(&path).map_err(ImportError::read(&path))
    }
}

/// Tokens that `prompt` takes of the window; the file's own cutting and padding do not count.
fn prompt_tokens(mut tokenizer: Tokenizer, prompt: &str) -> Result<usize, tokenizers::Error> {
    tokenizer.with_truncation(None)?.with_padding(None);
    Ok(tokenizer.encode_fast(prompt, false)?.len())
}

/// How `modules.json` makes one vector of many. A folder without it is a plain transformer, for
/// which sentence-transformers takes the mean.
fn read_pooling(path: &Path) -> Result<Pooling, ImportError> {
    let modules: Vec<Module> = optional(&path.join("modules.json"))?.unwrap_or_default();
    let mut pooling = Pooling::Mean;
    for module in modules {
        match module.r#type.rsplit('.').next().unwrap_or_default() {
            // Vectors are always brought to unit length, whether or not the folder asks for it.
            "Transformer" | "Normalize" => {}
            "Pooling" => {
                let config: PoolingConfig = json(&path.join(module.path).join("config.json"))?;
                pooling = match (
                    config.pooling_mode_mean_tokens,
                    config.pooling_mode_cls_token,
                ) {
                    (true, false) => Pooling::Mean,
                    (false, true) => Pooling::Cls,
                    _ => {
                        return Err(ImportError::Unsupported {
                            what: "pooling",
                            found: "neither mean nor cls alone".to_owned(),
                            remedy: "use a model that pools by mean or by its first token",
                        });
                    }
                };
            }
            _ => {
                return Err(ImportError::Unsupported {
                    what: "module",
                    found: module.r#type,
                    remedy: "use a model of transformer, pooling and normalisation only",
                });
            }
        }
    }
    Ok(pooling)
}

/// Prompts as the folder gives them; some families are known to need one without saying so in
/// their files (their model cards do).
fn read_prompts(path: &Path, config: &BertConfig) -> Result<Prompts, ImportError> {
    let file: PromptsConfig =
        optional(&path.join("config_sentence_transformers.json"))?.unwrap_or_default();
    if file.prompts.query.is_some() || file.prompts.document.is_some() {
        return Ok(Prompts {
            query: file.prompts.query.unwrap_or_default(),
            document: file.prompts.document.unwrap_or_default(),
        });
    }
    let folder = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let names = [folder.unwrap_or_default(), config.name_or_path.clone()].map(|name| {
        name.to_ascii_lowercase()
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned()
    });
    let known = names.iter().find_map(|name| prompts_of_family(name));
    Ok(known.unwrap_or_default())
}

/// What the model cards of a family ask for, by the name that its models have; `None` for names
/// of no such family.
fn prompts_of_family(name: &str) -> Option<Prompts> {
    let is_arctic =
        name.starts_with("snowflake-arctic-embed-") || name.starts_with("arctic-embed-");
    let is_e5 = name.starts_with("e5-") || name.starts_with("multilingual-e5-");
    let (query, document) = if name.starts_with("bge-") && name.contains("-en") {
        (RETRIEVAL_PROMPT, "")
    } else if is_arctic && name.contains("-v2") {
        ("query: ", "")
    } else if is_arctic {
        (RETRIEVAL_PROMPT, "")
    } else if is_e5 && name.ends_with("-instruct") {
        (INSTRUCTION, "")
    } else if is_e5 {
        ("query: ", "passage: ")
    } else {
        return None;
    };
    Some(Prompts {
        query: query.to_owned(),
        document: document.to_owned(),
    })
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, ImportError> {
    let bytes = fs::read(path).map_err(ImportError::read(path))?;
    serde_json::from_slice(&bytes).map_err(|source| ImportError::Json {
        path: path.to_owned(),
        source,
    })
}

fn optional<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ImportError> {
    if path.is_file() {
        json(path).map(Some)
    } else {
        Ok(None)
    }
}
