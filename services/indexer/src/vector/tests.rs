//! The vector index as its callers see it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rayon::ThreadPool;

use super::*;
use crate::background;

const DIMENSION: usize = 64;

fn settings(exact_limit: usize) -> VectorSettings {
    VectorSettings {
        exact_limit,
        ..VectorSettings::new("test-model", DIMENSION)
    }
}

fn pool() -> Arc<ThreadPool> {
    background::pool(2).unwrap()
}

fn open(folder: &Path, exact_limit: usize) -> (FlatIndex, Opened) {
    FlatIndex::open(folder, settings(exact_limit), pool()).unwrap()
}

fn changes(sequence: u64, upserts: &[(ChunkKey, Vec<f32>)], deletes: &[ChunkKey]) -> VectorChanges {
    VectorChanges {
        upserts: upserts.to_vec(),
        deletes: deletes.to_vec(),
        sequence,
    }
}

/// `count` vectors around `clusters` centres, keys from 1: text embeddings lie in clusters too.
/// The centres are the same for every seed.
fn clustered(seed: u64, count: usize, clusters: usize) -> Vec<(ChunkKey, Vec<f32>)> {
    let vector = |random: &mut SmallRng, spread: f32| -> Vec<f32> {
        (0..DIMENSION)
            .map(|_| random.random_range(-spread..spread))
            .collect()
    };
    let mut random = SmallRng::seed_from_u64(0);
    let centres: Vec<Vec<f32>> = (0..clusters).map(|_| vector(&mut random, 1.0)).collect();
    let mut random = SmallRng::seed_from_u64(seed);
    (1..)
        .zip((0..count).map(|n| {
            let centre = &centres[n * 31 % clusters];
            vector(&mut random, 0.5)
                .iter()
                .zip(centre)
                .map(|(x, y)| x + y)
                .collect()
        }))
        .collect()
}

/// The law every search is held to: cosines in f64, sorted.
fn naive(
    vectors: &[(ChunkKey, Vec<f32>)],
    query: &[f32],
    k: usize,
    keep: impl Fn(ChunkKey) -> bool,
) -> Vec<ChunkKey> {
    let length = |v: &[f32]| v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    let cosine = |v: &[f32]| {
        let dot: f64 = v
            .iter()
            .zip(query)
            .map(|(x, y)| f64::from(*x) * f64::from(*y))
            .sum();
        dot / (length(v) * length(query))
    };
    let mut all: Vec<(f64, ChunkKey)> = vectors
        .iter()
        .filter(|(key, _)| keep(*key))
        .map(|(key, v)| (cosine(v), *key))
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    all.truncate(k);
    all.into_iter().map(|(_, key)| key).collect()
}

fn keys(hits: &[(ChunkKey, f32)]) -> Vec<ChunkKey> {
    hits.iter().map(|hit| hit.0).collect()
}

/// Share of `expect` that `found` has.
fn recall(found: &[ChunkKey], expect: &[ChunkKey]) -> f64 {
    expect.iter().filter(|key| found.contains(key)).count() as f64 / expect.len().max(1) as f64
}

/// Waits until `condition` holds.
fn wait_for(limit: Duration, mut condition: impl FnMut() -> Result<(), String>) {
    let started = Instant::now();
    while let Err(state) = condition() {
        assert!(started.elapsed() < limit, "after {limit:?}: {state}");
        std::thread::yield_now();
    }
}

