//! What stands around chunks.

use shared::contract::{ChunkId, Neighbours};

use super::*;

fn around(it: &Fixture, id: &DocumentId, index: u32, filter: Filter) -> Vec<String> {
    let chunk = ChunkId {
        file_hash: it.catalog.get(id).unwrap().file_hash,
        index,
    };
    let request = Neighbours {
        chunks: vec![chunk],
        before: 1,
        after: 2,
        filter,
    };
    let mut runs = it.catalog.neighbours(&request).unwrap().runs;
    assert_eq!(runs.len(), 1);
    let run = runs.remove(0);
    run.into_iter()
        .map(|hit| hit.text.trim_end().to_owned())
        .collect()
}

#[test]
fn neighbours_stand_in_reading_order_and_end_with_the_document() {
    let it = Fixture::new();
    let before = it.ready("/before", "x\ny\n");
    let id = it.ready("/a", "one\ntwo\n\u{c}three\nfour\n\u{c}five\n");
    it.ready("/after", "z\n");
    let check = |index, expect: &[&str]| {
        assert_eq!(
            around(&it, &id, index, Filter::default()),
            expect,
            "{index}"
        );
    };
    check(0, &["one", "two", "three"]);
    check(1, &["one", "two", "three", "four"]);
    check(3, &["three", "four", "five"]);
    check(4, &["four", "five"]);
    check(5, &[]);
    check(u32::MAX, &[]);
    let only = |document: &DocumentId| Filter {
        documents: vec![document.clone()],
        ..Filter::default()
    };
    assert_eq!(around(&it, &id, 4, only(&id)), ["four", "five"]);
    assert!(around(&it, &id, 4, only(&before)).is_empty());
}

#[test]
fn each_chunk_has_its_own_run_and_one_that_is_gone_an_empty_one() {
    let it = Fixture::new();
    let gone = it.ready("/gone", A);
    let kept = it.ready("/kept", B);
    let chunk = |id: &DocumentId, index| ChunkId {
        file_hash: it.catalog.get(id).unwrap().file_hash,
        index,
    };
    let request = Neighbours {
        chunks: vec![chunk(&kept, 1), chunk(&gone, 0), chunk(&kept, 0)],
        before: 8,
        after: 0,
        filter: Filter::default(),
    };
    it.catalog.delete(&gone, 9).unwrap();
    let runs = it.catalog.neighbours(&request).unwrap().runs;
    let told: Vec<Vec<u32>> = runs
        .iter()
        .map(|run| run.iter().map(|hit| hit.chunk_id.index).collect())
        .collect();
    assert_eq!(told, [vec![0, 1], vec![], vec![0]]);
    let hit = &runs[0][0];
    assert_eq!((hit.path.as_str(), hit.score), ("/kept", 0.0));
}

#[test]
fn a_reply_fits_a_message_and_every_chunk_asked_for_is_in_it() {
    let it = Fixture::new();
    let line = format!("{}\n", "w\"".repeat(1_000));
    let text: String = (0..120)
        .flat_map(|number| [number.to_string(), line.clone()])
        .collect();
    let id = it.ready("/a", &text);
    let file_hash = it.catalog.get(&id).unwrap().file_hash;
    let chunks: Vec<ChunkId> = (10..110)
        .map(|index| ChunkId {
            file_hash: file_hash.clone(),
            index,
        })
        .collect();
    let request = Neighbours {
        chunks: chunks.clone(),
        before: 8,
        after: 8,
        filter: Filter::default(),
    };
    let list = it.catalog.neighbours(&request).unwrap();
    let bytes = serde_json::to_vec(&list).unwrap().len();
    assert!(bytes < 1 << 20, "{bytes}");
    assert_eq!(list.runs[0].len(), 17);
    for (run, chunk) in list.runs.iter().zip(&chunks) {
        assert!(run.iter().any(|hit| hit.chunk_id == *chunk), "{chunk:?}");
    }
}
