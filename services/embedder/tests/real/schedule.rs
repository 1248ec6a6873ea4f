//! Many callers at one encoder, and the embed stage over it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;
use std::time::Duration;

use embedder::batch::{Scheduler, SchedulerOptions};
use embedder::encoder::{Encoder, OnnxEncoder, SessionOptions};
use embedder::engine::Local;
use embedder::error::EncodeError;
use embedder::model::Model;
use embedder::responder::Questions;
use embedder::stage::EmbedStage;
use shared::bus::{Failure, Handler as _};
use shared::contract::{
    Batch, Chunk, ChunksEmbedded, ChunksMade, DocumentId, EmbedQuery, EncoderDescription,
    ErrorCode, FileHash, Generation, Pipeline, Sha256Hex, Span, Work,
};
use shared::format::Format;
use shared::settings::Precision;

use crate::parts::{TEXTS, cosine, minilm, open, runtime};

const OPTIONS: SchedulerOptions = SchedulerOptions {
    name: "test",
    nice: 0,
    batch_time: Duration::from_millis(50),
    texts: 24,
};

fn scheduler(model: &Arc<Model>) -> Scheduler {
    let (runtime, model) = (runtime(), Arc::clone(model));
    let session = SessionOptions { threads: 2 };
    Scheduler::start(OPTIONS, move || OnnxEncoder::open(&runtime, model, session)).unwrap()
}

fn engine(model: &Arc<Model>) -> Arc<Local> {
    let (chunks, questions) = (scheduler(model), scheduler(model));
    Arc::new(Local::new(Arc::clone(model), chunks, questions))
}

pub(crate) fn model() -> Arc<Model> {
    Arc::new(Model::open(minilm(), Precision::Fp32).unwrap())
}

/// Answers with each text's length, or as told by the text's first id.
struct Mock {
    batches: Arc<AtomicUsize>,
    /// The first id of each text, batch by batch.
    seen: Arc<Mutex<Vec<u32>>>,
    gate: mpsc::Receiver<()>,
}

const FAIL: u32 = 666;
const PANIC: u32 = 667;
/// Until the test lets go.
const WAIT: u32 = 668;

impl Encoder for Mock {
    fn describe(&self) -> EncoderDescription {
        EncoderDescription {
            model: "mock-fp32".parse().unwrap(),
            dimension: 1,
            window: 16,
            tokenizer_hash: String::new(),
        }
    }

    fn encode(&mut self, batch: &[&[u32]]) -> Result<Vec<Vec<f32>>, EncodeError> {
        self.batches.fetch_add(1, Ordering::SeqCst);
        let has = |id| batch.iter().any(|text| text[0] == id);
        assert!(!has(PANIC), "as told");
        let first = batch.iter().map(|text| text[0]);
        self.seen.lock().unwrap().extend(first);
        if has(WAIT) {
            self.gate.recv().unwrap();
        }
        if has(FAIL) {
            return Err(EncodeError::Output {
                found: 0,
                wanted: batch.len(),
            });
        }
        Ok(batch.iter().map(|text| vec![text.len() as f32]).collect())
    }
}

fn mock() -> (Scheduler, Arc<AtomicUsize>) {
    let batches = Arc::new(AtomicUsize::new(0));
    let mock = Mock {
        batches: Arc::clone(&batches),
        seen: Arc::default(),
        gate: mpsc::channel().1,
    };
    (Scheduler::start(OPTIONS, || Ok(mock)).unwrap(), batches)
}

