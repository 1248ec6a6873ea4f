//! Version 1 of the contract is frozen: its old messages decode for ever, and its schemas are the
//! committed ones.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fmt::Debug;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::contract::{
    CatalogStatus, ChunksEmbedded, ChunksMade, Coverage, DeadLetter, DocumentAdmitted,
    DocumentParsed, DocumentView, ErrorCode, Hit, ListPages, Locator, PageList, PageManifest,
    PagePlaces, Reply, Retry, Span, StageProgress,
};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The fixture decodes, also with a field of a later version in it, and encodes to what it was.
#[track_caller]
fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(name: &str) -> T {
    let path = root()
        .join("tests/fixtures/v1")
        .join(name)
        .with_extension("json");
    let text = std::fs::read_to_string(&path).unwrap();
    let message: T = serde_json::from_str(&text).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        serde_json::to_value(&message).unwrap(),
        value,
        "{name} encodes differently now"
    );
    value
        .as_object_mut()
        .unwrap()
        .insert("of_a_later_version".to_owned(), true.into());
    assert_eq!(serde_json::from_value::<T>(value).unwrap(), message);
    message
}

#[test]
fn messages_of_version_1_decode() {
    check::<DocumentAdmitted>("document_admitted");
    check::<DocumentParsed>("document_parsed");
    let made = check::<ChunksMade>("chunks_made");
    assert_eq!(
        made.chunks[0].embed_input(),
        "Section: Leave > Carry-over\nUp to 240 hours."
    );
    let embedded = check::<ChunksEmbedded>("chunks_embedded");
    assert_eq!(embedded.vectors[0].0, [0.6, 0.8]);
    check::<DeadLetter>("dead_letter");
    check::<StageProgress>("stage_progress");
    let manifest = check::<PageManifest>("page_manifest");
    assert_eq!(manifest.missing(), [2]);
    let places = check::<PagePlaces>("page_places");
    assert_eq!(places.characters("# Leave\n\nUp", &(2..11)), [0..5, 7..9]);
    let locked = check::<DocumentAdmitted>("document_admitted_locked");
    assert!(!format!("{locked:?}").contains(&locked.password.unwrap().0));
    check::<ListPages>("list_pages");
    let list = check::<PageList>("page_list");
    assert_eq!(
        (list.pages[0].record.number, list.pages[0].chunks.len()),
        (1, 2)
    );
    check::<DocumentView>("document_view");
    check::<CatalogStatus>("catalog_status");
    let hit = check::<Hit>("hit");
    assert_eq!(hit.coverage, Coverage::of(311, 198));
}

/// What programs of before wrote still decodes: fields added since have their defaults.
#[test]
fn fields_added_since_may_be_absent() {
    #[track_caller]
    fn without<T: DeserializeOwned>(name: &str, fields: &[&str]) -> T {
        let path = root().join("tests/fixtures/v1").join(name);
        let text = std::fs::read_to_string(path.with_extension("json")).unwrap();
        let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
        for field in fields {
            assert!(
                value.as_object_mut().unwrap().remove(*field).is_some(),
                "{field}"
            );
        }
        serde_json::from_value(value).unwrap()
    }
    let added = [
        "missing_count",
        "outdated",
        "notes",
        "modified_ms",
        "language",
    ];
    let view: DocumentView = without("document_view", &added);
    assert!(!view.outdated && view.notes.is_empty());
    assert_eq!((view.modified_ms, view.language), (0, None));
    let status: CatalogStatus = without("catalog_status", &["missing_pages", "outdated"]);
    assert_eq!((status.missing_pages, status.outdated), (0, 0));
    let hit: Hit = without("hit", &["table_header", "coverage"]);
    assert_eq!((hit.table_header.as_str(), hit.coverage), ("", None));
    assert_eq!(
        serde_json::from_str::<Retry>("\"outdated\"").unwrap(),
        Retry::Outdated
    );
}

