//! Catalogs of earlier programs, kept as SQL, must open and work for ever.

use rusqlite::Connection;
use shared::contract::{
    DocumentAdmitted, DocumentState, Filter, Generation, ListDocuments, Outcome, Pipeline, Retry,
    SealedPassword,
};
use tempfile::TempDir;

use super::{Catalog, Committed, Opened, Staged};
use crate::test_support::{admit, embedded, pages};

/// Written by the program of the first schema: documents in every state, a deletion whose blobs
/// are still there, one batch of two of a document under way.
const SCHEMA_1: &str = include_str!("fixtures/schema_1.sql");
/// As the program of the second schema left it: besides, a document that waits for the indexes,
/// and one whose bytes have changed.
const SCHEMA_2: &str = include_str!("fixtures/schema_2.sql");
/// As the program of the third schema left it: besides, a document in German with its password.
const SCHEMA_3: &str = include_str!("fixtures/schema_3.sql");
const GREEN: &str = "a green lamp\n\u{c}a blue door\n";
const UNDER_WAY: &str = "left\nright\n";

/// That program's pipeline with `parser`.
fn pipeline(parser: &str) -> Pipeline {
    Pipeline {
        parser: parser.to_owned(),
        chunker: "c1".to_owned(),
        model: "test-model-fp32".parse().unwrap(),
    }
}

fn open(sql: &str, parser: &str) -> (TempDir, Catalog, Opened) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let (catalog, opened) = Catalog::open(&path, pipeline(parser)).unwrap();
    assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
    (folder, catalog, opened)
}

fn states(catalog: &Catalog) -> Vec<(String, DocumentState)> {
    let page = catalog.list(&ListDocuments {
        limit: 100,
        ..Default::default()
    });
    let mut states: Vec<_> = page
        .unwrap()
        .documents
        .into_iter()
        .map(|view| (view.path, view.state))
        .collect();
    states.sort_by(|one, other| one.0.cmp(&other.0));
    states
}

fn shown(catalog: &Catalog, path: &str) -> String {
    let rows = catalog.dump(None).unwrap().rows;
    let of_path = rows.into_iter().filter(|row| row.path == path);
    of_path.map(|row| row.text).collect()
}

/// Hands out everything that waits and commits it.
fn work_off(catalog: &Catalog, text_of: impl Fn(&DocumentAdmitted) -> &'static str) {
    loop {
        let queued = catalog.next_queued(100).unwrap().into_iter();
        let queued: Vec<_> = queued.map(|one| (one.id, one.generation)).collect();
        if queued.is_empty() {
            return;
        }
        for work in catalog.hand_out(&queued).unwrap() {
            let text = text_of(&work);
            for batch in embedded(&work, text, 9) {
                catalog.stage(&batch).unwrap();
            }
            let committed = catalog.commit(&work.work, &pages(text).0).unwrap();
            assert!(matches!(committed, Committed::Visible { .. }));
        }
        let sequence = catalog.sequence().unwrap();
        catalog.finish(sequence, 20).unwrap();
    }
}

#[test]
fn a_catalog_of_the_first_schema_opens_as_it_was_left() {
    let (_folder, catalog, opened) = open(SCHEMA_1, "p1");
    assert_eq!(opened, Opened::default());
    let expect = [
        ("/failed", DocumentState::Failed),
        ("/partial", DocumentState::Partial),
        ("/queued", DocumentState::Queued),
        ("/ready", DocumentState::Ready),
        ("/twin", DocumentState::Ready),
        ("/under-way", DocumentState::Parsing),
    ];
    assert_eq!(
        states(&catalog),
        expect.map(|(path, state)| (path.to_owned(), state))
    );
    assert_eq!(shown(&catalog, "/twin"), "a green lamp\na blue door\n");
    let (dimension, sequence) = (catalog.dimension().unwrap(), catalog.sequence().unwrap());
    assert_eq!((dimension, sequence), (Some(8), 5));
    let again = catalog.admit(&admit("/ready", GREEN, false), 10).unwrap();
    assert_eq!(again.outcome, Outcome::Unchanged);
}

