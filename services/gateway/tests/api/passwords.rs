//! Passwords of documents: sealed at once, and never heard of again.

use std::sync::{Arc, Mutex};

use gateway::Settings;
use reqwest::multipart::{Form, Part};
use serde_json::json;
use shared::blobs::original_key;
use shared::contract::subject::call;
use shared::contract::{
    Admit, Admitted, DocumentId, DocumentState, DocumentView, ErrorBody, ErrorCode, Generation,
    Outcome, Sha256Hex,
};
use shared::secret::Sealer;

use crate::files::view;
use crate::support::{Gateway, expect_error};

const SECRET: &str = "open-sesame-42";

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
                    generation: Generation(2),
                    outcome: Outcome::Changed,
                })
            }
        })
        .await;
    seen
}

/// What the data folder's key makes of the sealed password of `admit`.
fn opened(gateway: &Gateway, admit: &Admit) -> Option<String> {
    let sealed = admit.password.as_ref()?;
    assert!(!format!("{admit:?}").contains(&sealed.0));
    let sealer = Sealer::open(gateway.data()).unwrap();
    let password = sealer.unseal(sealed, &admit.content).unwrap();
    Some(password.reveal().to_owned())
}

fn file(bytes: &'static str, name: &'static str) -> Part {
    Part::bytes(bytes.as_bytes()).file_name(name)
}

#[tokio::test]
async fn a_password_goes_sealed_with_the_next_file_and_no_other() {
    let gateway = Gateway::start(Settings::default()).await;
    let seen = catalog(&gateway).await;
    let form = Form::new()
        .text("password", SECRET)
        .part("file", file("one", "one.txt"))
        .part("file", file("two", "two.txt"))
        .text("password", "")
        .part("file", file("three", "three.txt"));
    let response = gateway
        .client
        .post(gateway.url("/api/v1/documents"))
        .multipart(form)
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 202);
    let answer = response.text().await.unwrap();
    assert!(
        !answer.contains("sesame") && !answer.contains("password"),
        "{answer}"
    );
    let seen = seen.lock().unwrap();
    let opened: Vec<_> = seen.iter().map(|admit| opened(&gateway, admit)).collect();
    assert_eq!(opened, [Some(SECRET.to_owned()), None, None]);
}

#[tokio::test]
async fn a_password_that_has_no_file_or_no_end_is_refused_without_being_quoted() {
    let gateway = Gateway::start(Settings::default()).await;
    let seen = catalog(&gateway).await;
    let post = async |form: Form| {
        let request = gateway.client.post(gateway.url("/api/v1/documents"));
        request.multipart(form).send().await.unwrap()
    };
    let late = Form::new()
        .part("file", file("one", "one.txt"))
        .text("password", SECRET);
    let body = expect_error(post(late).await, 400, "bad_request").await;
    assert!(!body.to_string().contains("sesame"), "{body}");
    let long = Form::new()
        .text("password", SECRET.repeat(100))
        .part("file", file("one", "one.txt"));
    let body = expect_error(post(long).await, 413, "too_large").await;
    assert!(!body.to_string().contains("sesame"), "{body}");
    assert!(seen.lock().unwrap().is_empty());
    // No password, no key.
    assert!(!gateway.data().join(Sealer::FILE).exists());
}

async fn play_view(gateway: &Gateway, view: DocumentView) {
    gateway
        .play(call::CATALOG_GET, move |_: DocumentId| {
            let view = view.clone();
            async { Ok(view) }
        })
        .await;
}

#[tokio::test]
async fn a_locked_document_is_opened_without_a_new_upload() {
    let gateway = Gateway::start(Settings::default()).await;
    let seen = catalog(&gateway).await;
    let locked = DocumentView {
        state: DocumentState::Failed,
        error: Some(ErrorBody::new(
            ErrorCode::PasswordNeeded,
            "it is locked",
            "unlock it",
        )),
        ..view(&DocumentId::generate(), "plan.pdf")
    };
    play_view(&gateway, locked.clone()).await;
    let unlock = async |body: String| {
        let url = format!("/api/v1/documents/{}/password", locked.id);
        let request = gateway.client.post(gateway.url(&url));
        let request = request.header("content-type", "application/json");
        request.body(body).send().await.unwrap()
    };
    let body = json!({ "password": SECRET }).to_string();
    // The stored original has gone.
    expect_error(unlock(body.clone()).await, 404, "not_found").await;

    let bytes = b"0123456789".to_vec();
    assert_eq!(Sha256Hex::of(&bytes), locked.content);
    let key = original_key(&locked.content);
    gateway.blobs.put(&key, bytes.into()).await.unwrap();
    let response = unlock(body).await;
    assert_eq!(response.status(), 202);
    let admitted: Admitted = response.json().await.unwrap();
    assert_eq!(admitted.generation, Generation(2));
    for wrong in [
        format!("\"{SECRET}\""),
        format!("{{\"password\": [\"{SECRET}\"]}}"),
        format!("{{\"password\": \"x\", \"{SECRET}\": 1}}"),
        "{\"password\": \"\"}".to_owned(),
    ] {
        let body = expect_error(unlock(wrong).await, 400, "bad_request").await;
        assert!(!body.to_string().contains("sesame"), "{body}");
    }

    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!(opened(&gateway, &seen[0]).as_deref(), Some(SECRET));
    assert_eq!(
        (
            &seen[0].path,
            &seen[0].content,
            seen[0].bytes,
            seen[0].force
        ),
        (&locked.path, &locked.content, locked.bytes, false)
    );
}

#[tokio::test]
async fn a_document_that_is_read_needs_no_password() {
    let gateway = Gateway::start(Settings::default()).await;
    let seen = catalog(&gateway).await;
    let ready = view(&DocumentId::generate(), "plan.pdf");
    play_view(&gateway, ready.clone()).await;
    let url = format!("/api/v1/documents/{}/password", ready.id);
    let request = gateway.client.post(gateway.url(&url));
    let response = request.json(&json!({ "password": SECRET })).send();
    let body = expect_error(response.await.unwrap(), 400, "bad_request").await;
    assert!(
        body["message"].as_str().unwrap().contains("read already"),
        "{body}"
    );
    assert!(seen.lock().unwrap().is_empty());
}
