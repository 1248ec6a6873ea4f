//! What filters permit, and what is told of those that permit nothing.

use serde_json::json;
use shared::contract::Sha256Hex;
use shared::format::Format;

use super::*;

const ENGLISH: &str =
    "The agreement may be ended by either party with three months' notice in writing.\n";
const TURKISH: &str = "Sözleşme, taraflardan her biri tarafından üç ay önceden yazılı olarak bildirilmek şartıyla \
     ayın son günü feshedilebilir; bu durumda ödenmiş olan ücretin kalan kısmı geri verilir.\n";
/// 2026-03-29 00:00 UTC, the day European clocks go forward.
const DAY: i64 = 1_774_742_400_000;
const DAY_MS: i64 = 86_400_000;

/// A document to be found or not.
struct Document {
    path: &'static str,
    collection: &'static str,
    format: Format,
    modified_ms: i64,
    text: &'static str,
}

fn ready(it: &Fixture, document: &Document) -> DocumentId {
    let request = shared::contract::Admit {
        collection: document.collection.parse().unwrap(),
        format: document.format,
        modified_ms: Some(document.modified_ms),
        ..admit(document.path, document.text, false)
    };
    let id = it.catalog.admit(&request, 5).unwrap().document_id;
    for work in it.hand_out() {
        it.commit(&work, document.text);
    }
    it.finish();
    assert_eq!(it.state(&id), DocumentState::Ready);
    id
}

const DOCUMENTS: [Document; 7] = [
    Document {
        path: "/home/contracts/notice.pdf",
        collection: "legal",
        format: Format::Pdf,
        modified_ms: DAY,
        text: ENGLISH,
    },
    Document {
        path: "/home/contracts/fesih.docx",
        collection: "legal",
        format: Format::Docx,
        modified_ms: DAY + DAY_MS - 1,
        text: TURKISH,
    },
    Document {
        path: "/home/contracts-old/a.txt",
        collection: "default",
        format: Format::Text,
        modified_ms: DAY + DAY_MS,
        text: "x1\n",
    },
    Document {
        path: "/home/100%_sure/b.txt",
        collection: "default",
        format: Format::Text,
        modified_ms: DAY - 1,
        text: "x2\n",
    },
    Document {
        path: "/home/100 and sure/c.txt",
        collection: "default",
        format: Format::Text,
        modified_ms: 0,
        text: "x3\n",
    },
    Document {
        path: "upload://notes/Straße/d.md",
        collection: "notes",
        format: Format::Markdown,
        modified_ms: -DAY_MS,
        text: "x4\n",
    },
    // The same content and type as the first, elsewhere: stored once, shown twice.
    Document {
        path: "/archive/notice.pdf",
        collection: "default",
        format: Format::Pdf,
        modified_ms: 7,
        text: ENGLISH,
    },
];

/// A catalog of [`DOCUMENTS`], and the name of each one's chunk: its number.
fn library() -> (Fixture, Vec<DocumentId>) {
    let it = Fixture::new();
    let ids = DOCUMENTS
        .iter()
        .map(|document| ready(&it, document))
        .collect();
    (it, ids)
}

