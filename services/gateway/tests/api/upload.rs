//! Uploads: bytes to the blob store, then one admission each.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use gateway::Settings;
use reqwest::multipart::{Form, Part};
use shared::blobs::original_key;
use shared::contract::subject::call;
use shared::contract::{
    Admit, Admitted, DocumentId, ErrorBody, ErrorCode, Generation, Outcome, Sha256Hex,
};
use shared::format::Format;

use crate::support::{Gateway, expect_error, wait_for};

/// A catalog that takes everything in and remembers it.
async fn catalog(gateway: &Gateway) -> Arc<Mutex<Vec<Admit>>> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let remember = Arc::clone(&seen);
    gateway
        .play(call::CATALOG_ADMIT, move |admit: Admit| {
            remember.lock().unwrap().push(admit);
            async {
                Ok(Admitted {
                    document_id: DocumentId::generate(),
                    generation: Generation(1),
                    outcome: Outcome::New,
                })
            }
        })
        .await;
    seen
}

fn file(bytes: impl Into<Vec<u8>>, name: &str) -> Part {
    Part::bytes(bytes.into()).file_name(name.to_owned())
}

async fn post(gateway: &Gateway, form: Form) -> reqwest::Response {
    gateway
        .client
        .post(gateway.url("/api/v1/documents"))
        .multipart(form)
        .send()
        .await
        .unwrap()
}

