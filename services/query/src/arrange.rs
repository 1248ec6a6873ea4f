//! The order of fused candidates beyond their scores: the same text told once, other documents
//! given room.

use std::collections::HashMap;

use shared::contract::{ChunkId, DocumentId};

use crate::candidate::Candidate;

/// Marks each candidate whose text stands higher up already, white space aside.
pub(crate) fn mark_duplicates(candidates: &mut [Candidate]) {
    let mut seen: HashMap<String, ChunkId> = HashMap::new();
    for candidate in candidates {
        let hit = &candidate.hit;
        let words: Vec<&str> = hit.text.split_whitespace().collect();
        let text = format!("{}\n{}", hit.table_header.trim(), words.join(" "));
        match seen.get(&text) {
            Some(first) => candidate.same_as = Some(first.clone()),
            None => {
                seen.insert(text, hit.chunk_id.clone());
            }
        }
    }
}

/// Orders `candidates`, best first, so that a document's later passages give way to other
/// documents: each passage of a document that stands above takes `diversity`, 0 to 1, of a
/// candidate's worth. At 1 every document has its best passage before any has its second.
pub(crate) fn diversify(candidates: Vec<Candidate>, diversity: f32) -> Vec<Candidate> {
    if diversity <= 0.0 {
        return candidates;
    }
    let mut taken: HashMap<DocumentId, i32> = HashMap::new();
    let mut left: Vec<Option<Candidate>> = candidates.into_iter().map(Some).collect();
    let mut ordered = Vec::with_capacity(left.len());
    for _ in 0..left.len() {
        let worth = |candidate: &Candidate| {
            let above = taken.get(&candidate.hit.document_id).copied();
            worth(candidate) * (1.0 - diversity).powi(above.unwrap_or_default())
        };
        let mut best: Option<(usize, f32)> = None;
        for (at, candidate) in left.iter().enumerate() {
            let Some(candidate) = candidate else { continue };
            let worth = worth(candidate);
            // The first of equals stays first.
            if best.is_none_or(|(_, most)| worth > most) {
                best = Some((at, worth));
            }
        }
        let chosen = best.and_then(|(at, _)| left.get_mut(at)?.take());
        if let Some(candidate) = chosen {
            *taken.entry(candidate.hit.document_id.clone()).or_default() += 1;
            ordered.push(candidate);
        }
    }
    ordered
}

/// A candidate's score, over 0; where it was reranked, that score, above all that were not.
fn worth(candidate: &Candidate) -> f32 {
    candidate
        .reranked
        // A reranker's scores may be below 0.
        .map_or(candidate.hit.score, |read| {
            1.0 + 1.0 / (1.0 + (-read.score).exp())
        })
}

#[cfg(test)]
mod tests {
    use shared::contract::Standing;

    use super::*;
    use crate::pack::tests::{candidate, hit};

    fn named(file: &str, index: u32, score: f32, text: &str) -> Candidate {
        let mut one = candidate(hit(file, index, (1, "A"), text), index);
        one.hit.score = score;
        // The document is the file, not the hit.
        one.hit.document_id = format!("{:0>32x}", file.bytes().map(u64::from).sum::<u64>())
            .parse()
            .unwrap();
        one
    }

    fn order(candidates: &[Candidate]) -> Vec<u32> {
        candidates
            .iter()
            .map(|one| one.hit.chunk_id.index)
            .collect()
    }

    #[test]
    fn other_documents_get_room() {
        #[track_caller]
        fn check(diversity: f32, expect: &[u32]) {
            let found = vec![
                named("a", 1, 0.9, "one"),
                named("a", 2, 0.8, "two"),
                named("a", 3, 0.7, "three"),
                named("b", 4, 0.5, "four"),
                named("b", 5, 0.1, "five"),
            ];
            assert_eq!(order(&diversify(found, diversity)), expect, "{diversity}");
        }
        check(0.0, &[1, 2, 3, 4, 5]);
        check(0.1, &[1, 2, 3, 4, 5]);
        check(0.5, &[1, 4, 2, 3, 5]);
        check(1.0, &[1, 4, 2, 3, 5]);
    }

    #[test]
    fn what_was_reranked_gives_room_too() {
        #[track_caller]
        fn check(diversity: f32, expect: &[u32]) {
            let found = [
                (named("a", 1, 0.2, "one"), Some(4.0)),
                (named("a", 2, 0.9, "two"), Some(3.0)),
                (named("b", 3, 0.1, "three"), Some(-5.0)),
                (named("c", 4, 0.8, "four"), None),
            ];
            let found = found.into_iter().map(|(mut one, score)| {
                one.reranked = score.map(|score| Standing { rank: None, score });
                one
            });
            assert_eq!(
                order(&diversify(found.collect(), diversity)),
                expect,
                "{diversity}"
            );
        }
        check(0.0, &[1, 2, 3, 4]);
        check(0.3, &[1, 2, 3, 4]);
        check(0.6, &[1, 3, 4, 2]);
    }

    #[test]
    fn the_same_text_is_marked_once_it_stands() {
        let mut found = vec![
            named("a", 1, 0.9, "the same  text\n"),
            named("b", 2, 0.8, "the same text"),
            named("b", 3, 0.7, "other text"),
        ];
        mark_duplicates(&mut found);
        let marks: Vec<Option<u32>> = found
            .iter()
            .map(|one| one.same_as.as_ref().map(|id| id.index))
            .collect();
        assert_eq!(marks, [None, Some(1), None]);
    }
}
