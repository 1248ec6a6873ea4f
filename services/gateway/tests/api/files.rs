//! Originals and pages, as they lie in the blob store.

use bytes::Bytes;
use gateway::Settings;
use serde_json::Value;
use shared::blobs::original_key;
use shared::contract::subject::call;
use shared::contract::{
    CollectionName, DocumentId, DocumentState, DocumentView, ErrorBody, ErrorCode, FileHash,
    Generation, Locator, PageManifest, PageRecord, Pipeline, ReadMethod, Sha256Hex,
};
use shared::format::Format;

use crate::support::{Gateway, expect_error};

const TEXT: &[u8] = b"0123456789";

fn view(id: &DocumentId, name: &str) -> DocumentView {
    let content = Sha256Hex::of(TEXT);
    DocumentView {
        id: id.clone(),
        generation: Generation(1),
        collection: CollectionName::default(),
        path: format!("/home/mara/{name}"),
        name: name.to_owned(),
        format: Format::Text,
        bytes: TEXT.len() as u64,
        file_hash: FileHash::of(&content, Format::Text),
        content,
        state: DocumentState::Ready,
        searchable: true,
        pages: 3,
        missing_pages: vec![2],
        chunks: 2,
        tokens: 20,
        error: None,
        added_ms: 1,
        indexed_ms: Some(2),
        page_ledger: Vec::new(),
    }
}

/// A gateway whose catalog knows one document.
async fn with_document(name: &str) -> (Gateway, DocumentView) {
    let gateway = Gateway::start(Settings::default()).await;
    let view = view(&DocumentId::generate(), name);
    let known = view.clone();
    gateway
        .play(call::CATALOG_GET, move |id: DocumentId| {
            let known = known.clone();
            async move {
                assert_eq!(id, known.id);
                Ok(known)
            }
        })
        .await;
    (gateway, view)
}

async fn put_original(gateway: &Gateway, view: &DocumentView) {
    let key = original_key(&view.content);
    let bytes = Bytes::from_static(TEXT);
    gateway.blobs.put(&key, bytes).await.unwrap();
}

#[tokio::test]
async fn an_original_is_saved_and_never_shown() {
    let (gateway, view) = with_document("Übersicht \"1\".html").await;
    let url = gateway.url(&format!("/api/v1/documents/{}/original", view.id));
    let get = || gateway.client.get(&url);
    expect_error(get().send().await.unwrap(), 404, "not_found").await;
    put_original(&gateway, &view).await;

    let response = get().send().await.unwrap();
    assert_eq!(response.status(), 200);
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "application/octet-stream");
    assert_eq!(header("content-length"), "10");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(header("cache-control"), "no-store");
    assert!(header("content-security-policy").contains("sandbox"));
    let disposition = header("content-disposition");
    let expect = "attachment; filename=\"_bersicht _1_.html\"; \
                  filename*=UTF-8''%C3%9Cbersicht%20%221%22.html";
    assert_eq!(disposition, expect);
    let tag = header("etag");
    assert_eq!(response.bytes().await.unwrap(), TEXT);

    let part = get().header("range", "bytes=2-4").send().await.unwrap();
    assert_eq!(part.status(), 206);
    assert_eq!(part.headers()["content-range"], "bytes 2-4/10");
    assert_eq!(part.headers()["content-length"], "3");
    assert_eq!(part.bytes().await.unwrap(), "234");
    let same = get().header("range", "bytes=-2").header("if-range", tag);
    assert_eq!(same.send().await.unwrap().bytes().await.unwrap(), "89");
    let other = get()
        .header("range", "bytes=-2")
        .header("if-range", "\"x\"");
    assert_eq!(other.send().await.unwrap().bytes().await.unwrap(), TEXT);
    let beyond = get().header("range", "bytes=10-").send().await.unwrap();
    assert_eq!(beyond.headers()["content-range"], "bytes */10");
    expect_error(beyond, 416, "no_such_range").await;
    let head = gateway.client.head(&url).send().await.unwrap();
    assert_eq!(
        (head.status().as_u16(), &head.headers()["content-length"]),
        (200, &"10".parse().unwrap())
    );
}

