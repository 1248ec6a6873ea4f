//! The keyword index as its callers see it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::background;

fn document(key: ChunkKey, text: &str) -> KeywordDocument {
    KeywordDocument {
        key,
        text: text.to_owned(),
        ..KeywordDocument::default()
    }
}

fn changes(sequence: u64, upserts: &[(ChunkKey, &str)], deletes: &[ChunkKey]) -> KeywordChanges {
    let upserts = upserts
        .iter()
        .map(|(key, text)| document(*key, text))
        .collect();
    KeywordChanges {
        upserts,
        deletes: deletes.to_vec(),
        sequence,
    }
}

fn open(folder: &Path) -> (TantivyIndex, Opened) {
    TantivyIndex::open(folder, background::pool(1).unwrap()).unwrap()
}

fn found(index: &TantivyIndex, text: &str) -> Vec<ChunkKey> {
    index
        .search(&text.into(), 10, None)
        .unwrap()
        .hits
        .into_iter()
        .map(|(key, _)| key)
        .collect()
}

fn fresh(reason: &str) -> Opened {
    Opened::Fresh {
        reason: reason.to_owned(),
    }
}

#[test]
fn any_typed_text_is_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = open(folder.path());
    let texts = [
        (1, "Refunds are paid within 14 days of the return."),
        (2, "The who is a band; to be or not to be is a question."),
        (3, "Café prices: AB-1234 costs 20 €, running shoes 80 €."),
    ];
    index.apply(&changes(1, &texts, &[])).unwrap();
    let check = |question: &str, expect: &[ChunkKey]| {
        assert_eq!(found(&index, question), expect, "{question:?}");
    };
    check("", &[]);
    check("   ?! ", &[]);
    check("refund", &[1]);
    check("WHEN IS THE REFUND PAID", &[1]);
    check("\"refund\" AND (text:x OR -cafe^3 [* TO 5]", &[1, 3]);
    check("cafe", &[3]);
    check("CAFÉ price", &[3]);
    check("ab 1234", &[3]);
    check("run", &[3]);
    check("zebra", &[]);
    // Nothing but stop words still finds the text that has them.
    check("to be or not to be", &[2]);
    assert_eq!(found(&index, "the"), [1, 2].into_iter().collect::<Vec<_>>());
}

#[test]
fn headings_and_names_are_found_and_weigh_less_than_text() {
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = open(folder.path());
    let filler = "alpha beta gamma delta";
    let mut in_heading = document(1, filler);
    in_heading.heading_path = "Pricing > Refunds".to_owned();
    let mut in_name = document(2, filler);
    in_name.name = "refunds-2026.pdf".to_owned();
    let upserts = vec![
        in_heading,
        in_name,
        document(3, "refunds beta gamma delta"),
        document(4, filler),
    ];
    index
        .apply(&KeywordChanges {
            upserts,
            deletes: vec![],
            sequence: 1,
        })
        .unwrap();
    let mut all = found(&index, "refund");
    all.sort_unstable();
    assert_eq!(all, [1, 2, 3]);
    assert_eq!(found(&index, "pricing"), [1]);
    assert_eq!(found(&index, "2026"), [2]);
    assert_eq!(found(&index, "refund beta").first(), Some(&3));
}

#[test]
fn all_words_of_a_question_outweigh_one_that_stands_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = open(folder.path());
    let part = |key, heading: &str, text: &str| KeywordDocument {
        key,
        text: text.to_owned(),
        heading_path: heading.to_owned(),
        name: "kl-40-service-manual.pdf".to_owned(),
    };
    let mut upserts = vec![
        part(
            1,
            "The KL-40",
            "The KL-40 is made for shops. Clean the KL-40 once a week.",
        ),
        part(
            2,
            "Technical data",
            "The refrigerant charge is 950 g of R290.",
        ),
    ];
    upserts.extend((3..40).map(|key| part(key, "Parts", "Fans, shelves and a door.")));
    let changes = KeywordChanges {
        upserts,
        sequence: 1,
        ..KeywordChanges::default()
    };
    index.apply(&changes).unwrap();
    let question = "Which refrigerant charge does the KL-40 hold?";
    assert_eq!(found(&index, question).first(), Some(&2));
}

#[test]
fn a_score_is_that_of_the_formula() {
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = open(folder.path());
    index
        .apply(&changes(1, &[(1, "fig"), (2, "kiwi")], &[]))
        .unwrap();
    let hits = index.search(&"fig".into(), 10, None).unwrap().hits;
    // One of two documents, of mean length, has the word once: ln(1 + 1.5 / 1.5) · 1 / (0.9 + 1).
    let [(1, score)] = hits[..] else {
        panic!("{hits:?}")
    };
    assert!((score - 0.364_814).abs() < 1e-4, "{score}");
}

