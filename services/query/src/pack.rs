//! From ranked candidates to passages.
//!
//! A search shows the candidates themselves, one passage each, so that its ranking is what the
//! engines and their fusion made of it. An answer reads more around them (`expand`): neighbours
//! within the same section and page, hits that stand side by side as one passage in reading
//! order, and no more than its prompt can hold.

mod expand;
mod passage;

use shared::contract::{Decision, Passage};

use crate::candidate::Candidate;
use crate::prompt::cost;

pub(crate) use expand::{Budget, Surroundings, expand, wanted};
pub(crate) use passage::passage_of;

/// Passages, and what became of each candidate.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Packed {
    /// Best first.
    pub(crate) passages: Vec<Passage>,
    /// The same passages with the text of the candidates alone: what is read in their place where
    /// the room is short.
    pub(crate) tight: Vec<Passage>,
    /// One for each candidate, in their order.
    pub(crate) decisions: Vec<Decision>,
    /// Candidates that would be passages if there were room.
    pub(crate) no_room: u32,
}

/// The first `k` of `candidates`, as they are; a text that stands there already is left out.
pub(crate) fn take(candidates: &[Candidate], k: usize) -> Packed {
    let mut passages: Vec<Passage> = Vec::new();
    let decisions = (1..).zip(candidates).map(|(rank, candidate)| {
        if let Some(of) = &candidate.same_as {
            return Decision::Duplicate { of: of.clone() };
        }
        if passages.len() >= k {
            return below(rank, k);
        }
        passages.push(passage_of(candidate));
        Decision::Packed {
            position: u32::try_from(passages.len()).unwrap_or(u32::MAX),
        }
    });
    Packed {
        decisions: decisions.collect(),
        tight: passages.clone(),
        passages,
        no_room: 0,
    }
}

/// The first `k` of `candidates` as far as `tokens` of a prompt hold them.
pub(crate) fn take_within(candidates: &[Candidate], k: usize, tokens: u32) -> Packed {
    let mut packed = take(candidates, k);
    let mut used = 0_u32;
    let fitting = (1..)
        .zip(&packed.passages)
        .take_while(|(number, passage)| {
            used = used.saturating_add(cost(*number, passage));
            // A first passage that is too long is the prompt's to deal with.
            *number == 1 || used <= tokens
        })
        .count();
    let left = packed.passages.len() - fitting;
    packed.passages.truncate(fitting);
    packed.tight.truncate(fitting);
    packed.no_room = u32::try_from(left).unwrap_or(u32::MAX);
    for decision in &mut packed.decisions {
        if matches!(decision, Decision::Packed { position } if *position as usize > fitting) {
            *decision = no_room(tokens);
        }
    }
    packed
}

pub(super) fn below(rank: u32, k: usize) -> Decision {
    let passages = match k {
        1 => "the 1 passage".to_owned(),
        k => format!("the {k} passages"),
    };
    Decision::Dropped {
        reason: format!("rank {rank}, below {passages} asked for"),
    }
}

fn no_room(tokens: u32) -> Decision {
    Decision::Dropped {
        reason: format!("no room in the budget of {tokens} tokens (`generation.context_tokens`)"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use shared::contract::{
        ChunkId, CollectionName, DocumentId, FileHash, Hit, Locator, Sha256Hex, Span, Standing,
    };
    use shared::format::Format;

    use super::*;

    /// Chunk `index` of `file`, on `page` below `heading`, from byte `index` × 1,000.
    pub(crate) fn hit(file: &str, index: u32, (page, heading): (u32, &str), text: &str) -> Hit {
        let start = index * 1_000;
        Hit {
            chunk_id: ChunkId {
                file_hash: FileHash::of(&Sha256Hex::of(file.as_bytes()), Format::Pdf),
                index,
            },
            document_id: DocumentId::generate(),
            collection: CollectionName::default(),
            path: format!("/{file}"),
            name: file.to_owned(),
            heading_path: vec![heading.to_owned()],
            table_header: String::new(),
            text: text.to_owned(),
            spans: vec![Span {
                page,
                start,
                end: start + u32::try_from(text.len()).unwrap(),
            }],
            locator: Locator::PdfPage {
                physical: page,
                label: None,
            },
            score: 0.5,
            coverage: None,
        }
    }

    pub(crate) fn candidate(hit: Hit, rank: u32) -> Candidate {
        Candidate {
            hit,
            keyword: Some(Standing {
                rank: Some(rank),
                score: 10.0 - rank as f32,
            }),
            vector: None,
            reranked: None,
            same_as: None,
        }
    }

    #[test]
    fn a_search_takes_the_first_ones_and_says_so_of_the_rest() {
        let candidates: Vec<Candidate> = (1..=4)
            .map(|n| candidate(hit("a", n, (1, "A"), "text"), n))
            .collect();
        let packed = take(&candidates, 2);
        assert_eq!(packed.passages.len(), 2);
        assert_eq!(packed.decisions.len(), 4);
        assert_eq!(packed.decisions[1], Decision::Packed { position: 2 });
        let Decision::Dropped { reason } = &packed.decisions[3] else {
            panic!("{packed:?}");
        };
        assert_eq!(reason, "rank 4, below the 2 passages asked for");
    }

    #[test]
    fn what_a_prompt_cannot_hold_is_dropped_and_counted() {
        let text = "word ".repeat(100);
        let candidates: Vec<Candidate> = (1..=6)
            .map(|n| candidate(hit("a", n, (1, "A"), &text), n))
            .collect();
        let one = cost(1, &passage_of(&candidates[0]));
        let packed = take_within(&candidates, 5, 3 * one + 5);
        assert_eq!((packed.passages.len(), packed.no_room), (3, 2));
        let reasons: Vec<String> = packed.decisions.iter().map(|d| format!("{d:?}")).collect();
        assert!(reasons[3].contains("no room in the budget"), "{reasons:?}");
        assert!(reasons[4].contains("no room in the budget"), "{reasons:?}");
        assert!(reasons[5].contains("rank 6, below"), "{reasons:?}");
        assert_eq!(take_within(&candidates, 5, 1).passages.len(), 1);
    }
}
