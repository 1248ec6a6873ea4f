//! The stage between blob store and pool.

use bytes::Bytes;
use parser::stage::Parsing;
use shared::blobs::{Blobs, original_key};
use shared::bus::Failure;
use shared::contract::{
    DocumentAdmitted, DocumentId, ErrorCode, FileHash, Generation, PageManifest, Pipeline,
    Sha256Hex, Work,
};
use shared::format::Format;
use shared::secret::{Password, Sealer};

use crate::support::{Page, pdf, plan, pool};

struct Bench {
    _folder: tempfile::TempDir,
    blobs: Blobs,
    parsing: Parsing,
}

fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(folder.path()).unwrap();
    let parsing = Parsing::new(blobs.clone(), pool(plan()));
    Bench {
        _folder: folder,
        blobs,
        parsing,
    }
}

fn admitted(format: Format, bytes: &[u8]) -> (DocumentAdmitted, String) {
    let content = Sha256Hex::of(bytes);
    let file_hash = FileHash::of(&content, format);
    let folder = PageManifest::folder(&file_hash, Pipeline::PARSER);
    let work = Work {
        document_id: DocumentId::generate(),
        generation: Generation(1),
        file_hash,
        format,
        pipeline: Pipeline::current("test-model".parse().unwrap()),
        attempt: 1,
    };
    (
        DocumentAdmitted {
            work,
            content,
            name: "a file".to_owned(),
            password: None,
        },
        folder,
    )
}

#[tokio::test]
async fn pages_are_written_then_the_manifest_and_not_twice() {
    let bench = bench();
    let page = |line| Page {
        lines: vec![(12.0, line)],
        picture: false,
    };
    let bytes = pdf(
        "",
        0,
        &[
            page("The first page has words."),
            page("So has the second one."),
        ],
    );
    let (message, folder) = admitted(Format::Pdf, &bytes);
    bench
        .blobs
        .put(&original_key(&message.content), Bytes::from(bytes))
        .await
        .unwrap();

    let manifest = bench.parsing.manifest(&message, &folder).await.unwrap();
    assert_eq!((manifest.pages.len(), manifest.missing()), (2, Vec::new()));
    assert_eq!(manifest.parser, Pipeline::PARSER);
    let second = bench
        .blobs
        .get(&format!("{folder}/page_0002.md"))
        .await
        .unwrap();
    assert!(second.ends_with(b"So has the second one."), "{second:?}");
    let stored = bench
        .blobs
        .get(&format!("{folder}/pages.json"))
        .await
        .unwrap();
    assert_eq!(
        serde_json::from_slice::<PageManifest>(&stored).unwrap(),
        manifest
    );

    // The original gone, only the manifest can answer.
    bench
        .blobs
        .delete(&original_key(&message.content))
        .await
        .unwrap();
    assert_eq!(
        bench.parsing.manifest(&message, &folder).await.unwrap(),
        manifest
    );
    // And without the manifest, pages alone are no answer.
    bench
        .blobs
        .delete(&format!("{folder}/pages.json"))
        .await
        .unwrap();
    check_refused(
        bench.parsing.manifest(&message, &folder).await,
        ErrorCode::NotFound,
        "add",
    );
}

#[track_caller]
fn check_refused(result: Result<PageManifest, Failure>, code: ErrorCode, says: &str) {
    let Err(Failure::Reject(error)) = result else {
        panic!("{result:?}")
    };
    assert_eq!(error.code, code, "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

#[tokio::test]
async fn documents_without_text_are_refused_and_leave_nothing() {
    let bench = bench();
    let scan = || Page {
        lines: Vec::new(),
        picture: true,
    };
    let three = pdf("", 0, &[scan(), scan(), scan()]);
    for (format, bytes, code, says) in [
        (
            Format::Pdf,
            three,
            ErrorCode::NoText,
            "all 3 pages: needs OCR",
        ),
        (Format::Text, b" \r\n".to_vec(), ErrorCode::NoText, "empty"),
        (
            Format::Pdf,
            b"%PDF-1.7 and no more".to_vec(),
            ErrorCode::Damaged,
            "save it again",
        ),
    ] {
        let (message, folder) = admitted(format, &bytes);
        bench
            .blobs
            .put(&original_key(&message.content), Bytes::from(bytes))
            .await
            .unwrap();
        check_refused(bench.parsing.manifest(&message, &folder).await, code, says);
        assert_eq!(
            bench.blobs.list(&folder).await.unwrap(),
            Vec::<String>::new()
        );
    }
}

#[tokio::test]
async fn a_password_is_opened_with_the_key_it_was_sealed_with_or_asked_for_again() {
    let (bench, keys) = (bench(), tempfile::tempdir().unwrap());
    let parsing = bench.parsing.with_keys(keys.path().to_owned());
    let bytes = b"Not locked at all.".as_slice();
    let (mut message, folder) = admitted(Format::Text, bytes);
    let blob = Bytes::from_static(bytes);
    bench
        .blobs
        .put(&original_key(&message.content), blob)
        .await
        .unwrap();
    let password = Password::new("open sesame");

    let elsewhere = tempfile::tempdir().unwrap();
    let stranger = Sealer::open(elsewhere.path()).unwrap();
    message.password = Some(stranger.seal(&password, &message.content).unwrap());
    let Err(Failure::Reject(error)) = parsing.manifest(&message, &folder).await else {
        panic!("opened with another key")
    };
    assert_eq!(error.code, ErrorCode::PasswordNeeded);
    assert!(
        error
            .to_string()
            .contains("add the document again with its password"),
        "{error}"
    );
    assert!(!error.to_string().contains("sesame"));

    let ours = Sealer::open(keys.path()).unwrap();
    message.password = Some(ours.seal(&password, &message.content).unwrap());
    let manifest = parsing.manifest(&message, &folder).await.unwrap();
    assert_eq!(manifest.missing(), Vec::<u32>::new());
}