/// Lets the texts of a call begin to wait, and the call go on later.
async fn begin(call: Pin<&mut impl Future>) {
    let mut call = call;
    poll_fn(|context| {
        assert!(call.as_mut().poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
}

#[tokio::test]
async fn a_small_document_does_not_wait_for_a_large_one() {
    let (go, gate) = mpsc::channel();
    let seen: Arc<Mutex<Vec<u32>>> = Arc::default();
    let mock = Mock {
        batches: Arc::default(),
        seen: Arc::clone(&seen),
        gate,
    };
    // One text per batch, and all texts at once.
    let options = SchedulerOptions {
        batch_time: Duration::from_nanos(1),
        texts: 1000,
        ..OPTIONS
    };
    let scheduler = Scheduler::start(options, || Ok(mock)).unwrap();
    let (large, small) = (1, 2);
    let held = scheduler.encode_for(0, vec![vec![WAIT; 10]]);
    let much = scheduler.encode_for(1, vec![vec![large; 100]; 500]);
    let little = scheduler.encode_for(2, vec![vec![small; 100]; 5]);
    tokio::pin!(held, much, little);
    begin(held.as_mut()).await;
    begin(much.as_mut()).await;
    begin(little.as_mut()).await;
    seen.lock().unwrap().clear();
    go.send(()).unwrap();
    let (held, much, little) = tokio::join!(held, much, little);
    assert!(held.is_ok() && much.is_ok() && little.is_ok());
    let seen = seen.lock().unwrap();
    let last = seen.iter().rposition(|first| *first == small).unwrap();
    assert!(
        last <= 12,
        "the last text of the small one was number {last}"
    );
    assert_eq!(seen.last(), Some(&large));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_caller_gets_its_own_vectors_in_order() {
    let model = model();
    let scheduler = Arc::new(scheduler(&model));
    let ids: Vec<_> = TEXTS
        .iter()
        .map(|text| model.tokens.document(text).unwrap())
        .collect();
    let (_, mut encoder) = open(minilm(), Precision::Fp32);
    let expect: Vec<_> = ids
        .iter()
        .map(|ids| encoder.encode(&[ids]).unwrap().remove(0))
        .collect();
    let callers = (0..12).map(|caller| {
        let (scheduler, ids) = (Arc::clone(&scheduler), ids.clone());
        tokio::spawn(async move {
            let order: Vec<usize> = (0..TEXTS.len()).map(|n| (n * 3 + caller) % 8).collect();
            let texts = order.iter().map(|index| ids[*index].clone()).collect();
            (scheduler.encode(texts).await.unwrap(), order)
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        let (vectors, order) = caller.await.unwrap();
        assert_eq!(vectors.len(), order.len());
        for (vector, index) in vectors.iter().zip(order) {
            let found = cosine(vector, &expect[index]);
            assert!(found > 0.9999, "text {index} came out with cosine {found}");
        }
    }
}

#[tokio::test]
async fn more_texts_than_there_is_room_for_pass_too() {
    let (scheduler, _) = mock();
    let texts: Vec<Vec<u32>> = (1..200).map(|length| vec![1; length]).collect();
    let vectors = scheduler.encode(texts).await.unwrap();
    let expect: Vec<Vec<f32>> = (1..200_u16).map(|length| vec![f32::from(length)]).collect();
    assert_eq!(vectors, expect);
    assert!(scheduler.encode(Vec::new()).await.unwrap().is_empty());
}

#[tokio::test]
async fn texts_of_like_length_share_a_batch() {
    let (scheduler, batches) = mock();
    let before = batches.load(Ordering::SeqCst);
    let texts = (0..20)
        .map(|n| vec![1; if n % 2 == 0 { 5 } else { 100 }])
        .collect();
    scheduler.encode(texts).await.unwrap();
    assert_eq!(batches.load(Ordering::SeqCst) - before, 2);
}

#[tokio::test]
async fn a_failed_batch_fails_its_callers_and_no_others() {
    let (scheduler, _) = mock();
    let error = scheduler.encode(vec![vec![FAIL; 3]]).await.unwrap_err();
    assert!(matches!(error, EncodeError::Batch { .. }), "{error}");
    assert_eq!(scheduler.encode(vec![vec![1; 3]]).await.unwrap(), [[3.0]]);
}

#[tokio::test]
async fn a_panic_leaves_nobody_waiting() {
    let (scheduler, _) = mock();
    for _ in 0..2 {
        let call = scheduler.encode(vec![vec![PANIC; 3], vec![1; 3]]);
        let outcome = tokio::time::timeout(Duration::from_secs(10), call)
            .await
            .unwrap();
        assert!(matches!(outcome, Err(EncodeError::Stopped)));
    }
}

#[test]
fn an_encoder_that_does_not_open_is_an_error_at_the_start() {
    let open = || Err::<Mock, _>(EncodeError::Stopped);
    assert!(matches!(
        Scheduler::start(OPTIONS, open),
        Err(EncodeError::Stopped)
    ));
}

pub(crate) fn made(model: &Model, texts: &[&str]) -> ChunksMade {
    let description = model.describe();
    let file_hash = FileHash::of(&Sha256Hex::of(b"text"), Format::Text);
    let chunk = |(index, text): (usize, &&str)| Chunk {
        index: u32::try_from(index).unwrap(),
        heading_path: Vec::new(),
        prefix: String::new(),
        overlap: String::new(),
        text: (*text).to_owned(),
        spans: vec![Span {
            page: 1,
            start: 0,
            end: 1,
        }],
        tokens: 0,
    };
    ChunksMade {
        work: Work {
            document_id: DocumentId::generate(),
            generation: Generation(1),
            file_hash,
            format: Format::Text,
            pipeline: Pipeline::current(description.model),
            attempt: 1,
        },
        batch: Batch { index: 0, count: 1 },
        total_chunks: u32::try_from(texts.len()).unwrap(),
        tokenizer_hash: description.tokenizer_hash,
        window: description.window,
        chunks: texts.iter().enumerate().map(chunk).collect(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stage_gives_each_chunk_its_vector() {
    let model = model();
    let stage = EmbedStage::new(engine(&model));
    let message = made(&model, &TEXTS);
    let out = stage.handle(message.clone()).await.unwrap();
    assert_eq!(
        out[0].subject(),
        format!("ingest.v1.index.{}", message.work.document_id)
    );
    let embedded: ChunksEmbedded = serde_json::from_slice(out[0].payload()).unwrap();
    assert_eq!(
        (&embedded.work, &embedded.chunks),
        (&message.work, &message.chunks)
    );
    assert_eq!(
        (embedded.dimension, embedded.vectors.len()),
        (384, TEXTS.len())
    );
    let (first, second) = (&embedded.vectors[0].0, &embedded.vectors[1].0);
    assert!((cosine(first, second) - 0.7553).abs() < 0.002);

    let questions = Questions::new(engine(&model));
    let asked = questions
        .embed(EmbedQuery {
            text: TEXTS[0].to_owned(),
        })
        .await
        .unwrap();
    assert_eq!(asked.model, model.id);
    assert!(
        cosine(&asked.vector.0, first) > 0.9999,
        "MiniLM has no query prompt"
    );
    let long = questions
        .embed(EmbedQuery {
            text: "a ".repeat(3000),
        })
        .await
        .unwrap();
    assert!(
        (cosine(&long.vector.0, &long.vector.0) - 1.0).abs() < 1e-5,
        "cut to the window"
    );
    let refused = questions
        .embed(EmbedQuery {
            text: "a".repeat(9000),
        })
        .await
        .unwrap_err();
    assert_eq!(refused.code, ErrorCode::BadRequest);
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_for_another_model_are_refused() {
    let model = model();
    let stage = EmbedStage::new(engine(&model));
    let check = async |change: fn(&mut ChunksMade), expect: &str| {
        let mut message = made(&model, &TEXTS[..1]);
        change(&mut message);
        let Err(Failure::Reject(error)) = stage.handle(message).await else {
            panic!("`{expect}` passed");
        };
        assert_eq!(error.code, ErrorCode::PipelineMismatch);
        assert!(error.message.contains(expect), "{error}");
        assert!(!error.remedy.is_empty());
    };
    check(
        |made| made.work.pipeline.model = "bge-fp32".parse().unwrap(),
        "model `bge-fp32`",
    )
    .await;
    check(
        |made| made.tokenizer_hash = "00".to_owned(),
        "tokenizer `00`",
    )
    .await;
    check(|made| made.window = 512, "window `512`").await;
    let long = |made: &mut ChunksMade| made.chunks[0].text = "word ".repeat(300);
    check(long, "chunk 0 has 302 tokens where 256 fit").await;
}
