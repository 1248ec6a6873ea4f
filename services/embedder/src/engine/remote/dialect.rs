//! How Ollama and OpenAI-compatible servers are asked, and what they answer.

use serde::Deserialize;
use serde_json::{Value, json};
use shared::http::HttpServer;

use super::error::ServerError;

/// How long Ollama keeps the model loaded after a request; its own five minutes would make most
/// questions wait for the model.
const KEEP_ALIVE: &str = "30m";

/// The protocol of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `/api/embed` and `/api/show`.
    Ollama,
    /// `/embeddings` under a base address that mostly ends in `/v1`.
    OpenAi,
}

#[derive(Deserialize)]
struct OllamaReply {
    embeddings: Vec<Vec<f32>>,
}

#[derive(Deserialize)]
struct OpenAiReply {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    /// Left out by some servers, which then answer in order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Dialect {
    /// What people call such a server.
    pub(super) fn server(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::OpenAi => "the embedding server",
        }
    }

    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Ollama => "/api/embed",
            Self::OpenAi => "/embeddings",
        }
    }

    pub(super) fn body(self, model: &str, texts: &[&str]) -> Value {
        match self {
            // A text that is cut in silence would lack its end; versions from 0.13.5 on refuse it
            // in any case.
            Self::Ollama => json!({
                "model": model, "input": texts, "truncate": false, "keep_alive": KEEP_ALIVE,
            }),
            Self::OpenAi => json!({
                "model": model, "input": texts, "encoding_format": "float",
            }),
        }
    }

    /// The vectors in the order of the texts.
    pub(super) fn vectors(self, reply: &[u8]) -> Result<Vec<Vec<f32>>, String> {
        // serde_json's error tells a position, never the text there.
        match self {
            Self::Ollama => serde_json::from_slice::<OllamaReply>(reply)
                .map(|reply| reply.embeddings)
                .map_err(|error| error.to_string()),
            Self::OpenAi => serde_json::from_slice::<OpenAiReply>(reply)
                .map_err(|error| error.to_string())
                .and_then(|reply| in_order(reply.data)),
        }
    }

    pub(super) fn unreachable(self, server: &HttpServer) -> ServerError {
        ServerError::Unreachable {
            server: self.server(),
            url: server.url().to_owned(),
            remedy: match self {
                Self::Ollama => "run: ollama serve".to_owned(),
                Self::OpenAi => "start it, or correct `model.url`".to_owned(),
            },
        }
    }

    pub(super) fn no_model(self, model: &str) -> ServerError {
        ServerError::NoModel {
            model: model.to_owned(),
            remedy: match self {
                Self::Ollama => format!("run: ollama pull {model}"),
                Self::OpenAi => "load it in the server, or correct `model.name`; `model.url` \
                                 mostly ends in `/v1`"
                    .to_owned(),
            },
        }
    }
}

/// A server's own words about a failure; all put them in one of three places.
pub(super) fn words(reply: &[u8]) -> String {
    let reply: Value = serde_json::from_slice(reply).unwrap_or_default();
    let error = reply.get("error").unwrap_or(&reply);
    let words = error.get("message").unwrap_or(error).as_str();
    words.unwrap_or_default().to_owned()
}

fn in_order(data: Vec<Embedding>) -> Result<Vec<Vec<f32>>, String> {
    let mut vectors = vec![Vec::new(); data.len()];
    for (position, found) in data.into_iter().enumerate() {
        let index = found.index.unwrap_or(position);
        match vectors.get_mut(index) {
            Some(place) if place.is_empty() => *place = found.embedding,
            _ => return Err(format!("the index {index} is out of place")),
        }
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        #[track_caller]
        fn check(dialect: Dialect, reply: &str, expect: Result<&[[f32; 2]], &str>) {
            match (dialect.vectors(reply.as_bytes()), expect) {
                (Ok(found), Ok(wanted)) => assert_eq!(found, wanted),
                (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
                (got, want) => panic!("got {got:?}, want {want:?}"),
            }
        }
        use Dialect::{Ollama, OpenAi};
        let two: Result<&[[f32; 2]], &str> = Ok(&[[1.0, 2.0], [3.0, 4.0]]);
        check(Ollama, r#"{"embeddings": [[1, 2.0], [3e0, 4]]}"#, two);
        check(Ollama, r#"{"embeddings": [[1, null]]}"#, Err("null"));
        check(Ollama, r#"{"embeddings": [[1, 2"#, Err("EOF"));
        check(Ollama, r#"{"error": "no"}"#, Err("embeddings"));
        let item = |index: &str, values: &str| format!(r#"{{{index} "embedding": [{values}]}}"#);
        let data = |items: &[String]| format!(r#"{{"data": [{}]}}"#, items.join(","));
        let (a, b) = (r#""index": 0,"#, r#""index": 1,"#);
        check(OpenAi, &data(&[item(b, "3, 4"), item(a, "1, 2")]), two);
        check(OpenAi, &data(&[item("", "1, 2"), item("", "3, 4")]), two);
        let twice = data(&[item(a, "1, 2"), item(a, "3, 4")]);
        check(OpenAi, &twice, Err("index 0 is out of place"));
        let beyond = data(&[item(b, "1, 2")]);
        check(OpenAi, &beyond, Err("index 1 is out of place"));
    }

    #[test]
    fn words_are_found_where_servers_put_them() {
        for reply in [
            r#"{"error": "no such thing"}"#,
            r#"{"error": {"message": "no such thing", "code": 400}}"#,
            r#"{"object": "error", "message": "no such thing"}"#,
        ] {
            assert_eq!(words(reply.as_bytes()), "no such thing");
        }
        assert_eq!(words(b"<html>"), "");
    }
}