#[test]
fn the_graph_finds_what_the_scan_finds() {
    let folder = tempfile::tempdir().unwrap();
    let vectors = clustered(1, 12_000, 60);
    let (graph, tail) = vectors.split_at(10_000);
    let (index, _) = open(folder.path(), usize::MAX);
    index.apply(&changes(1, graph, &[])).unwrap();
    index.build_graph().unwrap();
    index.apply(&changes(2, tail, &[])).unwrap();
    assert_eq!(index.describe(), "graph over 10000, tail 2000");

    let queries = clustered(2, 200, 60);
    let removed = |key: ChunkKey| key % 10 == 3;
    let allowed: AllowedChunks = (1..=12_000).filter(|key| key % 4 != 0).collect();
    let check = |what: &str, filter: Option<&AllowedChunks>, keep: &dyn Fn(ChunkKey) -> bool| {
        let mut sum = 0.0;
        for (_, query) in &queries {
            let hits = index.search(query, 10, filter).unwrap();
            assert_eq!(hits.len(), 10, "{what}");
            assert!(hits.is_sorted_by(|a, b| a.1 >= b.1), "{what}");
            assert!(hits.iter().all(|hit| keep(hit.0)), "{what}");
            sum += recall(&keys(&hits), &naive(&vectors, query, 10, keep));
        }
        let recall = sum / queries.len() as f64;
        println!("{what}: recall@10 {recall:.4}");
        assert!(recall >= 0.98, "{what}: {recall}");
    };
    check("all", None, &|_| true);
    check("three quarters allowed", Some(&allowed), &|key| {
        allowed.contains(key)
    });
    let gone: Vec<ChunkKey> = (1..=12_000).filter(|key| removed(*key)).collect();
    index.apply(&changes(3, &[], &gone)).unwrap();
    assert_eq!(index.describe(), "graph over 10000, tail 2000");
    check("a tenth removed", None, &|key| !removed(key));
    check("removed and filtered", Some(&allowed), &|key| {
        allowed.contains(key) && !removed(key)
    });

    // Few allowed: looked at one by one, so exact.
    let few: AllowedChunks = (1..=12_000).filter(|key| key % 400 == 0).collect();
    for (_, query) in &queries {
        let hits = index.search(query, 10, Some(&few)).unwrap();
        assert_eq!(
            keys(&hits),
            naive(&vectors, query, 10, |key| few.contains(key))
        );
    }

    // A snapshot keeps the graph with its tombstones; a compaction drops both.
    let before: Vec<_> = queries
        .iter()
        .map(|(_, q)| index.search(q, 10, None).unwrap())
        .collect();
    index.snapshot().unwrap();
    drop(index);
    let (index, opened) = open(folder.path(), usize::MAX);
    assert_eq!(opened, Opened::Ready { sequence: 3 });
    assert_eq!(index.describe(), "graph over 10000, tail 2000");
    let after: Vec<_> = queries
        .iter()
        .map(|(_, q)| index.search(q, 10, None).unwrap())
        .collect();
    assert_eq!(after, before);
    index.compact().unwrap();
    assert_eq!(index.describe(), "exact");
    assert_eq!(index.keys().len(), 12_000 - gone.len());
    let exact = index.search(&queries[0].1, 10, None).unwrap();
    assert_eq!(
        keys(&exact),
        naive(&vectors, &queries[0].1, 10, |key| !removed(key))
    );
}

#[test]
fn a_graph_is_built_aside_while_searches_and_changes_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let vectors = clustered(3, 3_000, 20);
    let (index, _) = open(folder.path(), 1_000);
    for (sequence, part) in (1..).zip(vectors.chunks(500)) {
        index.apply(&changes(sequence, part, &[])).unwrap();
        index.snapshot().unwrap();
        let query = &part[0].1;
        assert_eq!(index.search(query, 1, None).unwrap()[0].0, part[0].0);
    }
    let is_in_use = |index: &FlatIndex| {
        let now = index.describe();
        if now.starts_with("graph") {
            Ok(())
        } else {
            Err(now)
        }
    };
    wait_for(Duration::from_mins(1), || is_in_use(&index));
    // A compaction renumbers the slots; a new graph follows by itself.
    index.apply(&changes(9, &[], &[1, 2, 3])).unwrap();
    index.compact().unwrap();
    wait_for(Duration::from_mins(1), || is_in_use(&index));
    for (key, vector) in vectors.iter().skip(3).step_by(97) {
        assert_eq!(index.search(vector, 1, None).unwrap()[0].0, *key);
    }
    assert_eq!(index.keys().len(), 2_997);
}

#[test]
fn only_a_snapshot_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let vectors = clustered(4, 30, 3);
    let (index, opened) = open(folder.path(), 1_000);
    assert_eq!(
        opened,
        Opened::Fresh {
            reason: "there is none yet".to_owned()
        }
    );
    assert_eq!((index.sequence(), index.dimension()), (0, DIMENSION));
    index.apply(&changes(5, &vectors[..20], &[])).unwrap();
    index.snapshot().unwrap();
    index.apply(&changes(6, &vectors[20..], &[1])).unwrap();
    assert_eq!((index.sequence(), index.keys().len()), (6, 29));
    drop(index);
    let (index, opened) = open(folder.path(), 1_000);
    assert_eq!(opened, Opened::Ready { sequence: 5 });
    assert_eq!((index.sequence(), index.keys().len()), (5, 20));
    // The caller applies again what came after.
    index.apply(&changes(6, &vectors[20..], &[1])).unwrap();
    for _ in 0..2 {
        index.snapshot().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
    drop(index);
    let (index, opened) = open(folder.path(), 1_000);
    assert_eq!(opened, Opened::Ready { sequence: 6 });
    assert_eq!(index.keys(), (2..=30).collect::<Vec<_>>());
    index.clear().unwrap();
    drop(index);
    let (index, opened) = open(folder.path(), 1_000);
    assert_eq!(
        (opened, index.keys()),
        (Opened::Ready { sequence: 0 }, vec![])
    );
}

