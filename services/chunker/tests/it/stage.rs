//! The stage over a real blob store.

use bytes::Bytes;
use chunker::{Chunker, PageText, batches, chunk_pages};
use shared::blobs::Blobs;
use shared::bus::Failure;
use shared::contract::{
    ChunksMade, DocumentId, DocumentParsed, ErrorCode, FileHash, Generation, Locator, ModelId,
    PageManifest, PageRecord, Pipeline, ReadMethod, Sha256Hex, Work,
};
use shared::format::Format;

use crate::support::{by_words, pages};

fn model() -> ModelId {
    "test-fp32".parse().unwrap()
}

fn work() -> Work {
    Work {
        document_id: DocumentId::generate(),
        generation: Generation(1),
        file_hash: FileHash::of(&Sha256Hex::of(b"x"), Format::Pdf),
        format: Format::Pdf,
        pipeline: Pipeline::current(model()),
        attempt: 1,
    }
}

/// Writes `texts` as the parser does; `None` is a page that could not be read.
async fn parsed(blobs: &Blobs, texts: &[Option<&str>]) -> DocumentParsed {
    let work = work();
    let folder = PageManifest::folder(&work.file_hash, &work.pipeline.parser);
    let mut manifest = PageManifest {
        format: Format::Pdf,
        parser: work.pipeline.parser.clone(),
        title: None,
        pages: Vec::new(),
        notes: Vec::new(),
    };
    for (number, text) in (1..).zip(texts) {
        manifest.pages.push(PageRecord {
            number,
            locator: Locator::PdfPage {
                physical: number,
                label: None,
            },
            method: if text.is_some() {
                ReadMethod::TextLayer
            } else {
                ReadMethod::Missing
            },
            characters: 0,
            doubts: Vec::new(),
            error: None,
        });
        if let Some(text) = text {
            let key = format!("{folder}/{}", PageManifest::page_file(number));
            blobs
                .put(&key, Bytes::from((*text).to_owned()))
                .await
                .unwrap();
        }
    }
    let pages = u32::try_from(manifest.pages.len()).unwrap();
    let json = serde_json::to_vec(&manifest).unwrap();
    blobs
        .put(&format!("{folder}/{}", PageManifest::FILE), json.into())
        .await
        .unwrap();
    DocumentParsed {
        work,
        folder,
        pages,
    }
}

fn store() -> (tempfile::TempDir, Blobs, Chunker) {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(folder.path()).unwrap();
    let chunker = Chunker::new(blobs.clone(), by_words(96), model());
    (folder, blobs, chunker)
}

#[tokio::test]
async fn pages_become_batches_and_the_same_again() {
    let (_folder, blobs, chunker) = store();
    let message = parsed(&blobs, &[Some("# A\n\nOne two.\n"), None, Some("Three.\n")]).await;
    let made = chunker.chunk(&message).await.unwrap();
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].work, message.work);
    assert_eq!(made[0].window, 96);
    assert_eq!(
        made[0].tokenizer_hash,
        by_words(96).tokenizer.hash().as_str()
    );
    let pages: Vec<u32> = made[0]
        .chunks
        .iter()
        .flat_map(|chunk| &chunk.spans)
        .map(|span| span.page)
        .collect();
    assert_eq!(pages, [1, 3]);
    assert_eq!(chunker.chunk(&message).await.unwrap(), made);
}

#[tokio::test]
async fn what_cannot_work_is_refused_and_what_may_work_is_tried_again() {
    let (_folder, blobs, chunker) = store();
    let blank = parsed(&blobs, &[Some(" \n"), None]).await;
    let refused = |outcome| match outcome {
        Err(Failure::Reject(error)) => error.code,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(chunker.chunk(&blank).await), ErrorCode::NoText);

    let mut foreign = parsed(&blobs, &[Some("text")]).await;
    foreign.work.pipeline.chunker = "c0".to_owned();
    assert_eq!(
        refused(chunker.chunk(&foreign).await),
        ErrorCode::PipelineMismatch
    );
    foreign.work.pipeline = Pipeline::current("other-fp32".parse().unwrap());
    assert_eq!(
        refused(chunker.chunk(&foreign).await),
        ErrorCode::PipelineMismatch
    );

    let mut lost = parsed(&blobs, &[Some("text")]).await;
    lost.folder.push_str("-gone");
    assert!(matches!(
        chunker.chunk(&lost).await,
        Err(Failure::Retry { .. })
    ));
}

#[test]
fn batches_fit_a_message_and_hold_every_chunk_once() {
    fn check(pages: &[PageText]) {
        let budget = by_words(96);
        let chunks = chunk_pages(pages, &budget).unwrap();
        let made = batches(&work(), &budget, chunks.clone());
        for (index, batch) in made.iter().enumerate() {
            assert_eq!(batch.batch.index as usize, index);
            assert_eq!(batch.batch.count as usize, made.len());
            assert_eq!(batch.total_chunks as usize, chunks.len());
            assert!((1..=ChunksMade::MAX_CHUNKS).contains(&batch.chunks.len()));
            let bytes = serde_json::to_vec(batch).unwrap().len();
            // Vectors of 1,024 dimensions would still fit beside it in 1 MiB.
            assert!(bytes < 640 * 1024, "a batch of {bytes} bytes");
        }
        let all: Vec<_> = made.into_iter().flat_map(|batch| batch.chunks).collect();
        assert_eq!(all, chunks);
    }
    check(&pages(&["one"]));
    check(&pages(&["Some words here. ".repeat(20_000)]));
    check(&pages(&["a\n\n\n\n".repeat(100_000)]));
    check(&pages(&["\u{1}\u{2}\u{3}x ".repeat(100_000)]));
    check(&pages(&["x".repeat(3_000_000)]));
}