fn record(number: u32, method: ReadMethod) -> PageRecord {
    PageRecord {
        number,
        locator: Locator::PdfPage {
            physical: number,
            label: None,
        },
        method,
        characters: 6,
        doubts: vec!["two columns".to_owned()],
        error: (method == ReadMethod::Missing).then(|| "it has no text layer".to_owned()),
    }
}

/// Three pages, of which the second could not be read.
async fn put_pages(gateway: &Gateway, view: &DocumentView) {
    let folder = PageManifest::folder(&view.file_hash, Pipeline::PARSER);
    let put = async |name: String, bytes: Vec<u8>| {
        let key = format!("{folder}/{name}");
        gateway.blobs.put(&key, bytes.into()).await.unwrap();
    };
    put(PageManifest::page_file(1), b"# One\n".to_vec()).await;
    put(PageManifest::page_file(3), b"# Three\n".to_vec()).await;
    let manifest = PageManifest {
        format: Format::Text,
        parser: Pipeline::PARSER.to_owned(),
        title: Some("Plan".to_owned()),
        pages: vec![
            record(1, ReadMethod::TextLayer),
            record(2, ReadMethod::Missing),
            record(3, ReadMethod::Native),
        ],
        notes: Vec::new(),
    };
    put(
        PageManifest::FILE.to_owned(),
        serde_json::to_vec(&manifest).unwrap(),
    )
    .await;
}

#[tokio::test]
async fn pages_are_given_with_where_they_stand_and_how_they_were_read() {
    let (gateway, view) = with_document("plan.pdf").await;
    let get = async |rest: &str| {
        let url = gateway.url(&format!("/api/v1/documents/{}/pages{rest}", view.id));
        gateway.client.get(url).send().await.unwrap()
    };
    let body = expect_error(get("").await, 404, "not_found").await;
    assert!(
        body["message"].as_str().unwrap().contains("not read yet"),
        "{body}"
    );
    put_pages(&gateway, &view).await;

    let first: Value = get("?limit=2").await.json().await.unwrap();
    assert_eq!((&first["total"], &first["next"]), (&3.into(), &2.into()));
    assert_eq!(first["title"], "Plan");
    let pages = first["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 2);
    assert_eq!(pages[0]["markdown"], "# One\n");
    assert_eq!(pages[0]["locator"]["physical"], 1);
    assert_eq!(pages[0]["method"], "text_layer");
    assert_eq!(pages[0]["doubts"][0], "two columns");
    assert_eq!(
        (&pages[1]["markdown"], &pages[1]["method"]),
        (&"".into(), &"missing".into())
    );
    assert_eq!(pages[1]["error"], "it has no text layer");
    let rest: Value = get("?after=2").await.json().await.unwrap();
    assert_eq!(
        (&rest["pages"][0]["number"], &rest["next"]),
        (&3.into(), &Value::Null)
    );

    let page: Value = get("/3").await.json().await.unwrap();
    assert_eq!(
        (&page["markdown"], &page["number"]),
        (&"# Three\n".into(), &3.into())
    );
    let body = expect_error(get("/4").await, 404, "not_found").await;
    assert_eq!(body["remedy"], "give a number from 1 to 3");
    expect_error(get("/one").await, 400, "bad_request").await;
}

#[tokio::test]
async fn a_document_that_failed_says_why_it_has_no_pages() {
    let gateway = Gateway::start(Settings::default()).await;
    gateway
        .play(call::CATALOG_GET, |id: DocumentId| async move {
            let error = ErrorBody::new(ErrorCode::PasswordNeeded, "it is locked", "unlock it");
            Ok(DocumentView {
                state: DocumentState::Failed,
                error: Some(error),
                ..view(&id, "plan.pdf")
            })
        })
        .await;
    let url = gateway.url(&format!(
        "/api/v1/documents/{}/pages",
        DocumentId::generate()
    ));
    let response = gateway.client.get(url).send().await.unwrap();
    let body = expect_error(response, 404, "not_found").await;
    assert_eq!(body["message"], "`plan.pdf` has no pages: it is locked");
    assert_eq!(body["remedy"], "unlock it");
}
