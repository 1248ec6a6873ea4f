//! Hits, and engines that hold them.

use std::sync::Mutex;

use async_trait::async_trait;
use query::{Engines, Wanted};
use shared::contract::{
    ChunkId, DocumentId, ErrorBody, ErrorCode, FileHash, Hit, Hits, Locator, QueryVector, Question,
    Sha256Hex, Span, Vector,
};
use shared::format::Format;

pub(crate) fn id(index: u32) -> ChunkId {
    ChunkId {
        file_hash: FileHash::of(&Sha256Hex::of(b"file"), Format::Pdf),
        index,
    }
}

/// Chunk `index` on page 4 of `handbook.pdf`.
pub(crate) fn hit(index: u32, text: &str) -> Hit {
    Hit {
        chunk_id: id(index),
        document_id: DocumentId::generate(),
        collection: shared::contract::CollectionName::default(),
        path: "/docs/handbook.pdf".to_owned(),
        name: "handbook.pdf".to_owned(),
        heading_path: vec!["Pricing".to_owned(), "Refunds".to_owned()],
        text: text.to_owned(),
        spans: vec![Span {
            page: 4,
            start: 0,
            end: u32::try_from(text.len()).unwrap(),
        }],
        locator: Locator::PdfPage {
            physical: 4,
            label: None,
        },
        score: 7.0,
    }
}

pub(crate) fn question(text: &str) -> Question {
    Question {
        text: text.to_owned(),
        k: 0,
        semantic_weight: None,
        filter: shared::contract::Filter::default(),
    }
}

/// Engines that find what they are given, or fail.
pub(crate) struct Shelf {
    pub(crate) keyword: Result<Vec<Hit>, ErrorCode>,
    pub(crate) embed: Result<(), ErrorCode>,
    pub(crate) vector: Result<Vec<Hit>, ErrorCode>,
    /// What was asked of which engine.
    pub(crate) asked: Mutex<Vec<(&'static str, Wanted)>>,
}

impl Shelf {
    pub(crate) fn of(keyword: Vec<Hit>, vector: Vec<Hit>) -> Self {
        Self {
            keyword: Ok(keyword),
            embed: Ok(()),
            vector: Ok(vector),
            asked: Mutex::default(),
        }
    }

    fn note(&self, engine: &'static str, wanted: &Wanted) {
        self.asked.lock().unwrap().push((engine, wanted.clone()));
    }
}

fn failed(code: ErrorCode) -> ErrorBody {
    ErrorBody::new(code, format!("no answer ({code:?})"), "try again")
}

fn hits(found: &Result<Vec<Hit>, ErrorCode>) -> Result<Hits, ErrorBody> {
    found
        .clone()
        .map(|hits| Hits { hits, took_ms: 1.0 })
        .map_err(failed)
}

#[async_trait]
impl Engines for Shelf {
    async fn keyword(&self, wanted: &Wanted) -> Result<Hits, ErrorBody> {
        self.note("keyword", wanted);
        hits(&self.keyword)
    }

    async fn embed(&self, _text: &str) -> Result<QueryVector, ErrorBody> {
        let vector = Vector(vec![1.0]);
        let model = "test-fp32".parse().unwrap();
        self.embed
            .map(|()| QueryVector { model, vector })
            .map_err(failed)
    }

    async fn vector(&self, wanted: &Wanted, _query: QueryVector) -> Result<Hits, ErrorBody> {
        self.note("vector", wanted);
        hits(&self.vector)
    }
}
