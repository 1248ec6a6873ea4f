//! What an import writes, refuses and leaves behind.

use std::fs;
use std::path::Path;

use embedder::error::ModelError;
use embedder::import::import_model;
use embedder::model::{Model, ModelCard, Pooling, Prompts};
use serde_json::json;
use shared::settings::Precision;

use crate::parts::minilm;
use crate::tiny::{Tiny, write_json};

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_card_says_what_the_folder_says() {
    let card = ModelCard::read(minilm()).unwrap();
    assert_eq!(card.name, "all-MiniLM-L6-v2");
    assert_eq!(
        (card.dimension, card.window, card.pooling),
        (384, 256, Pooling::Mean)
    );
    assert_eq!(card.prompts, Prompts::default());
    card.verify(minilm()).unwrap();
    let mut expect: Vec<String> = card.files.keys().cloned().collect();
    expect.push("model.json".to_owned());
    expect.sort();
    assert_eq!(files(minilm()), expect, "every file is on the card");
}

#[test]
fn the_same_folder_gives_the_same_bytes_and_replaces_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let (source, out) = (
        folder.path().join("source"),
        folder.path().join("models/tiny"),
    );
    Tiny::BERT.write(&source);
    let first = import_model(&source, &out).unwrap();
    fs::write(out.join("stray"), "of an older import").unwrap();
    let second = import_model(&source, &out).unwrap();
    assert_eq!(first, second);
    second.card.verify(&out).unwrap();
    assert_eq!(
        files(out.parent().unwrap()),
        ["tiny"],
        "nothing else is left"
    );
    assert!(!out.join("stray").exists());
}

#[test]
fn what_is_not_computed_right_is_refused_and_leaves_nothing() {
    #[track_caller]
    fn check(change: impl Fn(&Path), expect: &str) {
        let folder = tempfile::tempdir().unwrap();
        let (source, out) = (
            folder.path().join("source"),
            folder.path().join("models/tiny"),
        );
        Tiny::BERT.write(&source);
        change(&source);
        let error = import_model(&source, &out).unwrap_err().to_string();
        assert!(error.contains(expect), "`{error}` does not say `{expect}`");
        assert!(files(out.parent().unwrap()).is_empty());
    }
    let config = |name: &'static str, value: serde_json::Value| {
        move |source: &Path| {
            let mut config = Tiny::BERT.config();
            config[name] = value.clone();
            write_json(&source.join("config.json"), &config);
        }
    };
    check(config("model_type", json!("t5")), "model type `t5`");
    check(config("hidden_act", json!("relu")), "activation `relu`");
    check(
        config("position_embedding_type", json!("relative_key")),
        "`relative_key`",
    );
    check(
        config("num_attention_heads", json!(5)),
        "attention heads `5`",
    );
    check(
        config("num_hidden_layers", json!(3)),
        "no tensor `encoder.layer.2",
    );
    check(config("intermediate_size", json!(50)), "has shape [48, 32]");
    check(
        |source| fs::remove_file(source.join("model.safetensors")).unwrap(),
        "cannot read",
    );
    check(
        |source| fs::write(source.join("model.safetensors"), "no").unwrap(),
        "safetensors",
    );
    check(
        |source| fs::write(source.join("tokenizer.json"), "{}").unwrap(),
        "not a tokenizer",
    );
    check(
        |source| fs::write(source.join("modules.json"), "[").unwrap(),
        "modules.json",
    );
    let pooling = json!({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true});
    check(
        |source| write_json(&source.join("1_Pooling/config.json"), &pooling),
        "pooling",
    );
    let dense = json!([{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}]);
    check(
        |source| write_json(&source.join("modules.json"), &dense),
        "Dense",
    );
}

