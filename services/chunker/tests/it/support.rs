//! Tokenizers and documents for the tests.

use std::path::PathBuf;

use chunker::{Budget, PageText, TokenCounter};
use serde_json::json;
use shared::contract::Locator;
use shared::settings::{assets_dir, variable};

/// A WordPiece tokenizer like BERT's over `vocabulary`; words outside it are one token each.
fn word_piece(vocabulary: &[String]) -> TokenCounter {
    TokenCounter::from_bytes(tokenizer_file(vocabulary).as_bytes()).unwrap()
}

/// As `tokenizer.json` has it.
pub(crate) fn tokenizer_file(vocabulary: &[String]) -> String {
    let special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"].map(str::to_owned);
    let vocabulary: serde_json::Map<String, serde_json::Value> = special
        .iter()
        .chain(vocabulary)
        .enumerate()
        .map(|(id, token)| (token.clone(), json!(id)))
        .collect();
    let sequence = json!([
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
    ]);
    let tokenizer = json!({
        "version": "1.0",
        "truncation": {"max_length": 16, "strategy": "LongestFirst", "stride": 0},
        "padding": {
            "strategy": {"Fixed": 16}, "direction": "Right", "pad_to_multiple_of": null,
            "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]",
        },
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing", "single": sequence, "pair": sequence,
            "special_tokens": {
                "[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]},
            },
        },
        "decoder": null,
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary,
        },
    });
    tokenizer.to_string()
}

/// Every word, mark and Han character is one token, so that expectations can be counted.
pub(crate) fn by_words(window: u32) -> Budget {
    Budget::new(window, word_piece(&[])).unwrap()
}

/// Words fall into letters: many tokens per word, as in a language the model does not know.
pub(crate) fn by_letters(window: u32) -> Budget {
    let letters: Vec<String> = ('a'..='z')
        .chain('0'..='9')
        .flat_map(|c| [c.to_string(), format!("##{c}")])
        .chain("#.,!?-_|`~=*>()[]{}/\\\"'".chars().map(|c| c.to_string()))
        .collect();
    Budget::new(window, word_piece(&letters)).unwrap()
}

/// The budget of the default model: as imported, or of its downloaded tokenizer, when the machine
/// has one of them.
pub(crate) fn mini_lm() -> Option<Budget> {
    let imported = assets_dir().join("models/all-MiniLM-L6-v2");
    if imported.join("model.json").is_file() {
        let budget = Budget::open(&imported).unwrap();
        assert_eq!(budget.window, 256);
        return Some(budget);
    }
    let downloaded = assets_dir().join("source/all-MiniLM-L6-v2/tokenizer.json");
    let Ok(bytes) = std::fs::read(downloaded) else {
        println!("skipped: no tokenizer of all-MiniLM-L6-v2, run `ibid setup`");
        return None;
    };
    Some(Budget::new(256, TokenCounter::from_bytes(&bytes).unwrap()).unwrap())
}

/// The corpus of real documents, when the machine has it.
pub(crate) fn corpus() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus");
    let path = variable("IBID_CORPUS").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: no corpus, set `IBID_CORPUS`");
    None
}

pub(crate) fn pages<T: AsRef<str>>(texts: &[T]) -> Vec<PageText> {
    (1..)
        .zip(texts)
        .map(|(number, text)| PageText {
            number,
            locator: Locator::PdfPage {
                physical: number,
                label: None,
            },
            markdown: text.as_ref().to_owned(),
        })
        .collect()
}
