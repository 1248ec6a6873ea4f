//! Passages from candidates, and from chunks in a row.

use shared::contract::{Hit, Passage, Span};

use crate::candidate::Candidate;
use crate::label::label;

/// The passage of a candidate alone.
pub(crate) fn passage_of(candidate: &Candidate) -> Passage {
    Passage {
        label: label(&candidate.hit),
        hit: candidate.hit.clone(),
        keyword_rank: candidate.keyword.and_then(|standing| standing.rank),
        vector_rank: candidate.vector.and_then(|standing| standing.rank),
        rerank_score: candidate.reranked.map(|standing| standing.score),
        merged: Vec::new(),
    }
}

/// The passage of `candidate` with the text of `run`, which are chunks that follow each other in
/// reading order, the candidate's own among them. Its text is theirs, verbatim, and its spans lie
/// as they do: the bytes of the spans, one after the other, are the text.
pub(super) fn passage_of_run(candidate: &Candidate, run: &[Hit]) -> Passage {
    let mut passage = passage_of(candidate);
    let (Some(first), true) = (run.first(), run.len() > 1) else {
        return passage;
    };
    let hit = &mut passage.hit;
    hit.text = run.iter().map(|chunk| chunk.text.as_str()).collect();
    hit.spans = joined(run.iter().flat_map(|chunk| &chunk.spans));
    // Text after the first chunk stands below its own header now.
    hit.table_header.clone_from(&first.table_header);
    hit.locator.clone_from(&first.locator);
    passage.label = label(hit);
    passage.merged = run.iter().map(|chunk| chunk.chunk_id.clone()).collect();
    passage
}

/// `spans` with those that touch made one.
fn joined<'a>(spans: impl Iterator<Item = &'a Span>) -> Vec<Span> {
    let mut joined: Vec<Span> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if last.page == span.page && last.end == span.start => last.end = span.end,
            _ => joined.push(*span),
        }
    }
    joined
}