#[test]
fn applying_again_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let vectors = clustered(5, 50, 3);
    let (index, _) = open(folder.path(), 1_000);
    let batch = changes(3, &vectors, &[7]);
    index.apply(&batch).unwrap();
    let before = index.search(&vectors[0].1, 50, None).unwrap();
    index.snapshot().unwrap();
    let listed = || {
        fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect::<Vec<_>>()
    };
    let snapshots = listed();
    index.apply(&batch).unwrap();
    index.apply(&changes(2, &[], &[7])).unwrap();
    assert_eq!(index.sequence(), 3);
    assert_eq!(index.search(&vectors[0].1, 50, None).unwrap(), before);
    index.snapshot().unwrap();
    assert_eq!(listed(), snapshots, "nothing changed, nothing written");
    // A replaced vector is found where it is now, not where it was.
    index
        .apply(&changes(4, &[(1, vectors[9].1.clone())], &[10]))
        .unwrap();
    assert_eq!(index.search(&vectors[9].1, 1, None).unwrap()[0].0, 1);
}

#[test]
fn a_compaction_leaves_nothing_of_removed_vectors_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let vectors = clustered(6, 40, 3);
    let (index, _) = open(folder.path(), 1_000);
    index.apply(&changes(1, &vectors, &[])).unwrap();
    index.build_graph().unwrap();
    index.snapshot().unwrap();
    let unit = kernel::unit(&vectors[4].1).unwrap();
    let bytes: Vec<u8> = unit.iter().flat_map(|x| x.to_le_bytes()).collect();
    let on_disk = || {
        fs::read_dir(folder.path()).unwrap().any(|folder| {
            let file = fs::read(folder.unwrap().path().join("vectors.f32")).unwrap();
            file.chunks(bytes.len()).any(|vector| vector == bytes)
        })
    };
    index.apply(&changes(2, &[], &[5])).unwrap();
    index.snapshot().unwrap();
    assert!(
        on_disk(),
        "the graph leads through it, or the test proves nothing"
    );
    index.compact().unwrap();
    assert!(!on_disk());
    // Over 30 % removed: a plain snapshot drops them too.
    index.build_graph().unwrap();
    index
        .apply(&changes(3, &[], &(10..=22).collect::<Vec<_>>()))
        .unwrap();
    index.snapshot().unwrap();
    assert_eq!(index.describe(), "exact");
}

#[test]
fn a_damaged_snapshot_means_a_rebuild_and_says_why() {
    let vectors = clustered(7, 300, 5);
    let check = |damage: &dyn Fn(&Path), expect: &str| {
        let folder = tempfile::tempdir().unwrap();
        let (index, _) = open(folder.path(), 1_000);
        index.apply(&changes(9, &vectors, &[])).unwrap();
        index.build_graph().unwrap();
        index.snapshot().unwrap();
        drop(index);
        let snapshot = fs::read_dir(folder.path())
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        damage(&snapshot);
        let (index, opened) = open(folder.path(), 1_000);
        let Opened::Fresh { reason } = opened else {
            panic!("{expect}: {opened:?}")
        };
        assert!(reason.contains(expect), "{reason}");
        assert_eq!((index.sequence(), index.keys()), (0, vec![]));
        // Filled again, it works as before.
        index.apply(&changes(9, &vectors, &[])).unwrap();
        index.snapshot().unwrap();
        drop(index);
        assert_eq!(open(folder.path(), 1_000).1, Opened::Ready { sequence: 9 });
    };
    let flip = |path: &Path, at: usize| {
        let mut bytes = fs::read(path).unwrap();
        let at = at % bytes.len();
        bytes[at] ^= 4;
        fs::write(path, bytes).unwrap();
    };
    for name in ["vectors.f32", "keys.i64", "graph.u32"] {
        let damaged = format!("`{name}` is damaged");
        check(&|snapshot| flip(&snapshot.join(name), 0), &damaged);
        check(&|snapshot| flip(&snapshot.join(name), 1_001), &damaged);
        let cut = |snapshot: &Path, cut: u64| {
            let file = fs::OpenOptions::new()
                .write(true)
                .open(snapshot.join(name))
                .unwrap();
            file.set_len(file.metadata().unwrap().len() - cut).unwrap();
        };
        check(&|snapshot| cut(snapshot, 1), &damaged);
        check(&|snapshot| cut(snapshot, 256), &damaged);
        check(
            &|snapshot| fs::remove_file(snapshot.join(name)).unwrap(),
            name,
        );
    }
    for at in [0, 30, 60, 100, 200, 333] {
        check(
            &|snapshot| flip(&snapshot.join("manifest.json"), at),
            "`manifest.json` is damaged",
        );
    }
    check(
        &|snapshot| flip(&snapshot.join("manifest.sha256"), 5),
        "`manifest.json` is damaged",
    );
    check(
        &|snapshot| fs::remove_file(snapshot.join("manifest.json")).unwrap(),
        "manifest.json",
    );
    check(
        &|snapshot| fs::remove_dir_all(snapshot).unwrap(),
        "there is none yet",
    );
    // Killed before the rename: the half-written folder is no snapshot.
    check(
        &|snapshot| fs::rename(snapshot, snapshot.with_file_name("unfinished")).unwrap(),
        "there is none yet",
    );
}