#[test]
fn a_catalog_of_the_first_schema_goes_on_with_its_work() {
    let (_folder, catalog, _) = open(SCHEMA_1, "p1");
    // What was half embedded is completed by the second batch alone.
    let under_way = catalog.in_flight().unwrap().remove(0);
    let work = catalog.hand_out(&[(under_way.id, Generation(1))]).unwrap();
    let work = work.first().unwrap();
    assert_eq!(work.work.attempt, 2);
    assert!(
        catalog
            .traces(std::slice::from_ref(work))
            .unwrap()
            .is_empty()
    );
    let mut first_attempt = work.clone();
    first_attempt.work.attempt = 1;
    let late = &embedded(&first_attempt, UNDER_WAY, 1)[1];
    assert_eq!(catalog.stage(late).unwrap(), Staged::Complete);
    let manifest = pages(UNDER_WAY).0;
    let committed = catalog.commit(&late.work, &manifest).unwrap();
    assert!(matches!(committed, Committed::Visible { documents: 1, .. }));

    catalog.retry(&Retry::AllFailed, 11).unwrap();
    work_off(&catalog, |work| match work.name.as_str() {
        "queued" => "wait\n",
        "failed" => "bad\n",
        other => panic!("{other} was done"),
    });
    let partial = ("/partial".to_owned(), DocumentState::Partial);
    for (path, state) in states(&catalog) {
        assert!(state == DocumentState::Ready || (path.clone(), state) == partial);
    }
    assert_eq!(shown(&catalog, "/under-way"), UNDER_WAY);
    // A key of something deleted never comes back.
    let keys = catalog.allowed(&Filter::default()).unwrap();
    assert_eq!(keys.keys(), [1, 2, 3, 5, 6, 7, 8]);
    assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
}

fn outdated(catalog: &Catalog) -> Vec<String> {
    let request = ListDocuments {
        limit: 100,
        ..Default::default()
    };
    let mut paths: Vec<String> = catalog
        .list(&request)
        .unwrap()
        .documents
        .into_iter()
        .filter(|view| view.outdated)
        .map(|view| view.path)
        .collect();
    paths.sort();
    paths
}

/// The texts of the documents that are made again.
fn text_of(work: &DocumentAdmitted) -> &'static str {
    match work.name.as_str() {
        "queued" => "wait\n",
        "under-way" => UNDER_WAY,
        "changed" => "brand new\n",
        "partial" => "one\n\u{c}!two\n",
        "ready" | "twin" | "indexing" => GREEN,
        other => panic!("{other} was done"),
    }
}

