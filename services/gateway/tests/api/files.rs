//! Originals and pages, as they lie in the blob store.

use bytes::Bytes;
use gateway::Settings;
use serde_json::Value;
use shared::blobs::original_key;
use shared::contract::subject::call;
use shared::contract::{
    CollectionName, DocumentId, DocumentState, DocumentView, ErrorBody, ErrorCode, FileHash,
    Generation, ListPages, Locator, PageList, PageManifest, PageRecord, PageView, ReadMethod,
    Sha256Hex,
};
use shared::format::Format;

use crate::support::{Gateway, expect_error};

const TEXT: &[u8] = b"0123456789";

pub(crate) fn view(id: &DocumentId, name: &str) -> DocumentView {
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
        missing_count: 1,
        chunks: 2,
        tokens: 20,
        error: None,
        added_ms: 1,
        indexed_ms: Some(2),
        modified_ms: 0,
        language: None,
        outdated: true,
        notes: vec!["read without PDFium".to_owned()],
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

/// The folder that an earlier parser wrote.
fn folder(view: &DocumentView) -> String {
    PageManifest::folder(&view.file_hash, "p0")
}

/// Three pages in the store, of which the second could not be read.
async fn put_pages(gateway: &Gateway, view: &DocumentView) {
    let folder = folder(view);
    let put = async |name: String, bytes: Vec<u8>| {
        let key = format!("{folder}/{name}");
        gateway.blobs.put(&key, bytes.into()).await.unwrap();
    };
    put(PageManifest::page_file(1), b"# One\n".to_vec()).await;
    put(PageManifest::page_file(3), b"# Three\n".to_vec()).await;
    let manifest = PageManifest {
        format: Format::Text,
        parser: "p0".to_owned(),
        title: Some("Plan".to_owned()),
        pages: records(),
        notes: Vec::new(),
    };
    put(
        PageManifest::FILE.to_owned(),
        serde_json::to_vec(&manifest).unwrap(),
    )
    .await;
}

fn records() -> Vec<PageRecord> {
    vec![
        record(1, ReadMethod::TextLayer),
        record(2, ReadMethod::Missing),
        record(3, ReadMethod::Native),
    ]
}

/// A catalog that lists the three pages; a chunk stands on each that was read.
async fn play_pages(gateway: &Gateway, view: &DocumentView) {
    let view = view.clone();
    gateway
        .play(call::CATALOG_PAGES, move |wanted: ListPages| {
            let view = view.clone();
            async move {
                let chunk = |record: &PageRecord| format!("{}_{}", view.file_hash, record.number);
                let all: Vec<PageView> = records()
                    .into_iter()
                    .filter(|record| !wanted.missing || record.method == ReadMethod::Missing)
                    .map(|record| PageView {
                        chunks: if record.method == ReadMethod::Missing {
                            Vec::new()
                        } else {
                            vec![chunk(&record).parse().unwrap()]
                        },
                        record,
                    })
                    .collect();
                let total = u32::try_from(all.len()).unwrap();
                let mut pages = all;
                pages.retain(|page| page.record.number > wanted.after);
                let more = pages.len() > wanted.limit as usize;
                pages.truncate(wanted.limit as usize);
                Ok(PageList {
                    next: more.then(|| pages.last().unwrap().record.number),
                    pages,
                    total,
                    folder: folder(&view),
                })
            }
        })
        .await;
}

#[tokio::test]
async fn pages_are_given_with_where_they_stand_and_how_they_were_read() {
    let (gateway, view) = with_document("plan.pdf").await;
    let get = async |rest: &str| {
        let url = gateway.url(&format!("/api/v1/documents/{}/pages{rest}", view.id));
        gateway.client.get(url).send().await.unwrap()
    };
    put_pages(&gateway, &view).await;
    play_pages(&gateway, &view).await;

    let first: Value = get("?limit=2").await.json().await.unwrap();
    assert_eq!((&first["total"], &first["next"]), (&3.into(), &2.into()));
    assert_eq!(first["title"], "Plan");
    assert_eq!(first["notes"][0], "read without PDFium");
    assert_eq!(first["file_hash"], view.file_hash.as_str());
    let pages = first["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 2);
    assert_eq!(pages[0]["markdown"], "# One\n");
    assert_eq!(pages[0]["locator"]["physical"], 1);
    assert_eq!(pages[0]["method"], "text_layer");
    assert_eq!(pages[0]["doubts"][0], "two columns");
    assert_eq!(pages[0]["chunks"][0], format!("{}_1", view.file_hash));
    assert_eq!(
        (&pages[1]["markdown"], &pages[1]["method"]),
        (&"".into(), &"missing".into())
    );
    assert_eq!(pages[1]["error"], "it has no text layer");
    assert_eq!(pages[1]["chunks"], serde_json::json!([]));
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
    expect_error(get("/0").await, 404, "not_found").await;
    expect_error(get("/one").await, 400, "bad_request").await;
}

#[tokio::test]
async fn the_ledger_comes_without_texts_and_of_missing_pages_alone_when_asked_so() {
    let (gateway, view) = with_document("plan.pdf").await;
    play_pages(&gateway, &view).await;
    let get = async |rest: &str| {
        let url = gateway.url(&format!("/api/v1/documents/{}/pages{rest}", view.id));
        gateway.client.get(url).send().await.unwrap()
    };
    // Not one of the texts lies in the store.
    let all: Value = get("?text=false").await.json().await.unwrap();
    assert_eq!(all["pages"].as_array().unwrap().len(), 3);
    assert_eq!(all["pages"][0].get("markdown"), None);
    assert_eq!(all["title"], Value::Null);
    let missing: Value = get("?missing=true").await.json().await.unwrap();
    assert_eq!(
        (&missing["total"], &missing["next"]),
        (&1.into(), &Value::Null)
    );
    assert_eq!(missing["pages"][0]["number"], 2);
    let body = expect_error(get("").await, 404, "not_found").await;
    assert!(
        body["message"].as_str().unwrap().contains("page 1"),
        "{body}"
    );
}

#[tokio::test]
async fn the_ledger_of_a_long_document_is_asked_for_in_large_parts() {
    let (gateway, view) = with_document("plan.pdf").await;
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = std::sync::Arc::clone(&asked);
    gateway
        .play(call::CATALOG_PAGES, move |wanted: ListPages| {
            seen.lock().unwrap().push((wanted.after, wanted.limit));
            async {
                Ok(PageList {
                    pages: Vec::new(),
                    next: None,
                    total: 0,
                    folder: "markdown/x".to_owned(),
                })
            }
        })
        .await;
    for rest in [
        "",
        "?limit=1000",
        "?text=false",
        "?text=false&limit=1000&after=7",
    ] {
        let url = gateway.url(&format!("/api/v1/documents/{}/pages{rest}", view.id));
        assert_eq!(gateway.client.get(url).send().await.unwrap().status(), 200);
    }
    assert_eq!(
        *asked.lock().unwrap(),
        [(0, 20), (0, 100), (0, 100), (7, 500)]
    );
}

#[tokio::test]
async fn pages_that_are_not_read_yet_are_told_so() {
    let (gateway, view) = with_document("plan.pdf").await;
    gateway
        .play(call::CATALOG_PAGES, |_: ListPages| async {
            Ok(PageList {
                pages: Vec::new(),
                next: None,
                total: 0,
                folder: String::new(),
            })
        })
        .await;
    for rest in ["", "/1"] {
        let url = gateway.url(&format!("/api/v1/documents/{}/pages{rest}", view.id));
        let response = gateway.client.get(url).send().await.unwrap();
        let body = expect_error(response, 404, "not_found").await;
        let message = body["message"].as_str().unwrap();
        assert!(message.contains("not read yet"), "{body}");
    }
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
    gateway
        .play(call::CATALOG_PAGES, |_: ListPages| async {
            Ok(PageList {
                pages: Vec::new(),
                next: None,
                total: 0,
                folder: String::new(),
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