/// The numbers of the documents that hits under `filter` are told for.
fn found(it: &Fixture, filter: &Filter) -> Vec<usize> {
    let allowed = it.catalog.allowed(filter).unwrap();
    let keys: Vec<_> = allowed.keys().iter().map(|key| (*key, 0.5)).collect();
    let hits = it.catalog.join(&keys, filter, 100).unwrap();
    assert_eq!(hits.len(), keys.len(), "what is permitted is told");
    let number = |path: &str| DOCUMENTS.iter().position(|one| one.path == path).unwrap();
    let mut numbers: Vec<_> = hits.iter().map(|hit| number(&hit.path)).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn each_condition_narrows_and_all_of_them_hold() {
    let (it, ids) = library();
    let check = |filter: serde_json::Value, expect: &[usize]| {
        let filter: Filter = serde_json::from_value(filter).unwrap();
        assert_eq!(found(&it, &filter), expect, "{filter:?}");
    };
    // Twice shown, once told: for the path that sorts first.
    check(json!({}), &[1, 2, 3, 4, 5, 6]);
    check(json!({"collections": ["legal"]}), &[0, 1]);
    check(json!({"collections": ["legal", "notes"]}), &[0, 1, 5]);
    check(json!({"documents": [ids[0], ids[4]]}), &[0, 4]);
    check(json!({"path_prefix": "/home/contracts"}), &[0, 1, 2]);
    check(json!({"path_prefix": "/home/contracts/"}), &[0, 1]);
    check(json!({"path_prefix": "/home/contracts/notice.pdf"}), &[0]);
    check(json!({"path_prefix": "/home/Contracts/"}), &[]);
    check(json!({"path_prefix": "contracts"}), &[]);
    check(json!({"path_prefix": "/home/100%"}), &[3]);
    check(json!({"path_prefix": "/home/100_"}), &[]);
    check(json!({"path_prefix": "%"}), &[]);
    check(json!({"path_prefix": "/home/*"}), &[]);
    check(json!({"path_prefix": "upload://notes/Stra"}), &[5]);
    check(json!({"path_prefix": "upload://notes/Straß"}), &[5]);
    check(json!({"path_prefix": ""}), &[1, 2, 3, 4, 5, 6]);
    check(json!({"formats": ["pdf"]}), &[6]);
    check(json!({"formats": ["docx", "markdown"]}), &[1, 5]);
    check(json!({"from": "2026-03-29"}), &[0, 1, 2]);
    check(json!({"to": "2026-03-29"}), &[1, 3, 4, 5, 6]);
    check(json!({"from": "2026-03-29", "to": "2026-03-29"}), &[0, 1]);
    check(
        json!({"from": "1969-12-31", "to": "1970-01-01"}),
        &[4, 5, 6],
    );
    check(json!({"to": "1969-12-31"}), &[5]);
    check(json!({"from": "2026-03-31"}), &[]);
    check(json!({"to": "9999-12-31"}), &[1, 2, 3, 4, 5, 6]);
    check(json!({"languages": ["tr"]}), &[1]);
    check(json!({"languages": ["en", "tr"]}), &[1, 6]);
    check(json!({"languages": ["de"]}), &[]);
    check(json!({"languages": ["en"], "collections": ["legal"]}), &[0]);
    let all = json!({
        "collections": ["legal", "default"], "documents": [ids[0], ids[1], ids[2]],
        "path_prefix": "/home/", "formats": ["pdf", "docx"], "from": "2026-03-29",
        "to": "2026-03-29", "languages": ["tr", "en"],
    });
    check(all, &[0, 1]);
}

#[test]
fn a_filter_that_permits_nothing_says_which_condition_nothing_meets() {
    let (it, _) = library();
    let check = |filter: serde_json::Value, expect: &str| {
        let filter: Filter = serde_json::from_value(filter).unwrap();
        let told = it.catalog.why_nothing(&filter).unwrap();
        assert!(told.contains(expect), "{told}");
        assert!(
            told.starts_with("no document matches the filter: "),
            "{told}"
        );
        assert!(told.contains("; "), "no remedy: {told}");
    };
    let nobody = DocumentId::generate();
    check(
        json!({"collections": ["lgeal"]}),
        "none is in collection `lgeal`",
    );
    check(
        json!({"documents": [nobody]}),
        "none is among those it names",
    );
    check(
        json!({"path_prefix": "/Home/", "collections": ["legal"]}),
        "none is at a path that begins with `/Home/`",
    );
    check(
        json!({"formats": ["epub", "rtf"]}),
        "none is of type `epub` or `rtf`",
    );
    check(
        json!({"from": "2027-01-01"}),
        "none is dated 2027-01-01 or later",
    );
    check(
        json!({"to": "1960-01-01"}),
        "none is dated 1960-01-01 or earlier",
    );
    check(
        json!({"from": "2026-05-01", "to": "2026-04-01"}),
        "`from` (2026-05-01) is later than `to` (2026-04-01)",
    );
    check(json!({"languages": ["de"]}), "none is in language `de`");
    check(
        json!({"languages": ["tr"], "formats": ["pdf"]}),
        "none meets all of its conditions",
    );
    let empty = Fixture::new();
    let told = empty.catalog.why_nothing(&Filter::default()).unwrap();
    assert!(told.contains("no document is searchable yet"), "{told}");
}

#[test]
fn a_file_keeps_its_date_as_long_as_its_bytes_and_takes_a_newer_one() {
    let it = Fixture::new();
    let date = |id: &DocumentId| it.catalog.get(id).unwrap().modified_ms;
    let add = |text: &str, modified_ms, force, now| {
        let request = shared::contract::Admit {
            modified_ms,
            ..admit("/a", text, force)
        };
        it.catalog.admit(&request, now).unwrap()
    };
    let id = add(A, None, false, 10).document_id;
    assert_eq!(date(&id), 10, "that of the admission");
    assert_eq!(add(A, Some(5), false, 11).outcome, Outcome::Unchanged);
    assert_eq!(date(&id), 5, "touched");
    add(A, None, false, 12);
    assert_eq!(date(&id), 5);
    add(A, None, true, 13);
    assert_eq!(date(&id), 5, "read again");
    add(B, None, false, 14);
    assert_eq!(date(&id), 14, "other bytes");
    add(A, Some(15), false, 16);
    assert_eq!(date(&id), 15);
    it.sound();
}

#[test]
fn a_document_tells_its_language_and_short_ones_have_none() {
    let (it, ids) = library();
    let language = |number: usize| {
        let view = it.catalog.get(&ids[number]).unwrap();
        view.language.map(|language| language.to_string())
    };
    assert_eq!(language(0).as_deref(), Some("en"));
    assert_eq!(language(1).as_deref(), Some("tr"));
    assert_eq!(language(2), None);
    assert_eq!(it.catalog.tell_languages(100).unwrap(), 0, "all are told");
    // The sample goes through the whole document: the beginning alone would say English.
    let long = format!("{ENGLISH}{}", TURKISH.repeat(60));
    let id = it.ready("/long", &long);
    let view = it.catalog.get(&id).unwrap();
    assert_eq!(
        view.language.map(|one| one.to_string()).as_deref(),
        Some("tr")
    );
    assert_eq!(view.content, Sha256Hex::of(long.as_bytes()));
}
