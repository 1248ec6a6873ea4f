//! Hits, and engines that hold them.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use async_trait::async_trait;
use futures::{Stream, StreamExt as _, stream};
use query::{
    Answerer, Engines, GenerateError, GenerationSettings, Generator, Generators, Limits, Piece,
    Pieces, Prompt, Settings, Stop, Wanted,
};
use shared::contract::{
    AnswerEvent, ChunkId, DocumentId, ErrorBody, ErrorCode, FileHash, GeneratorId, GeneratorView,
    Hit, Hits, Locator, ModelSight, NeighbourList, Neighbours, Provider, QueryVector, Question,
    Rerank, Reranked, Sha256Hex, Span, TokenUsage, Vector,
};
use shared::format::Format;
use tokio::sync::mpsc;

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
        table_header: String::new(),
        coverage: None,
    }
}

pub(crate) fn question(text: &str) -> Question {
    Question {
        text: text.to_owned(),
        ..Question::default()
    }
}

/// An answerer over `engines`, whose answers `generators` write, in this order.
pub(crate) fn answerer(
    engines: impl Engines + 'static,
    generators: Vec<Arc<dyn Generator>>,
) -> Answerer {
    let generation = GenerationSettings::default();
    Answerer {
        engines: Box::new(engines),
        generators: Generators::of(generators, generation.clone()),
        settings: Settings::default(),
        generation,
    }
}

/// The events of the answer to `question`.
pub(crate) async fn events(answerer: &Answerer, question: &Question) -> Vec<AnswerEvent> {
    let (sender, receiver) = mpsc::channel(8);
    let answering = async {
        answerer.answer(question, &sender).await;
        drop(sender);
    };
    let collecting = ReceiverStream(receiver).collect();
    tokio::join!(answering, collecting).1
}

struct ReceiverStream(mpsc::Receiver<AnswerEvent>);

impl Stream for ReceiverStream {
    type Item = AnswerEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<AnswerEvent>> {
        self.0.poll_recv(context)
    }
}

/// A generator that says what it is told to.
pub(crate) struct Scripted {
    pub(crate) provider: Provider,
    /// What `check` answers.
    pub(crate) check: Result<Limits, GenerateError>,
    /// What `generate` streams.
    pub(crate) pieces: Vec<Result<Piece, GenerateError>>,
    /// The prompts it was given.
    pub(crate) prompts: Mutex<Vec<Prompt>>,
}

impl Scripted {
    /// One that writes `words`.
    pub(crate) fn saying(words: &[&str]) -> Self {
        let text = words.iter().map(|word| Ok(Piece::Text((*word).to_owned())));
        let end = Piece::End {
            usage: TokenUsage {
                prompt_tokens: Some(40),
                answer_tokens: Some(u32::try_from(words.len()).unwrap()),
                tokens_per_second: None,
            },
            stop: Stop::Finished,
            notes: Vec::new(),
        };
        Self {
            provider: Provider::Ollama,
            check: Ok(Limits::default()),
            pieces: text.chain([Ok(end)]).collect(),
            prompts: Mutex::default(),
        }
    }
}

#[async_trait]
impl Generator for Scripted {
    fn provider(&self) -> Provider {
        self.provider
    }

    async fn models(&self) -> Result<Vec<GeneratorView>, GenerateError> {
        self.check.clone()?;
        Ok(vec![GeneratorView {
            id: GeneratorId::new(self.provider, "scripted"),
            is_default: false,
            window_tokens: None,
            bytes: None,
            loaded: None,
            refused: None,
        }])
    }

    async fn default_model(&self) -> Result<String, GenerateError> {
        self.check.clone().map(|_| "scripted".to_owned())
    }

    async fn check(&self, _model: &str) -> Result<Limits, GenerateError> {
        self.check.clone()
    }

    async fn warm(&self, _model: &str) -> Result<(), GenerateError> {
        Ok(())
    }

    async fn generate(&self, _model: &str, prompt: Prompt) -> Result<Pieces, GenerateError> {
        self.prompts.lock().unwrap().push(prompt);
        Ok(stream::iter(self.pieces.clone()).boxed())
    }
}

/// Engines that find what they are given, or fail.
pub(crate) struct Shelf {
    pub(crate) keyword: Result<Vec<Hit>, ErrorCode>,
    pub(crate) embed: Result<(), ErrorCode>,
    pub(crate) vector: Result<Vec<Hit>, ErrorCode>,
    /// What stands around the hits, in reading order.
    pub(crate) neighbours: Result<Vec<Hit>, ErrorCode>,
    /// The scores of a reranker; none is there without.
    pub(crate) reranked: Option<Vec<Option<f32>>>,
    /// What was asked of which engine.
    pub(crate) asked: Mutex<Vec<(&'static str, Wanted)>>,
}

impl Shelf {
    pub(crate) fn of(keyword: Vec<Hit>, vector: Vec<Hit>) -> Self {
        Self {
            keyword: Ok(keyword),
            embed: Ok(()),
            vector: Ok(vector),
            reranked: None,
            neighbours: Ok(Vec::new()),
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
        .map(|hits| Hits {
            hits,
            took_ms: 1.0,
            ..Hits::default()
        })
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
            .map(|()| QueryVector {
                model,
                vector,
                sight: ModelSight::default(),
            })
            .map_err(failed)
    }

    async fn vector(&self, wanted: &Wanted, _query: QueryVector) -> Result<Hits, ErrorBody> {
        self.note("vector", wanted);
        hits(&self.vector)
    }

    async fn rerank(&self, _request: &Rerank) -> Result<Reranked, ErrorBody> {
        let scores = self.reranked.clone();
        scores
            .map(|scores| Reranked {
                model: "test-fp32".parse().unwrap(),
                scores,
                took_ms: 1.0,
            })
            .ok_or_else(|| failed(ErrorCode::Unavailable))
    }

    async fn neighbours(&self, request: &Neighbours) -> Result<NeighbourList, ErrorBody> {
        let all = self.neighbours.clone().map_err(failed)?;
        let near = |id: &ChunkId| {
            let from = id.index.saturating_sub(request.before);
            let reach = from..=id.index + request.after;
            let near = all.iter().filter(|hit| {
                hit.chunk_id.file_hash == id.file_hash && reach.contains(&hit.chunk_id.index)
            });
            near.cloned().collect()
        };
        Ok(NeighbourList {
            runs: request.chunks.iter().map(near).collect(),
        })
    }
}