#[test]
fn a_catalog_of_the_first_schema_stays_as_it_is_under_a_newer_parser() {
    let (_folder, catalog, opened) = open(SCHEMA_1, "p2");
    let expect = Opened {
        requeued: 2,
        outdated: 3,
        retired: 0,
    };
    assert_eq!(opened, expect);
    assert_eq!(outdated(&catalog), ["/partial", "/ready", "/twin"]);
    work_off(&catalog, text_of);
    assert_eq!(shown(&catalog, "/twin"), "a green lamp\na blue door\n");
    assert_eq!(shown(&catalog, "/under-way"), UNDER_WAY);
    assert_eq!(outdated(&catalog), ["/partial", "/ready", "/twin"]);
    assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_catalog_of_the_second_schema_is_read_again_by_a_newer_parser_when_asked() {
    let (_folder, catalog, opened) = open(SCHEMA_2, "p2");
    let expect = Opened {
        requeued: 3,
        outdated: 5,
        retired: 0,
    };
    assert_eq!(opened, expect);
    let sequence = catalog.sequence().unwrap();
    assert_eq!(
        catalog.finish(sequence, 20).unwrap().len(),
        1,
        "`/indexing` is final"
    );
    for (path, text) in [("/ready", GREEN), ("/twin", GREEN), ("/indexing", GREEN)] {
        let again = catalog.admit(&admit(path, text, false), 10).unwrap();
        assert_eq!(again.outcome, Outcome::Unchanged, "{path}");
    }
    assert_eq!(
        shown(&catalog, "/changed"),
        "one\n",
        "until the newer bytes are read"
    );
    work_off(&catalog, text_of);
    assert_eq!(shown(&catalog, "/changed"), "brand new\n");
    let left = ["/indexing", "/partial", "/ready", "/twin"];
    assert_eq!(outdated(&catalog), left);
    assert_eq!(
        catalog.retry(&Retry::Outdated, 30).unwrap().len(),
        left.len()
    );
    assert_eq!(outdated(&catalog), left, "they show it until it is made");
    work_off(&catalog, text_of);
    assert!(outdated(&catalog).is_empty());
    let states: Vec<_> = states(&catalog);
    let failed: Vec<_> = states
        .iter()
        .filter(|(_, state)| *state == DocumentState::Failed)
        .collect();
    assert_eq!(failed, [&("/failed".to_owned(), DocumentState::Failed)]);
    assert!(states.contains(&("/partial".to_owned(), DocumentState::Partial)));
    assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_catalog_of_the_second_schema_takes_passwords() {
    let (_folder, catalog, opened) = open(SCHEMA_2, "p1");
    assert_eq!(opened, Opened::default());
    let mut request = admit("/failed", "bad\n", false);
    request.password = Some(SealedPassword("sealed".to_owned()));
    assert_eq!(
        catalog.admit(&request, 9).unwrap().outcome,
        Outcome::Changed
    );
    let queued = catalog.next_queued(9).unwrap().into_iter();
    let queued: Vec<_> = queued.map(|one| (one.id, one.generation)).collect();
    for work in catalog.hand_out(&queued).unwrap() {
        assert_eq!(
            work.password.is_some(),
            work.name == "failed",
            "{}",
            work.name
        );
    }
}

#[test]
fn a_catalog_of_the_third_schema_gets_dates_at_once_and_languages_when_they_are_told() {
    let (_folder, catalog, opened) = open(SCHEMA_3, "p1");
    assert_eq!(opened, Opened::default());
    assert_eq!(states(&catalog).len(), 9);
    let documents = || catalog.list(&ListDocuments::default()).unwrap().documents;
    for view in documents() {
        assert_eq!((view.modified_ms, view.language), (view.added_ms, None));
    }
    let german = Filter {
        languages: vec!["de".parse().unwrap()],
        ..Filter::default()
    };
    let added_that_day = Filter {
        from: Some("2025-12-01".parse().unwrap()),
        ..Filter::default()
    };
    assert!(catalog.allowed(&german).unwrap().is_empty());
    assert_eq!(catalog.allowed(&added_that_day).unwrap().keys(), [5]);

    let epoch = catalog.epoch();
    // A few at a time; what cannot be told is looked at once.
    assert_eq!(catalog.tell_languages(2).unwrap(), 2);
    assert_eq!(catalog.tell_languages(2).unwrap(), 1);
    assert_eq!(catalog.tell_languages(2).unwrap(), 0);
    assert!(catalog.epoch() > epoch, "filters are resolved anew");
    assert_eq!(catalog.allowed(&german).unwrap().keys(), [5]);
    let told: Vec<_> = documents()
        .into_iter()
        .filter_map(|view| Some((view.path, view.language?.to_string())))
        .collect();
    assert_eq!(told, [("/vertrag".to_owned(), "de".to_owned())]);
    assert_eq!(shown(&catalog, "/twin"), "a green lamp\na blue door\n");
    assert_eq!(catalog.check().unwrap(), Vec::<String>::new());
}