#[test]
fn prompts_and_windows_come_from_the_files_or_the_family() {
    #[track_caller]
    fn check(name: &str, change: impl Fn(&Path), query: &str, document: &str) {
        let folder = tempfile::tempdir().unwrap();
        let (source, out) = (folder.path().join(name), folder.path().join("out"));
        Tiny::BERT.write(&source);
        change(&source);
        let card = import_model(&source, &out).unwrap().card;
        assert_eq!(
            (card.prompts.query.as_str(), card.prompts.document.as_str()),
            (query, document)
        );
    }
    let none = |_: &Path| ();
    check("tiny", none, "", "");
    check(
        "bge-small-en-v1.5",
        none,
        "Represent this sentence for searching relevant passages: ",
        "",
    );
    check("bge-m3", none, "", "");
    check("e5-small-v2", none, "query: ", "passage: ");
    check("multilingual-e5-small", none, "query: ", "passage: ");
    check(
        "multilingual-e5-large-instruct",
        none,
        "Instruct: Given a web search query, retrieve relevant passages that answer the \
         query\nQuery: ",
        "",
    );
    check(
        "snowflake-arctic-embed-s",
        none,
        "Represent this sentence for searching relevant passages: ",
        "",
    );
    check("snowflake-arctic-embed-l-v2.0", none, "query: ", "");
    let prompts = json!({"prompts": {"query": "ask: "}});
    check(
        "e5-own",
        |source| write_json(&source.join("config_sentence_transformers.json"), &prompts),
        "ask: ",
        "",
    );

    let folder = tempfile::tempdir().unwrap();
    let (source, out) = (folder.path().join("e5-tiny"), folder.path().join("out"));
    Tiny::BERT.write(&source);
    write_json(
        &source.join("sentence_bert_config.json"),
        &json!({"max_seq_length": 12}),
    );
    import_model(&source, &out).unwrap();
    let model = Model::open(&out, Precision::Fp32).unwrap();
    // `passage` is not in the tiny vocabulary: one unknown token, and the colon.
    assert_eq!(model.describe().window, 10);
    assert_eq!(model.tokens.document("pump").unwrap(), [2, 1, 10, 5, 3]);
    let long = model.tokens.question(&"leak ".repeat(30)).unwrap();
    assert_eq!(
        (long.len(), long.first(), long.last()),
        (12, Some(&2), Some(&3))
    );
    assert_eq!(long[1..4], [7, 10, 8]);
}

#[test]
fn a_graph_that_the_folder_brings_is_taken_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (source, first) = (folder.path().join("source"), folder.path().join("first"));
    Tiny::BERT.write(&source);
    import_model(&source, &first).unwrap();
    fs::create_dir(source.join("onnx")).unwrap();
    fs::copy(first.join("model.onnx"), source.join("onnx/model.onnx")).unwrap();
    fs::remove_file(source.join("model.safetensors")).unwrap();
    let second = folder.path().join("second");
    let card = import_model(&source, &second).unwrap().card;
    assert!(card.has(Precision::Fp32) && !card.has(Precision::Int8));
    assert_eq!(
        fs::read(second.join("model.onnx")).unwrap(),
        fs::read(first.join("model.onnx")).unwrap()
    );
    let error = Model::open(&second, Precision::Int8).err().unwrap();
    assert!(error.to_string().contains("second-int8"), "{error}");
}

#[test]
fn a_changed_file_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (source, out) = (folder.path().join("source"), folder.path().join("tiny"));
    Tiny::BERT.write(&source);
    let card = import_model(&source, &out).unwrap().card;
    assert!(Model::open(&out, Precision::Fp32).is_ok());
    for name in card.files.keys() {
        let bytes = fs::read(out.join(name)).unwrap();
        let mut changed = bytes.clone();
        match changed.last_mut() {
            Some(last) => *last ^= 1,
            None => changed.push(0),
        }
        fs::write(out.join(name), &changed).unwrap();
        let error = card.verify(&out).unwrap_err();
        assert!(matches!(error, ModelError::Changed { path } if path.ends_with(name)));
        fs::write(out.join(name), &bytes).unwrap();
    }
}

#[test]
fn a_folder_that_cannot_name_a_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    Tiny::BERT.write(&source);
    for name in ["a model", ".hidden", "modèle"] {
        let error = import_model(&source, &folder.path().join(name))
            .unwrap_err()
            .to_string();
        assert!(error.contains("does not name a model"), "{error}");
    }
}