#[test]
fn a_document_s_coverage_is_told_when_it_is_not_whole() {
    #[track_caller]
    fn check(pages: u32, missing: u32, expect: Option<&str>) {
        let told = Coverage::of(pages, missing).map(|coverage| coverage.to_string());
        assert_eq!(told.as_deref(), expect);
    }
    check(311, 198, Some("113 of 311 pages"));
    check(311, 0, None);
    check(1, 1, Some("0 of 1 page"));
    check(0, 0, None);
}

#[test]
fn a_code_of_a_later_version_is_an_error_all_the_same() {
    let text = r#"{"error": {"code": "of_a_later_version", "message": "m", "remedy": "r"}}"#;
    let reply: Result<u32, _> = serde_json::from_str::<Reply<u32>>(text).unwrap().into();
    assert_eq!(reply.unwrap_err().code, ErrorCode::Unknown);
}

#[test]
fn a_place_is_told_as_the_document_tells_it_and_never_invented() {
    #[track_caller]
    fn check(locator: &Locator, expect: Option<&str>) {
        assert_eq!(locator.short().as_deref(), expect);
    }
    check(
        &Locator::PdfPage {
            physical: 4,
            label: None,
        },
        Some("p.4"),
    );
    check(
        &Locator::PdfPage {
            physical: 4,
            label: Some("4".into()),
        },
        Some("p.4"),
    );
    check(
        &Locator::PdfPage {
            physical: 4,
            label: Some("iv".into()),
        },
        Some("p.iv (4)"),
    );
    check(
        &Locator::Sheet {
            name: "Prices".into(),
            rows: (2, 40),
        },
        Some("Prices rows 2–40"),
    );
    check(
        &Locator::Section {
            heading: "Refunds".into(),
        },
        None,
    );
    check(&Locator::Block { number: 1 }, None);
    let inner = Box::new(Locator::PdfPage {
        physical: 2,
        label: None,
    });
    check(
        &Locator::Entry {
            path: "a/b.pdf".into(),
            inner,
        },
        Some("a/b.pdf, p.2"),
    );
    let inner = Box::new(Locator::Block { number: 1 });
    let nested = Locator::Entry {
        path: "message 3".into(),
        inner: Box::new(Locator::Entry {
            path: "a.txt".into(),
            inner,
        }),
    };
    check(&nested, Some("message 3 › a.txt"));
    assert_eq!(nested.within("box.mbox"), "box.mbox › message 3 › a.txt");
    let page = Locator::PdfPage {
        physical: 2,
        label: None,
    };
    assert_eq!(page.within("a.pdf"), "a.pdf, p.2");
    assert_eq!(Locator::Block { number: 1 }.within("a.txt"), "a.txt");
}

/// Set `IBID_UPDATE_SCHEMAS=1` to write the schemas anew after adding to the contract.
#[test]
fn schemas_are_the_committed_ones() {
    let folder = root().join("../docs/schemas/v1");
    let update = std::env::var_os("IBID_UPDATE_SCHEMAS").is_some();
    for (name, schema) in shared::contract::schema::all() {
        let path = folder.join(format!("{name}.json"));
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if update {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            text == committed,
            "{name}: run with IBID_UPDATE_SCHEMAS=1 and look at the change"
        );
    }
}

#[test]
fn a_page_is_cited_for_its_words() {
    #[track_caller]
    fn check(texts: &[&str], expect: &[u32]) {
        let spans: Vec<Span> = (4..)
            .zip(texts)
            .map(|(page, text)| Span {
                page,
                start: 7,
                end: 7 + u32::try_from(text.len()).unwrap(),
            })
            .collect();
        assert_eq!(Span::pages_with_words(&spans, &texts.concat()), expect);
    }
    check(&["one ", "two"], &[4, 5]);
    check(&["\n", "* * *\n", "dröi "], &[6]);
    check(&["one", " ", "three"], &[4, 6]);
    check(&["—", "…"], &[4, 5]);
    check(&[], &[]);
}
