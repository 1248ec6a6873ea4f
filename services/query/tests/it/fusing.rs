//! The laws of fusion.

use proptest::prelude::*;
use query::{Fused, List, RANK_CONSTANT};
use shared::contract::{ChunkId, FusionMethod};

use crate::support::id;

fn ids(indexes: &[u32]) -> Vec<ChunkId> {
    indexes.iter().copied().map(id).collect()
}

/// Fuses by ranks.
fn fuse(keyword: &[ChunkId], vector: &[ChunkId], weight: f32) -> Vec<Fused> {
    let scored = |ids: &[ChunkId]| {
        let scored = (1..)
            .zip(ids)
            .map(|(rank, id)| (id.clone(), 1.0 / rank as f32));
        scored.collect::<Vec<_>>()
    };
    let (keyword, vector) = (scored(keyword), scored(vector));
    let lists = (List::of(&keyword), List::of(&vector));
    query::fuse(FusionMethod::Rrf, lists.0, lists.1, weight)
}

/// Fuses by scores.
fn average(keyword: &[(u32, f32)], vector: &[(u32, f32)], weight: f32) -> Vec<(u32, f32)> {
    let scored = |hits: &[(u32, f32)]| {
        let scored = hits.iter().map(|(index, score)| (id(*index), *score));
        scored.collect::<Vec<_>>()
    };
    let (keyword, vector) = (scored(keyword), scored(vector));
    let lists = (List::of(&keyword), List::of(&vector));
    let fused = query::fuse(FusionMethod::Average, lists.0, lists.1, weight);
    let told = fused.iter().map(|one| (one.chunk_id.index, one.score));
    told.collect()
}

#[test]
fn scores_are_averaged_over_their_ranges() {
    #[track_caller]
    fn check(keyword: &[(u32, f32)], vector: &[(u32, f32)], weight: f32, expect: &[(u32, f32)]) {
        let found = average(keyword, vector, weight);
        let same = found.len() == expect.len()
            && found
                .iter()
                .zip(expect)
                .all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-5);
        assert!(same, "{found:?} is not {expect:?}");
    }
    let words = [(1, 12.0), (2, 8.0), (3, 4.0)];
    let meaning = [(2, 0.9), (4, 0.6), (1, 0.5)];
    check(
        &words,
        &meaning,
        0.5,
        &[(2, 0.75), (1, 0.5), (4, 0.125), (3, 0.0)],
    );
    check(&words, &meaning, 0.0, &[(1, 1.0), (2, 0.5), (3, 0.0)]);
    check(&words, &[], 0.5, &[(1, 0.5), (2, 0.25), (3, 0.0)]);
    // One hit, or equal ones, are the best there are.
    check(&[(7, 3.0)], &[], 0.5, &[(7, 0.5)]);
    check(&[(7, 3.0), (8, 3.0)], &[], 0.5, &[(7, 0.5), (8, 0.5)]);
}

fn order(fused: &[Fused]) -> Vec<u32> {
    fused.iter().map(|fused| fused.chunk_id.index).collect()
}

#[test]
fn lists_are_fused_by_rank() {
    fn check(keyword: &[u32], vector: &[u32], weight: f32, expect: &[u32]) {
        let fused = fuse(&ids(keyword), &ids(vector), weight);
        assert_eq!(
            order(&fused),
            expect,
            "{keyword:?} and {vector:?} at {weight}"
        );
    }
    check(&[], &[], 0.5, &[]);
    check(&[1, 2, 3], &[], 0.5, &[1, 2, 3]);
    check(&[], &[1, 2, 3], 0.5, &[1, 2, 3]);
    check(&[9, 1], &[9, 2], 0.5, &[9, 1, 2]);
    check(&[1, 9], &[2, 9], 0.5, &[9, 1, 2]);
    check(&[1, 2], &[2, 1], 0.5, &[1, 2]);
    check(&[1, 2], &[2, 1], 0.6, &[2, 1]);
    check(&[1, 2], &[2, 1], 0.4, &[1, 2]);
    check(&[1], &[2], 0.0, &[1]);
    check(&[1], &[2], 1.0, &[2]);
    check(&[1, 1, 2], &[2, 2], 0.5, &[2, 1]);
}

#[test]
fn scores_follow_the_formula() {
    let fused = fuse(&ids(&[1, 2]), &ids(&[2]), 0.25);
    let expect = 0.75 / (RANK_CONSTANT + 2.0) + 0.25 / (RANK_CONSTANT + 1.0);
    let two = fused.iter().find(|fused| fused.chunk_id == id(2)).unwrap();
    assert!(
        (two.score - expect).abs() < 1e-7,
        "{} is not {expect}",
        two.score
    );
    assert_eq!((two.keyword_rank, two.vector_rank), (Some(2), Some(1)));
}

fn list() -> impl Strategy<Value = Vec<u32>> {
    proptest::collection::vec(0..60_u32, 0..40)
}

proptest! {
    #[test]
    fn first_in_both_lists_wins(mut a in list(), mut b in list(), weight in 0.0..=1.0_f32) {
        a.insert(0, 99);
        b.insert(0, 99);
        prop_assert_eq!(order(&fuse(&ids(&a), &ids(&b), weight))[0], 99);
    }

    #[test]
    fn everything_found_is_returned_once(a in list(), b in list(), weight in 0.01..0.99_f32) {
        let fused = fuse(&ids(&a), &ids(&b), weight);
        let mut found = order(&fused);
        found.sort_unstable();
        let mut expect = [a, b].concat();
        expect.sort_unstable();
        expect.dedup();
        prop_assert_eq!(found, expect);
        prop_assert!(fused.is_sorted_by(|a, b| a.score >= b.score));
    }

    #[test]
    fn more_weight_never_lowers_what_only_the_vector_list_has(
        a in list(), b in list(), low in 0.01..0.99_f32, more in 0.0..0.9_f32
    ) {
        let high = low + (0.99 - low) * more;
        let place = |weight| {
            let fused = fuse(&ids(&a), &ids(&b), weight);
            fused.iter().position(|fused| fused.keyword_rank.is_none())
        };
        prop_assert!(place(high) <= place(low));
    }

    #[test]
    fn the_same_lists_give_the_same(a in list(), b in list(), weight in 0.0..=1.0_f32) {
        prop_assert_eq!(fuse(&ids(&a), &ids(&b), weight), fuse(&ids(&a), &ids(&b), weight));
        let swapped = order(&fuse(&ids(&b), &ids(&a), 0.5));
        prop_assert_eq!(order(&fuse(&ids(&a), &ids(&b), 0.5)), swapped, "equal weights");
    }
}
