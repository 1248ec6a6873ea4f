//! Small random models, so that the import is tested on other shapes than the one real model's.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};

const HIDDEN: usize = 32;
const INNER: usize = 48;
const LAYERS: usize = 2;
const POSITIONS: usize = 40;
const WORDS: [&str; 12] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "pump", "valve", "query", "leak", "##s", ":", ".",
];

/// What a tiny model's folder says.
#[derive(Clone, Copy)]
pub(crate) struct Tiny {
    pub(crate) model_type: &'static str,
    pub(crate) pooling: &'static str,
    pub(crate) prefix: &'static str,
}

impl Tiny {
    pub(crate) const BERT: Self = Self {
        model_type: "bert",
        pooling: "mean",
        prefix: "",
    };

    pub(crate) fn config(self) -> Value {
        json!({
            "model_type": self.model_type, "hidden_size": HIDDEN, "intermediate_size": INNER,
            "num_hidden_layers": LAYERS, "num_attention_heads": 4, "vocab_size": WORDS.len(),
            "type_vocab_size": 2, "max_position_embeddings": POSITIONS, "layer_norm_eps": 1e-5,
            "hidden_act": "gelu", "pad_token_id": 1,
        })
    }

    /// Writes the folder; the weights are random under a fixed seed.
    pub(crate) fn write(self, folder: &Path) {
        fs::create_dir_all(folder.join("1_Pooling")).unwrap();
        write_json(&folder.join("config.json"), &self.config());
        let module = |kind: &str, path: &str| json!({"type": format!("sentence_transformers.models.{kind}"), "path": path});
        let modules = json!([module("Transformer", ""), module("Pooling", "1_Pooling")]);
        write_json(&folder.join("modules.json"), &modules);
        let pooling = json!({
            "pooling_mode_mean_tokens": self.pooling == "mean",
            "pooling_mode_cls_token": self.pooling == "cls",
        });
        write_json(&folder.join("1_Pooling/config.json"), &pooling);
        write_json(&folder.join("tokenizer.json"), &tokenizer());
        fs::write(folder.join("model.safetensors"), self.weights()).unwrap();
    }

    fn weights(self) -> Vec<u8> {
        let mut shapes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (name, rows) in [
            ("word", WORDS.len()),
            ("position", POSITIONS),
            ("token_type", 2),
        ] {
            shapes.insert(
                format!("embeddings.{name}_embeddings.weight"),
                vec![rows, HIDDEN],
            );
        }
        let mut norms = vec!["embeddings.LayerNorm".to_owned()];
        let mut dense = Vec::new();
        for layer in 0..LAYERS {
            let name = format!("encoder.layer.{layer}");
            norms.push(format!("{name}.attention.output.LayerNorm"));
            norms.push(format!("{name}.output.LayerNorm"));
            for part in ["self.query", "self.key", "self.value", "output.dense"] {
                dense.push((format!("{name}.attention.{part}"), HIDDEN, HIDDEN));
            }
            dense.push((format!("{name}.intermediate.dense"), INNER, HIDDEN));
            dense.push((format!("{name}.output.dense"), HIDDEN, INNER));
        }
        for name in norms {
            shapes.insert(format!("{name}.weight"), vec![HIDDEN]);
            shapes.insert(format!("{name}.bias"), vec![HIDDEN]);
        }
        for (name, outputs, inputs) in dense {
            shapes.insert(format!("{name}.weight"), vec![outputs, inputs]);
            shapes.insert(format!("{name}.bias"), vec![outputs]);
        }
        let mut random = StdRng::seed_from_u64(7);
        let data: BTreeMap<String, (Vec<usize>, Vec<u8>)> = shapes
            .into_iter()
            .map(|(name, shape)| {
                let count = shape.iter().product();
                let values = (0..count).map(|_| random.random_range(-0.5_f32..0.5));
                let bytes = values.flat_map(f32::to_le_bytes).collect();
                (format!("{}{name}", self.prefix), (shape, bytes))
            })
            .collect();
        let views = data.iter().map(|(name, (shape, bytes))| {
            (
                name,
                TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap(),
            )
        });
        safetensors::serialize(views, None).unwrap()
    }
}

fn tokenizer() -> Value {
    let vocab: serde_json::Map<String, Value> = WORDS
        .iter()
        .enumerate()
        .map(|(id, word)| ((*word).to_owned(), json!(id)))
        .collect();
    let special = |id: usize| {
        json!({"id": id, "content": WORDS[id], "special": true, "single_word": false,
               "lstrip": false, "rstrip": false, "normalized": false})
    };
    let marker = |id: usize| json!({"SpecialToken": {"id": WORDS[id], "type_id": 0}});
    let text = json!({"Sequence": {"id": "A", "type_id": 0}});
    let ids = |id: usize| json!({"id": WORDS[id], "ids": [id], "tokens": [WORDS[id]]});
    json!({
        "version": "1.0",
        "truncation": {"max_length": 5, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": null,
                    "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": [special(0), special(1), special(2), special(3)],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                       "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing",
            "single": [marker(2), text, marker(3)],
            "pair": [marker(2), text, marker(3)],
            "special_tokens": {"[CLS]": ids(2), "[SEP]": ids(3)}},
        "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": vocab},
    })
}

pub(crate) fn write_json(path: &Path, value: &Value) {
    fs::write(path, serde_json::to_vec(value).unwrap()).unwrap();
}