#[test]
fn changes_are_durable_visible_and_idempotent() {
    let folder = tempfile::tempdir().unwrap();
    {
        let (index, opened) = open(folder.path());
        assert_eq!(opened, fresh("there is none yet"));
        assert_eq!(index.sequence(), 0);
        let first = changes(
            7,
            &[(1, "red apple"), (2, "green apple"), (3, "red plum")],
            &[],
        );
        index.apply(&first).unwrap();
        let before = index.search(&"red apple".into(), 10, None).unwrap().hits;
        index.apply(&first).unwrap();
        assert_eq!(index.keys().unwrap(), [1, 2, 3]);
        assert_eq!(
            found(&index, "red apple"),
            before.iter().map(|hit| hit.0).collect::<Vec<_>>()
        );
        // Replaced, removed, removed though absent, removed in the batch that adds it.
        index
            .apply(&changes(
                9,
                &[(2, "yellow pear"), (8, "apple")],
                &[3, 8, 99],
            ))
            .unwrap();
        // An old batch again does not set the sequence back.
        index.apply(&changes(5, &[], &[3])).unwrap();
        assert_eq!(index.sequence(), 9);
        assert_eq!(index.keys().unwrap(), [1, 2]);
        assert_eq!(found(&index, "apple"), [1]);
        assert_eq!(found(&index, "pear"), [2]);
    }
    let (index, opened) = open(folder.path());
    assert_eq!(opened, Opened::Ready { sequence: 9 });
    assert_eq!((index.sequence(), index.keys().unwrap()), (9, vec![1, 2]));
    assert_eq!(found(&index, "pear"), [2]);
    index.clear().unwrap();
    assert_eq!((index.sequence(), index.keys().unwrap()), (0, vec![]));
    index.apply(&changes(1, &[(1, "fig")], &[])).unwrap();
    assert_eq!((index.sequence(), found(&index, "fig")), (1, vec![1]));
}

#[test]
fn what_apply_returned_for_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = open(folder.path());
    index
        .apply(&changes(1, &[(1, "apple"), (2, "apple")], &[]))
        .unwrap();
    index.apply(&changes(2, &[(3, "apple")], &[])).unwrap();
    index.apply(&changes(3, &[], &[1])).unwrap();
    // What a kill would leave: the files as they lie, with the index still open.
    let killed = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), killed.path().join(entry.file_name())).unwrap();
    }
    let (index, opened) = open(killed.path());
    assert_eq!(opened, Opened::Ready { sequence: 3 });
    assert_eq!(
        (index.keys().unwrap(), found(&index, "apple").len()),
        (vec![2, 3], 2)
    );
}

#[test]
fn a_bad_key_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = open(folder.path());
    let error = index
        .apply(&changes(1, &[(1, "apple"), (0, "pear")], &[]))
        .unwrap_err();
    assert!(matches!(error, KeywordError::Key { key: 0 }), "{error}");
    assert_eq!((index.sequence(), index.keys().unwrap()), (0, vec![]));
}

#[test]
fn a_filter_is_exact_however_far_down_the_allowed_chunks_rank() {
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = open(folder.path());
    // The higher the key, the longer the text and the lower its score.
    let texts: Vec<String> = (1..=200)
        .map(|n| format!("apple {}", "filler ".repeat(n)))
        .collect();
    let pairs: Vec<(ChunkKey, &str)> = (1..).zip(texts.iter().map(String::as_str)).collect();
    for (sequence, part) in (1..).zip(pairs.chunks(50)) {
        index.apply(&changes(sequence, part, &[])).unwrap();
    }
    let allowed: AllowedChunks = [150, 190, 197, 999].into_iter().collect();
    let hits = index
        .search(&"apple".into(), 10, Some(&allowed))
        .unwrap()
        .hits;
    let mut keys: Vec<ChunkKey> = hits.iter().map(|hit| hit.0).collect();
    assert!(hits.is_sorted_by(|a, b| a.1 >= b.1));
    keys.sort_unstable();
    assert_eq!(keys, [150, 190, 197]);
    assert_eq!(
        index
            .search(&"apple".into(), 2, Some(&allowed))
            .unwrap()
            .hits,
        hits[..2]
    );
    assert!(
        index
            .search(&"apple".into(), 10, Some(&AllowedChunks::default()))
            .unwrap()
            .hits
            .is_empty()
    );
    assert!(
        index
            .search(&"apple".into(), 0, None)
            .unwrap()
            .hits
            .is_empty()
    );
    assert_eq!(
        index
            .search(&"apple".into(), usize::MAX, None)
            .unwrap()
            .hits
            .len(),
        200
    );
}

/// Whether any file of the index holds `word` in a term dictionary or anywhere in clear.
fn is_on_disk(folder: &Path, index: &TantivyIndex, word: &str) -> bool {
    let in_clear = fs::read_dir(folder).unwrap().any(|entry| {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        bytes
            .windows(word.len())
            .any(|window| window == word.as_bytes())
    });
    in_clear || index.has_term(word)
}