#[test]
fn a_damaged_snapshot_gives_way_to_an_older_whole_one() {
    let vectors = clustered(8, 20, 2);
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = open(folder.path(), 1_000);
    index.apply(&changes(1, &vectors, &[])).unwrap();
    index.snapshot().unwrap();
    drop(index);
    // Killed after the rename and before the older one is removed.
    fs::create_dir(folder.path().join("snapshot-0000000002")).unwrap();
    let (index, opened) = open(folder.path(), 1_000);
    assert_eq!(
        (opened, index.keys().len()),
        (Opened::Ready { sequence: 1 }, 20)
    );
}

#[test]
fn another_model_means_a_rebuild() {
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = open(folder.path(), 1_000);
    index.apply(&changes(1, &clustered(9, 5, 1), &[])).unwrap();
    index.snapshot().unwrap();
    drop(index);
    let other = VectorSettings::new("other-model", DIMENSION);
    let (index, opened) = FlatIndex::open(folder.path(), other, pool()).unwrap();
    let Opened::Fresh { reason } = opened else {
        panic!("{opened:?}")
    };
    assert!(
        reason.contains("`test-model` (64) but `other-model` (64)"),
        "{reason}"
    );
    assert!(index.keys().is_empty());
}

#[test]
fn bad_vectors_are_refused_and_nothing_of_their_batch_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = open(folder.path(), 1_000);
    let good = (1, vec![1.0; DIMENSION]);
    let check = |bad: (ChunkKey, Vec<f32>), expect: &str| {
        let error = index
            .apply(&changes(1, &[good.clone(), bad], &[]))
            .unwrap_err();
        assert_eq!(error.to_string(), expect);
        assert_eq!((index.sequence(), index.keys()), (0, vec![]));
    };
    check(
        (2, vec![1.0; 3]),
        "vector dimension is 3 but the index holds 64; embed again or set `embedder.model` back",
    );
    let not_finite = vec![f32::NAN; DIMENSION];
    check(
        (2, not_finite.clone()),
        "the vector of chunk 2 has a component that is not a finite number; embed it again",
    );
    check(
        (0, vec![1.0; DIMENSION]),
        "chunk key is 0 but must be over 0",
    );
    assert!(matches!(
        index.search(&[1.0], 1, None),
        Err(VectorError::Dimension { .. })
    ));
    assert!(matches!(
        index.search(&not_finite, 1, None),
        Err(VectorError::NotFinite { .. })
    ));
    assert!(index.search(&good.1, 3, None).unwrap().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever was added, replaced, removed, sealed and filtered: an exact search is a sort.
    #[test]
    fn an_exact_search_is_a_sort(
        seed in 0_u64..1_000,
        counts in (1_usize..40, 0_usize..40),
        removed in prop::collection::vec(1_i64..80, 0..10),
        allowed in prop::option::of(prop::collection::vec(1_i64..90, 0..90)),
        k in 0_usize..90,
        snapshots in (any::<bool>(), any::<bool>()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (index, _) = open(folder.path(), 1_000);
        let mut vectors = clustered(seed, counts.0 + counts.1, 4);
        index.apply(&changes(1, &vectors[..counts.0], &[])).unwrap();
        if snapshots.0 {
            index.snapshot().unwrap();
        }
        // Some of the first part come again with another vector.
        let replaced: Vec<_> =
            clustered(seed + 1, counts.0, 4).into_iter().step_by(3).collect();
        vectors.retain(|(key, _)| replaced.iter().all(|(new, _)| new != key));
        index.apply(&changes(2, &vectors, &removed)).unwrap();
        index.apply(&changes(3, &replaced, &removed)).unwrap();
        if snapshots.1 {
            index.snapshot().unwrap();
        }
        vectors.extend(replaced);
        vectors.retain(|(key, _)| !removed.contains(key));

        let allowed: Option<AllowedChunks> = allowed.map(|keys| keys.into_iter().collect());
        let query = &clustered(seed + 2, 1, 4)[0].1;
        let hits = index.search(query, k, allowed.as_ref()).unwrap();
        let keep = |key| allowed.as_ref().is_none_or(|allowed| allowed.contains(key));
        prop_assert_eq!(keys(&hits), naive(&vectors, query, k, keep));
        let mut all: Vec<ChunkKey> = vectors.iter().map(|(key, _)| *key).collect();
        all.sort_unstable();
        prop_assert_eq!(index.keys(), all);
    }
}
