//! What the API takes as JSON. The bus is tolerant, so that services of two versions understand
//! each other; here a field that is not known is a mistake of whoever typed it, and is refused.

use schemars::JsonSchema;
use serde::Deserialize;
use shared::contract::{
    ChunkId, CollectionName, Date, DocumentId, Filter, FusionMethod, GeneratorId, Question, Turn,
};
use shared::format::Format;
use shared::language::Language;

use crate::secret::Secret;

/// A question to the documents.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a question as an object")]
#[schemars(rename = "Question")]
pub struct AskedQuestion {
    /// The question, at most 8 KiB.
    text: String,
    /// Passages wanted, 1 to 100; 5 when 0 or left out.
    #[serde(default)]
    k: u32,
    /// Weight of the vector results, 0 (keyword only) to 1 (semantic only). When left out the
    /// setting's, and without one it follows what each engine can see of the question.
    #[serde(default)]
    semantic_weight: Option<f32>,
    /// How the engines' results are fused; the setting's when left out.
    #[serde(default)]
    fusion: Option<FusionMethod>,
    /// Whether a cross-encoder orders the best passages again; the setting's when left out.
    #[serde(default)]
    rerank: Option<bool>,
    /// From 0 (relevance alone) to 1 (a passage from each document before a second from any).
    #[serde(default)]
    diversity: Option<f32>,
    /// Whether the reply says why each candidate is in it or not.
    #[serde(default)]
    explain: bool,
    /// Documents the explanation is to cover, found or not, at most 10.
    #[serde(default)]
    explain_documents: Vec<DocumentId>,
    /// Chunks the explanation is to cover, found or not, at most 10.
    #[serde(default)]
    explain_chunks: Vec<ChunkId>,
    /// Where to look.
    #[serde(default)]
    filter: AskedFilter,
    /// Who answers, by an id of `GET /api/v1/models`; the settings' when left out. A search does
    /// not read it.
    #[serde(default)]
    generator: Option<GeneratorId>,
    /// What was asked and answered before, oldest first; the last six turns are read. A search
    /// does not read it.
    #[serde(default)]
    history: Vec<AskedTurn>,
}

/// Which passages may be found. Empty lists mean no restriction.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a filter as an object")]
#[schemars(rename = "Filter")]
struct AskedFilter {
    /// Only in these collections.
    #[serde(default)]
    collections: Vec<CollectionName>,
    /// Only in these documents.
    #[serde(default)]
    documents: Vec<DocumentId>,
    /// Only documents whose path begins so.
    #[serde(default)]
    path_prefix: Option<String>,
    /// Only documents of these formats, such as `pdf`.
    #[serde(default)]
    formats: Vec<Format>,
    /// Only documents dated this day or later, as `2026-11-30`; the date is the file's own where
    /// it is known, else the day it was added.
    #[serde(default)]
    from: Option<Date>,
    /// Only documents dated this day or earlier.
    #[serde(default)]
    to: Option<Date>,
    /// Only documents in these languages, by ISO 639-1 code such as `en`.
    #[serde(default)]
    languages: Vec<Language>,
}

/// A question and its whole answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a turn as an object")]
#[schemars(rename = "Turn")]
struct AskedTurn {
    /// As asked.
    question: String,
    /// As answered, Markdown.
    answer: String,
}

impl From<AskedQuestion> for Question {
    fn from(asked: AskedQuestion) -> Self {
        Self {
            text: asked.text,
            k: asked.k,
            semantic_weight: asked.semantic_weight,
            fusion: asked.fusion,
            rerank: asked.rerank,
            diversity: asked.diversity,
            explain: asked.explain,
            explain_documents: asked.explain_documents,
            explain_chunks: asked.explain_chunks,
            filter: Filter {
                collections: asked.filter.collections,
                documents: asked.filter.documents,
                path_prefix: asked.filter.path_prefix,
                formats: asked.filter.formats,
                from: asked.filter.from,
                to: asked.filter.to,
                languages: asked.filter.languages,
            },
            generator: asked.generator,
            history: asked
                .history
                .into_iter()
                .map(|turn| Turn {
                    question: turn.question,
                    answer: turn.answer,
                })
                .collect(),
        }
    }
}

/// A language model to be tried.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a model as an object")]
pub struct TryModel {
    /// As `GET /api/v1/models` lists it.
    pub id: GeneratorId,
}

/// A login.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a login as an object")]
pub struct Login {
    /// The token.
    pub token: Secret,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_field_of_the_contract_is_taken() {
        let question = json!({
            "text": "How long?", "k": 3, "semantic_weight": 0.5, "fusion": "average",
            "rerank": true, "diversity": 0.25, "explain": true,
            "explain_documents": ["0190f3c2a1b2c3d4e5f60718293a4b5c"],
            "explain_chunks": ["00112233445566778899aabbccddeeff_17"],
            "filter": {
                "collections": ["notes"],
                "documents": ["0190f3c2a1b2c3d4e5f60718293a4b5c"],
                "path_prefix": "/contracts/", "formats": ["pdf"], "languages": ["tr"],
                "from": "2026-01-01", "to": "2026-11-30",
            },
            "generator": "ollama/llama3.2",
            "history": [{ "question": "Q", "answer": "A" }],
        });
        let asked: AskedQuestion = serde_json::from_value(question.clone()).unwrap();
        let passed_on = serde_json::to_value(Question::from(asked)).unwrap();
        assert_eq!(passed_on, question);
    }

    #[test]
    fn what_is_not_known_is_named() {
        #[track_caller]
        fn check(body: &str, part: &str) {
            let error = serde_json::from_str::<AskedQuestion>(body).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
        check(
            r#"{"text":"a","semantic_wieght":0.5}"#,
            "unknown field `semantic_wieght`, expected one of `text`, `k`, `semantic_weight`",
        );
        check(
            r#"{"text":"a","filter":{"collection":["x"]}}"#,
            "unknown field `collection`, expected one of `collections`, `documents`",
        );
        check(
            r#"{"text":"a","history":[{"question":"a","anwser":"b"}]}"#,
            "`anwser`",
        );
        let filter = |body: &str| format!(r#"{{"text":"a","filter":{body}}}"#);
        check(
            &filter(r#"{"formats":["PDF"]}"#),
            "unknown variant `PDF`, expected one of `markdown`, `text`, `pdf`",
        );
        check(&filter(r#"{"from":"30.11.2026"}"#), "a day like 2026-11-30");
        check(&filter(r#"{"to":"2026-02-30"}"#), "a day like 2026-11-30");
        check(
            &filter(r#"{"languages":["english"]}"#),
            "`english` is not a language: give its ISO 639-1 code, such as en",
        );
        check(
            r#"{"text":"a","fusion":"sum"}"#,
            "unknown variant `sum`, expected `rrf` or `average`",
        );
        check(r#"{"k":3}"#, "missing field `text`");
        check("[]", "expected a question as an object");
        check("7", "expected a question as an object");
        check(r#"{"text":"a","generator":"gpt"}"#, "names no generator");
    }
}