#[test]
fn a_purge_leaves_no_word_of_removed_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = open(folder.path());
    index
        .apply(&changes(
            1,
            &[(1, "kept quokka"), (2, "secret zyzzyva")],
            &[],
        ))
        .unwrap();
    index
        .apply(&changes(2, &[(3, "lonely xylophon")], &[]))
        .unwrap();
    index.apply(&changes(3, &[], &[2, 3])).unwrap();
    assert!(
        is_on_disk(folder.path(), &index, "zyzzyva"),
        "or the test proves nothing"
    );
    let files_before = fs::read_dir(folder.path()).unwrap().count();
    index.purge().unwrap();
    for word in ["zyzzyva", "xylophon"] {
        assert!(!is_on_disk(folder.path(), &index, word), "{word}");
    }
    assert!(fs::read_dir(folder.path()).unwrap().count() <= files_before);
    assert!(is_on_disk(folder.path(), &index, "quokka"));
    assert_eq!((found(&index, "quokka"), index.sequence()), (vec![1], 3));
    // It goes on as before, and a purge with nothing to do is one too.
    index.purge().unwrap();
    index
        .apply(&changes(4, &[(5, "quokka again")], &[]))
        .unwrap();
    assert_eq!(index.keys().unwrap(), [1, 5]);
    drop(index);
    assert_eq!(open(folder.path()).1, Opened::Ready { sequence: 4 });
}

#[test]
fn a_damaged_index_is_replaced_and_says_why() {
    let check = |damage: &dyn Fn(&Path), expect: &str| {
        let folder = tempfile::tempdir().unwrap();
        let (index, _) = open(folder.path());
        index
            .apply(&changes(4, &[(1, "apple"), (2, "pear")], &[]))
            .unwrap();
        drop(index);
        damage(folder.path());
        let (index, opened) = open(folder.path());
        let Opened::Fresh { reason } = opened else {
            panic!("{expect}: {opened:?}")
        };
        assert!(reason.contains(expect), "{reason}");
        assert_eq!((index.sequence(), index.keys().unwrap()), (0, vec![]));
        index.apply(&changes(4, &[(1, "apple")], &[])).unwrap();
        assert_eq!(found(&index, "apple"), [1]);
    };
    let with_end = |folder: &Path, end: &str| {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.to_str().unwrap().ends_with(end))
            .unwrap()
    };
    check(
        &|folder| fs::remove_file(folder.join("meta.json")).unwrap(),
        "there is none yet",
    );
    check(
        &|folder| fs::write(folder.join("meta.json"), "{").unwrap(),
        "does not open",
    );
    check(
        &|folder| fs::remove_file(with_end(folder, ".idx")).unwrap(),
        "old one",
    );
    check(
        &|folder| {
            let path = with_end(folder, ".term");
            let mut bytes = fs::read(&path).unwrap();
            bytes[3] ^= 0x10;
            fs::write(&path, bytes).unwrap();
        },
        "damaged",
    );
    check(
        &|folder| {
            let path = with_end(folder, ".fast");
            let bytes = fs::read(&path).unwrap();
            fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        },
        "old one",
    );
    check(
        &|folder| {
            let path = folder.join("meta.json");
            let meta = fs::read_to_string(&path).unwrap();
            fs::write(&path, meta.replace("format\\\":3", "format\\\":0")).unwrap();
        },
        "format 0",
    );
}

#[test]
fn one_process_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = open(folder.path());
    index.apply(&changes(3, &[(1, "apple")], &[])).unwrap();
    let second = TantivyIndex::open(folder.path(), background::pool(1).unwrap());
    assert!(matches!(second.err(), Some(KeywordError::Locked { .. })));
    assert_eq!(found(&index, "apple"), [1]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Any sequence of batches leaves what a map would hold, with commits between and one reopening.
    #[test]
    fn batches_end_as_in_a_map(
        batches in prop::collection::vec(
            (prop::collection::vec((1_i64..20, 0_usize..4), 0..6), prop::collection::vec(1_i64..20, 0..4)),
            1..5,
        ),
        text in ".{0,40}",
    ) {
        const WORDS: [&str; 4] = ["apple", "banana", "cherry", "damson"];
        let folder = tempfile::tempdir().unwrap();
        let mut map = BTreeMap::new();
        let (index, _) = open(folder.path());
        for (sequence, (upserts, deletes)) in (1..).zip(&batches) {
            let upserts: Vec<_> = upserts.iter().map(|(key, word)| (*key, WORDS[*word])).collect();
            index.apply(&changes(sequence, &upserts, deletes)).unwrap();
            map.extend(upserts.iter().copied());
            map.retain(|key, _| !deletes.contains(key));
            prop_assert_eq!(index.sequence(), sequence);
        }
        drop(index);
        let (index, _) = open(folder.path());
        prop_assert_eq!(index.keys().unwrap(), map.keys().copied().collect::<Vec<_>>());
        for word in WORDS {
            let mut keys: Vec<ChunkKey> =
                index.search(&word.into(), 99, None).unwrap().hits.iter().map(|hit| hit.0).collect();
            keys.sort_unstable();
            let expect: Vec<ChunkKey> =
                map.iter().filter(|(_, text)| **text == word).map(|(key, _)| *key).collect();
            prop_assert_eq!(keys, expect);
        }
        // Whatever is typed is answered.
        prop_assert!(index.search(&text.as_str().into(), 5, None).is_ok());
    }
}
