//! How long filters and joins take on a large catalog. Run by hand:
//! `cargo nextest run -p ibid-indexer --run-ignored only -E 'test(scale_tests)' --no-capture`.

use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use shared::contract::{ChunkId, Filter, Neighbours, Sha256Hex};
use tempfile::TempDir;

use super::Catalog;
use crate::test_support::pipeline;

const CHUNKS: i64 = 100_000;

/// `documents` documents that share [`CHUNKS`] chunks of some 1,000 characters. Every hundredth lies
/// in `/rare/`, every tenth is German.
fn catalog(documents: i64) -> (TempDir, Catalog) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.db");
    let (catalog, _) = Catalog::open(&path, pipeline()).unwrap();
    let mut connection = Connection::open(&path).unwrap();
    let tx = connection.transaction().unwrap();
    let each = CHUNKS / documents;
    let text = "lorem ipsum ".repeat(84);
    let record = r#"{"number":1,"locator":{"kind":"pdf_page","physical":1},"method":"native","characters":13,"doubts":[]}"#;
    for document in 0..documents {
        let hash = Sha256Hex::of(&document.to_le_bytes());
        let file_hash = hash.as_str().get(..32).unwrap();
        let language = if document % 10 == 0 { "de" } else { "en" };
        let place = if document % 100 == 0 {
            "rare"
        } else {
            "common"
        };
        let path = format!("/home/person/documents/{place}/folder/{document}.pdf");
        tx.prepare_cached(
            "INSERT INTO versions(file_hash, parser, chunker, model, content, format, notes, pages,
                                  missing, dimension, first_key, chunks, tokens, sequence, language)
             VALUES (?1, ?2, ?3, ?4, ?5, 'pdf', '[]', 1, '[]', 8, ?6, ?7, 1, 1, ?8)",
        )
        .unwrap()
        .execute(params![
            file_hash,
            pipeline().parser,
            pipeline().chunker,
            pipeline().model.as_str(),
            hash.as_str(),
            document * each + 1,
            each,
            language
        ])
        .unwrap();
        let version = tx.last_insert_rowid();
        tx.prepare_cached(
            "INSERT INTO sources(id, collection, path, name, content, bytes, format, file_hash,
                                 generation, state, visible_version, queued_ms, added_ms,
                                 modified_ms)
             VALUES (?1, 'default', ?2, 'a.pdf', ?3, 1, 'pdf', ?1, 1, 'ready', ?4, 1, 1, ?5)",
        )
        .unwrap()
        .execute(params![file_hash, path, hash.as_str(), version, document])
        .unwrap();
        tx.prepare_cached("INSERT INTO pages(version, number, record) VALUES (?1, 1, ?2)")
            .unwrap()
            .execute(params![version, record])
            .unwrap();
        for index in 0..each {
            tx.prepare_cached(
                r#"INSERT INTO chunks(key, version, idx, text, prefix, overlap, heading_path, spans,
                                      tokens)
                   VALUES (?1, ?2, ?3, ?4, '', '', '["Top","Below"]',
                           '[{"page":1,"start":0,"end":1008}]', 1)"#,
            )
            .unwrap()
            .execute(params![document * each + index + 1, version, index, text])
            .unwrap();
        }
    }
    tx.commit().unwrap();
    (folder, catalog)
}

/// Prints median and 95th percentile of `work`.
fn measure(what: &str, times: u32, mut work: impl FnMut(u32)) -> Duration {
    let mut took: Vec<Duration> = (0..times)
        .map(|time| {
            let started = Instant::now();
            work(time);
            started.elapsed()
        })
        .collect();
    took.sort_unstable();
    let (median, p95) = (took[took.len() / 2], took[took.len() * 95 / 100]);
    println!("{what}: p50 {median:.2?}, p95 {p95:.2?}");
    p95
}

fn all(documents: i64) {
    let (_folder, catalog) = catalog(documents);
    println!("{documents} documents of {} chunks", CHUNKS / documents);
    let filters = [
        ("everything by type", r#"{"formats":["pdf"]}"#),
        ("a language, 10 %", r#"{"languages":["de"]}"#),
        (
            "a path, 1 %",
            r#"{"path_prefix":"/home/person/documents/rare/"}"#,
        ),
        ("dates, 0 %", r#"{"from":"2020-01-01","to":"2020-12-31"}"#),
        ("a collection of all", r#"{"collections":["default"]}"#),
    ];
    for (what, filter) in filters {
        let filter: Filter = serde_json::from_str(filter).unwrap();
        measure(what, 40, |_| drop(catalog.allowed(&filter).unwrap()));
    }
    // 200 hits that lie anywhere.
    let hits = |seed: u32| -> Vec<(i64, f32)> {
        let mut at = u64::from(seed) * 7_919 + 1;
        let mut next = || {
            at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            i64::try_from((at >> 33) % CHUNKS.unsigned_abs()).unwrap() + 1
        };
        (0..200).map(|_| (next(), 0.5)).collect()
    };
    let none = Filter::default();
    let english: Filter = serde_json::from_str(r#"{"languages":["en","de"]}"#).unwrap();
    measure("join of 100 hits", 100, |time| {
        assert_eq!(catalog.join(&hits(time), &none, 100).unwrap().len(), 100);
    });
    measure("join of 200 hits", 100, |time| {
        assert_eq!(catalog.join(&hits(time), &none, 200).unwrap().len(), 200);
    });
    measure("join of 100 hits under a filter", 100, |time| {
        assert_eq!(catalog.join(&hits(time), &english, 100).unwrap().len(), 100);
    });
    let chunk = |key: i64| ChunkId {
        file_hash: Sha256Hex::of(&((key - 1) / (CHUNKS / documents)).to_le_bytes())
            .as_str()
            .get(..32)
            .unwrap()
            .parse()
            .unwrap(),
        index: u32::try_from((key - 1) % (CHUNKS / documents)).unwrap(),
    };
    measure("neighbours of 20 chunks, 2 each side", 100, |time| {
        let request = Neighbours {
            chunks: hits(time)
                .iter()
                .take(20)
                .map(|(key, _)| chunk(*key))
                .collect(),
            before: 2,
            after: 2,
            filter: Filter::default(),
        };
        let list = catalog.neighbours(&request).unwrap();
        assert!(list.runs.iter().all(|run| !run.is_empty()));
    });
}

#[test]
#[ignore = "a measurement: run with --ignored --nocapture"]
fn many_chunks_a_document() {
    all(2_000);
}

#[test]
#[ignore = "a measurement: run with --ignored --nocapture"]
fn a_chunk_a_document() {
    all(100_000);
}
