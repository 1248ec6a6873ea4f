//! Exact scan, flat graph and `hnsw_rs`'s own search over the same vectors.
//!
//! `cargo bench -p ibid-indexer --bench ann`; `ANN_VECTORS` sets how many (20,000), of 384
//! components in clusters. Building the two graphs takes most of the time.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench reports to the terminal"
)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use hnsw_rs::anndists::dist::distances::Distance;
use hnsw_rs::hnsw::Hnsw;
use indexer::background;
use indexer::vector::{
    AllowedChunks, ChunkKey, FlatIndex, VectorChanges, VectorIndex, VectorSettings,
};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

const DIMENSION: usize = 384;
const K: usize = 10;
const EF: usize = 100;

/// 1 - dot product, for unit vectors; compiled as the index's own.
struct OneMinusDot;

impl Distance<f32> for OneMinusDot {
    fn eval(&self, a: &[f32], b: &[f32]) -> f32 {
        let (a, b) = (a.as_chunks::<32>().0, b.as_chunks::<32>().0);
        let mut sums = [0.0_f32; 32];
        for (x, y) in a.iter().zip(b) {
            for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
                *sum += x * y;
            }
        }
        (1.0 - sums.iter().sum::<f32>()).max(0.0)
    }
}

fn clustered(seed: u64, count: usize, clusters: usize) -> Vec<Vec<f32>> {
    let mut centres = SmallRng::seed_from_u64(7);
    let mut around = SmallRng::seed_from_u64(seed);
    let vector = |random: &mut SmallRng, spread: f32| -> Vec<f32> {
        (0..DIMENSION)
            .map(|_| random.random_range(-spread..spread))
            .collect()
    };
    let centres: Vec<Vec<f32>> = (0..clusters).map(|_| vector(&mut centres, 1.0)).collect();
    (0..count)
        .map(|_| {
            let centre = centres.get(around.random_range(0..clusters)).unwrap();
            let sum: Vec<f32> = vector(&mut around, 1.0)
                .iter()
                .zip(centre)
                .map(|(x, y)| x + y)
                .collect();
            let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
            sum.iter().map(|x| x / length).collect()
        })
        .collect()
}

fn filled(folder: &std::path::Path, vectors: &[Vec<f32>]) -> FlatIndex {
    let settings = VectorSettings {
        exact_limit: usize::MAX,
        ..VectorSettings::new("bench", DIMENSION)
    };
    let (index, _) = FlatIndex::open(folder, settings, background::pool(2).unwrap()).unwrap();
    let upserts = (1..).zip(vectors.iter().cloned()).collect();
    index
        .apply(&VectorChanges {
            upserts,
            deletes: Vec::new(),
            sequence: 1,
        })
        .unwrap();
    index.snapshot().unwrap();
    index
}

fn bench(criterion: &mut Criterion) {
    let count = std::env::var_os("ANN_VECTORS")
        .and_then(|count| count.to_str()?.parse().ok())
        .unwrap_or(20_000);
    let vectors = clustered(1, count, count / 100 + 1);
    let queries = clustered(2, 200, count / 100 + 1);
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let exact = filled(folders[0].path(), &vectors);
    let graph = filled(folders[1].path(), &vectors);
    graph.build_graph().unwrap();
    let hnsw = Hnsw::<f32, OneMinusDot>::new(16, count, 16, 200, OneMinusDot);
    let with_ids: Vec<(&[f32], usize)> = vectors
        .iter()
        .zip(1..)
        .map(|(vector, id)| (vector.as_slice(), id))
        .collect();
    hnsw.parallel_insert_slice(&with_ids);

    let keys = |hits: Vec<(ChunkKey, f32)>| hits.into_iter().map(|hit| hit.0).collect::<Vec<_>>();
    let (mut flat, mut own) = (0, 0);
    for query in &queries {
        let expect = keys(exact.search(query, K, None).unwrap());
        let found = keys(graph.search(query, K, None).unwrap());
        flat += expect.iter().filter(|key| found.contains(key)).count();
        let found = hnsw.search(query, K, EF);
        own += expect
            .iter()
            .filter(|key| {
                found
                    .iter()
                    .any(|near| usize::try_from(**key) == Ok(near.d_id))
            })
            .count();
    }
    let share = |found: usize| found as f64 / (K * queries.len()) as f64;
    println!(
        "{count} x {DIMENSION}, {}: recall@{K} flat {:.4}, hnsw_rs {:.4}",
        graph.describe(),
        share(flat),
        share(own)
    );

    let mut group = criterion.benchmark_group("ann");
    let mut each = |name: &str, search: &dyn Fn(&[f32])| {
        let mut queries = queries.iter().cycle();
        group.bench_function(name, |bencher| {
            bencher.iter(|| search(black_box(queries.next().unwrap())));
        });
    };
    each("exact", &|query| {
        drop(exact.search(query, K, None).unwrap());
    });
    each("graph", &|query| {
        drop(graph.search(query, K, None).unwrap());
    });
    each("hnsw_rs", &|query| drop(hnsw.search(query, K, EF)));
    for share in [2, 10, 100] {
        let last = i64::try_from(count).unwrap();
        let allowed: AllowedChunks = (1..=last).filter(|key| key % share == 0).collect();
        each(&format!("exact, 1 of {share} allowed"), &|query| {
            drop(exact.search(query, K, Some(&allowed)).unwrap());
        });
        each(&format!("graph, 1 of {share} allowed"), &|query| {
            drop(graph.search(query, K, Some(&allowed)).unwrap());
        });
    }
}

criterion_group! {
    name = ann;
    config = Criterion::default().sample_size(30);
    targets = bench
}
criterion_main!(ann);