#[tokio::test]
async fn a_file_lies_in_the_blob_store_before_it_is_admitted() {
    let gateway = Gateway::start(Settings::default()).await;
    let blobs = gateway.blobs.clone();
    let text = "# Terms\n\nThirty days.\n".repeat(20_000);
    let content = Sha256Hex::of(text.as_bytes());
    gateway
        .play(call::CATALOG_ADMIT, move |admit: Admit| {
            let blobs = blobs.clone();
            async move {
                let bytes = blobs.get(&original_key(&admit.content)).await.unwrap();
                assert_eq!(Sha256Hex::of(&bytes), admit.content);
                assert_eq!(bytes.len() as u64, admit.bytes);
                assert_eq!(admit.path, "/home/mara/terms.md");
                assert_eq!(admit.collection.as_str(), "contracts");
                assert_eq!(admit.format, Format::Markdown);
                assert!(admit.force);
                Ok(Admitted {
                    document_id: DocumentId::generate(),
                    generation: Generation(3),
                    outcome: Outcome::Changed,
                })
            }
        })
        .await;
    let form = Form::new()
        .text("path", "/home/mara/terms.md")
        .text("collection", "contracts")
        .text("force", "true")
        .part("file", file(text, "terms.md"));
    let response = post(&gateway, form).await;
    assert_eq!(response.status(), 202);
    let admitted: Admitted = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    assert_eq!(
        (admitted.generation, admitted.outcome),
        (Generation(3), Outcome::Changed)
    );
    assert!(gateway.blobs.exists(&original_key(&content)).await.unwrap());
    assert_eq!(gateway.staged(), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn an_original_that_a_deletion_removed_meanwhile_is_put_back() {
    let gateway = Gateway::start(Settings::default()).await;
    let blobs = gateway.blobs.clone();
    gateway
        .play(call::CATALOG_ADMIT, move |admit: Admit| {
            let blobs = blobs.clone();
            async move {
                blobs.delete(&original_key(&admit.content)).await.unwrap();
                Ok(Admitted {
                    document_id: DocumentId::generate(),
                    generation: Generation(1),
                    outcome: Outcome::New,
                })
            }
        })
        .await;
    let response = post(&gateway, Form::new().part("file", file("words", "a.txt"))).await;
    assert_eq!(response.status(), 202);
    let key = original_key(&Sha256Hex::of(b"words"));
    assert_eq!(gateway.blobs.get(&key).await.unwrap(), "words");
    assert_eq!(gateway.staged().len(), 0);
}

#[tokio::test]
async fn several_files_are_answered_one_by_one() {
    let gateway = Gateway::start(Settings::default()).await;
    let seen = catalog(&gateway).await;
    let form = Form::new()
        .text("collection", "notes")
        .text("path", "upload://notes/2024/may.md")
        .part("file", file("# May", "may.md"))
        .part("file", file(&b"\x7fELF\x02\x01\x01\0"[..], "plan.exe"))
        .part("file", file("plain words", "june.txt"))
        .text("path", "relative.txt")
        .part("file", file("words", "x.txt"));
    let response = post(&gateway, form).await;
    assert_eq!(response.status(), 202);
    let all: Vec<serde_json::Value> = response.json().await.unwrap();
    assert_eq!(all.len(), 4);
    assert_eq!(all[0]["path"], "upload://notes/2024/may.md");
    assert_eq!(all[1]["error"]["code"], "unsupported_format");
    assert_eq!(all[2]["path"], "upload://notes/june.txt");
    assert_eq!(all[2]["outcome"], "new");
    assert_eq!(all[3]["error"]["code"], "bad_request");
    let paths: Vec<_> = seen
        .lock()
        .unwrap()
        .iter()
        .map(|admit| admit.path.clone())
        .collect();
    assert_eq!(
        paths,
        ["upload://notes/2024/may.md", "upload://notes/june.txt"]
    );
    assert_eq!(gateway.blobs.list("originals").await.unwrap().len(), 2);
}

#[tokio::test]
async fn what_is_not_read_is_refused_with_the_remedy() {
    let gateway = Gateway::start(Settings::default()).await;
    let seen = catalog(&gateway).await;
    // Long enough that the refusal comes while the file is still on its way.
    let mut program = b"\x7fELF\x02\x01\x01\0".to_vec();
    program.resize(3_000_000, 7);
    let form = Form::new().part("file", file(program, "plan.docx"));
    let body = expect_error(post(&gateway, form).await, 415, "unsupported_format").await;
    assert!(
        body["message"].as_str().unwrap().contains("plan.docx"),
        "{body}"
    );
    assert!(body["remedy"].as_str().unwrap().contains("PDF"), "{body}");
    assert!(seen.lock().unwrap().is_empty());
    assert_eq!(gateway.blobs.list("originals").await.unwrap().len(), 0);
    wait_for("the refused file to go", async || {
        gateway.staged().is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_file_over_the_limit_is_refused_and_one_at_the_limit_is_not() {
    let settings = Settings {
        max_upload_mib: 1,
        ..Settings::default()
    };
    let gateway = Gateway::start(settings).await;
    let seen = catalog(&gateway).await;
    let limit = 1024 * 1024;
    let over = Form::new().part("file", file(vec![b'a'; limit + 1], "long.txt"));
    let body = expect_error(post(&gateway, over).await, 413, "too_large").await;
    assert!(
        body["message"].as_str().unwrap().contains("1 MiB"),
        "{body}"
    );
    wait_for("the refused file to go", async || {
        gateway.staged().is_empty().then_some(())
    })
    .await;
    assert!(seen.lock().unwrap().is_empty());
    let at = Form::new().part("file", file(vec![b'a'; limit], "long.txt"));
    assert_eq!(post(&gateway, at).await.status(), 202);
    assert_eq!(seen.lock().unwrap()[0].bytes, limit as u64);
}

#[tokio::test]
async fn an_upload_that_breaks_off_leaves_nothing() {
    let gateway = Gateway::start(Settings::default()).await;
    let seen = catalog(&gateway).await;
    let (sender, body) = tokio::sync::mpsc::channel::<Result<Vec<u8>, std::io::Error>>(1);
    let body = futures::stream::unfold(body, |mut body| async {
        let piece = body.recv().await?;
        Some((piece, body))
    });
    let part = Part::stream(reqwest::Body::wrap_stream(body)).file_name("half.txt");
    let request = gateway
        .client
        .post(gateway.url("/api/v1/documents"))
        .multipart(Form::new().part("file", part))
        .send();
    let request = tokio::spawn(request);
    sender.send(Ok(vec![b'a'; 100_000])).await.unwrap();
    wait_for("bytes on disk", async || {
        (!gateway.staged().is_empty()).then_some(())
    })
    .await;
    sender
        .send(Err(std::io::Error::other("the cable was pulled")))
        .await
        .unwrap();
    assert!(request.await.unwrap().is_err());
    wait_for("the half file to go", async || {
        gateway.staged().is_empty().then_some(())
    })
    .await;
    assert!(seen.lock().unwrap().is_empty());
    assert_eq!(gateway.blobs.list("originals").await.unwrap().len(), 0);
}

#[tokio::test]
async fn forms_that_are_wrong_say_how() {
    let gateway = Gateway::start(Settings::default()).await;
    let seen = catalog(&gateway).await;
    let text = || file("words", "a.txt");
    let cases = [
        (Form::new().text("collection", "default"), "no file"),
        (
            Form::new().text("colection", "x").part("file", text()),
            "colection",
        ),
        (
            Form::new()
                .text("collection", "No Good")
                .part("file", text()),
            "collection name",
        ),
        (
            Form::new().text("force", "perhaps").part("file", text()),
            "perhaps",
        ),
        (
            Form::new().text("path", "../up.txt").part("file", text()),
            "../up.txt",
        ),
        (
            Form::new()
                .text("path", "/a/../up.txt")
                .part("file", text()),
            "/a/../up.txt",
        ),
        (
            Form::new().part("file", Part::bytes(b"words".to_vec())),
            "has no name",
        ),
        (
            Form::new()
                .text("path", "upload://b/x.txt")
                .part("file", text()),
            "upload://b/x.txt",
        ),
    ];
    for (form, part) in cases {
        let body = expect_error(post(&gateway, form).await, 400, "bad_request").await;
        assert!(
            body["message"].as_str().unwrap().contains(part),
            "{body} lacks {part}"
        );
    }
    let plain = gateway
        .client
        .post(gateway.url("/api/v1/documents"))
        .body("words");
    let body = expect_error(plain.send().await.unwrap(), 400, "bad_request").await;
    assert_eq!(body["message"], "the body is no form");
    assert!(seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_date_goes_with_the_next_file_and_no_other() {
    let gateway = Gateway::start(Settings::default()).await;
    let seen = catalog(&gateway).await;
    let form = Form::new()
        .text("modified", "2026-03-29T12:00:00+02:00")
        .part("file", file("one", "one.txt"))
        .part("file", file("two", "two.txt"))
        .text("modified", "-86400000")
        .part("file", file("three", "three.txt"))
        .text("modified", "")
        .part("file", file("four", "four.txt"));
    assert_eq!(post(&gateway, form).await.status(), 202);
    let dates: Vec<_> = seen
        .lock()
        .unwrap()
        .iter()
        .map(|admit| admit.modified_ms)
        .collect();
    assert_eq!(
        dates,
        [Some(1_774_778_400_000), None, Some(-86_400_000), None]
    );
    for wrong in ["yesterday", "2026-03-29", "9223372036854775807", "1.5"] {
        let form = Form::new()
            .text("modified", wrong)
            .part("file", file("five", "five.txt"));
        let body = expect_error(post(&gateway, form).await, 400, "bad_request").await;
        assert_eq!(body["message"], format!("`modified` is `{wrong}`"));
        let remedy = body["remedy"].as_str().unwrap();
        assert!(remedy.contains("`2026-11-30T10:15:00Z`"), "{remedy}");
    }
    assert_eq!(seen.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn a_field_that_comes_after_its_file_is_refused_together_with_it() {
    let gateway = Gateway::start(Settings::default()).await;
    let seen = catalog(&gateway).await;
    let late = Form::new()
        .part("file", file("words", "a.txt"))
        .text("collection", "papers");
    let body = expect_error(post(&gateway, late).await, 400, "bad_request").await;
    assert_eq!(body["message"], "`collection` comes after the file");
    assert!(seen.lock().unwrap().is_empty());
    assert_eq!(gateway.blobs.list("originals").await.unwrap().len(), 0);

    let late = Form::new()
        .part("file", file("one", "one.txt"))
        .text("path", "upload://default/second.txt")
        .part("file", file("two", "two.txt"))
        .text("force", "true");
    let response = post(&gateway, late).await;
    assert_eq!(response.status(), 202);
    let all: Vec<serde_json::Value> = response.json().await.unwrap();
    assert_eq!(all[0]["outcome"], "new");
    assert_eq!(all[1]["error"]["message"], "`force` comes after the file");
    assert_eq!(seen.lock().unwrap().len(), 1);
    wait_for("the refused file to go", async || {
        gateway.staged().is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn who_pauses_too_long_gives_the_place_back_at_once() {
    let settings = Settings {
        upload_pause_secs: 2,
        max_uploads: 1,
        ..Settings::default()
    };
    let gateway = Gateway::start(settings).await;
    let seen = catalog(&gateway).await;
    let body = futures::stream::iter([Ok::<_, std::io::Error>(vec![b'a'; 100])])
        .chain(futures::stream::pending());
    let part = Part::stream(reqwest::Body::wrap_stream(body)).file_name("slow.txt");
    let started = Instant::now();
    let response = post(&gateway, Form::new().part("file", part)).await;
    expect_error(response, 408, "too_slow").await;
    // A second pause would make it four seconds.
    assert!(started.elapsed() < Duration::from_millis(3900));
    let response = post(&gateway, Form::new().part("file", file("words", "a.txt"))).await;
    assert_eq!(response.status(), 202);
    assert_eq!(seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn an_admission_that_fails_is_told_as_it_is() {
    let gateway = Gateway::start(Settings::default()).await;
    let form = || Form::new().part("file", file("words", "a.txt"));
    expect_error(post(&gateway, form()).await, 503, "unavailable").await;
    gateway
        .play(call::CATALOG_ADMIT, |_: Admit| async {
            Err::<Admitted, _>(ErrorBody::new(
                ErrorCode::Busy,
                "the catalog is busy",
                "wait",
            ))
        })
        .await;
    let response = post(&gateway, form()).await;
    assert_eq!(response.headers()["retry-after"], "1");
    let body = expect_error(response, 429, "busy").await;
    assert_eq!(body["message"], "the catalog is busy");
}

#[tokio::test]
async fn what_a_killed_gateway_left_is_swept_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["upload-abc", "upload-abc.link", "other"] {
        std::fs::write(folder.path().join(name), b"half").unwrap();
    }
    assert_eq!(gateway::intake::sweep(folder.path()).unwrap(), 2);
    assert!(folder.path().join("other").exists());
}
