//! The laws of expansion, over a document whose text is known.

use shared::contract::NeighbourList;

use super::super::tests::{candidate, hit};
use super::*;

const ROOM: Budget = Budget {
    passage: 35,
    all: 1_000,
};

/// A document of ten chunks in a row, on pages 1 (0 to 4) and 2 (5 to 9), sections A (0 to 7) and
/// B (8, 9); the bytes of a page are covered without a gap. Each has 10 words, some 20 tokens.
fn document() -> Vec<Hit> {
    let mut at = [0, 0];
    (0..10_u32)
        .map(|n| {
            let page = usize::from(n >= 5);
            let text = format!("{} end {n}. ", "word ".repeat(8).trim());
            let heading = if n < 8 { "A" } else { "B" };
            let mut hit = hit(
                "a.pdf",
                n,
                (u32::try_from(page).unwrap() + 1, heading),
                &text,
            );
            let length = u32::try_from(text.len()).unwrap();
            let start = at[page];
            at[page] += length;
            hit.spans[0].start = start;
            hit.spans[0].end = start + length;
            hit
        })
        .collect()
}

/// What stands around `candidates` in `document`.
fn around(document: &[Hit], candidates: &[Candidate]) -> Surroundings {
    let asked = wanted(candidates, candidates.len(), &Filter::default());
    let run = |id: &ChunkId| -> Vec<Hit> {
        let near = |hit: &&Hit| hit.chunk_id.index.abs_diff(id.index) <= REACH;
        document.iter().filter(near).cloned().collect()
    };
    let runs = asked.chunks.iter().map(run).collect();
    Surroundings::of(&asked, NeighbourList { runs })
}

fn ranked(document: &[Hit], hits: &[usize]) -> Vec<Candidate> {
    (1..)
        .zip(hits)
        .map(|(rank, index)| candidate(document[*index].clone(), rank))
        .collect()
}

fn indexes(passage: &Passage) -> Vec<u32> {
    if passage.merged.is_empty() {
        return vec![passage.hit.chunk_id.index];
    }
    passage.merged.iter().map(|id| id.index).collect()
}

#[track_caller]
fn check(hits: &[usize], k: usize, budget: Budget, expect: &[&[u32]]) -> Packed {
    let document = document();
    let candidates = ranked(&document, hits);
    let packed = expand(&candidates, k, &around(&document, &candidates), budget);
    let found: Vec<Vec<u32>> = packed.passages.iter().map(indexes).collect();
    assert_eq!(found, expect, "hits {hits:?}");
    assert_eq!(packed.decisions.len(), candidates.len());
    assert_eq!(packed.tight.len(), packed.passages.len());
    for (passage, tight) in packed.passages.iter().zip(&packed.tight) {
        is_verbatim(&document, passage);
        is_verbatim(&document, tight);
        assert!(passage.hit.text.contains(&tight.hit.text));
        assert!(tokens(&passage.hit.text) <= budget.passage.max(tokens(&tight.hit.text)));
    }
    packed
}

/// Text and spans agree with the document, byte for byte.
#[track_caller]
fn is_verbatim(document: &[Hit], passage: &Passage) {
    let page = |number: u32| -> String {
        let on = |hit: &&Hit| hit.spans[0].page == number;
        document
            .iter()
            .filter(on)
            .map(|hit| hit.text.as_str())
            .collect()
    };
    let spans: String = passage
        .hit
        .spans
        .iter()
        .map(|span| {
            page(span.page)
                .get(span.start as usize..span.end as usize)
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(spans, passage.hit.text);
}

fn words(decision: &Decision) -> String {
    match decision {
        Decision::Packed { position } => format!("packed {position}"),
        Decision::Merged { position } => format!("merged {position}"),
        Decision::Dropped { reason } => reason.clone(),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_hit_is_read_with_what_stands_around_it() {
    let one = tokens(&document()[2].text);
    let room = |chunks: u32| Budget {
        passage: chunks * one,
        all: 1_000,
    };
    check(&[2], 1, room(1), &[&[2]]);
    check(&[2], 1, room(2), &[&[2, 3]]);
    check(&[2], 1, room(3), &[&[1, 2, 3]]);
    check(&[2], 1, room(9), &[&[0, 1, 2, 3, 4]]);
    check(&[2], 1, room(0), &[&[2]]);
}

#[test]
fn neither_page_nor_section_is_left() {
    let wide = Budget {
        passage: 900,
        all: 2_000,
    };
    check(&[4], 1, wide, &[&[1, 2, 3, 4]]);
    check(&[5], 1, wide, &[&[5, 6, 7]]);
    check(&[8], 1, wide, &[&[8, 9]]);
    // Side by side, but of two sections, or on two pages.
    let packed = check(&[7, 8], 2, wide, &[&[5, 6, 7], &[8, 9]]);
    assert_eq!(packed.passages[1].label, "[a.pdf, p.2 — B]");
    check(&[4, 5], 2, wide, &[&[1, 2, 3, 4], &[5, 6, 7]]);
}

#[test]
fn hits_side_by_side_become_one_passage_in_reading_order() {
    let packed = check(&[3, 8, 2, 6], 3, ROOM, &[&[2, 3, 4], &[8, 9], &[5, 6, 7]]);
    let said: Vec<String> = packed.decisions.iter().map(words).collect();
    assert_eq!(said, ["packed 1", "packed 2", "merged 1", "packed 3"]);
    assert_eq!(packed.passages[0].keyword_rank, Some(1), "of the best hit");
    assert_eq!(packed.passages[0].hit.chunk_id.index, 3);
    assert_eq!(packed.tight[0].merged.len(), 2, "tight, but with both hits");
    // Between two hits lies one chunk.
    check(&[1, 3], 2, ROOM, &[&[1, 2, 3]]);
    // With no room for both in one passage they stay two, and share nothing.
    let narrow = Budget {
        passage: 15,
        all: 1_000,
    };
    check(&[1, 2], 2, narrow, &[&[1], &[2]]);
}

#[test]
fn what_is_below_k_and_what_has_no_room_is_told() {
    let packed = check(&[0, 9, 5, 1], 1, ROOM, &[&[0, 1, 2]]);
    let said: Vec<String> = packed.decisions.iter().map(words).collect();
    assert_eq!(
        said,
        [
            "packed 1",
            "rank 2, below the 1 passage asked for",
            "rank 3, below the 1 passage asked for",
            "merged 1"
        ]
    );
    let one = cost(1, &passage_of(&ranked(&document(), &[0])[0]));
    let short = Budget {
        passage: 900,
        all: 2 * one + 3,
    };
    let packed = check(&[0, 9, 5], 3, short, &[&[0], &[9]]);
    assert_eq!(packed.no_room, 1);
    assert!(words(&packed.decisions[2]).contains("no room in the budget of"));
}

#[test]
fn rows_stand_below_the_header_of_the_first_of_them() {
    let mut document = document();
    document[3].table_header = "| a |\n|---|".to_owned();
    document[2].table_header = "| b |\n|---|".to_owned();
    let candidates = ranked(&document, &[3]);
    let budget = Budget {
        passage: 1 + 3 * tokens(&document[3].text),
        all: 1_000,
    };
    let packed = expand(&candidates, 1, &around(&document, &candidates), budget);
    assert_eq!(indexes(&packed.passages[0]), [2, 3, 4]);
    assert_eq!(packed.passages[0].hit.table_header, "| b |\n|---|");
    assert_eq!(packed.tight[0].hit.table_header, "| a |\n|---|");
}
