//! The passages found, as the sources of an answer.

use shared::contract::{Passage, Source};

use crate::label::citation;
use crate::prompt::words;

/// Characters of a source's preview.
const PREVIEW: usize = 500;

/// `passages` as sources, numbered from 1.
pub(crate) fn sources(passages: &[Passage]) -> Vec<Source> {
    let numbered = (1..).zip(passages).zip(citations(passages));
    numbered
        .map(|((number, passage), citation)| source(number, passage, citation))
        .collect()
}

/// How each passage is cited: by name and place, and by its headings too where several of them
/// stand at the same place.
pub(crate) fn citations(passages: &[Passage]) -> Vec<String> {
    let short: Vec<String> = passages
        .iter()
        .map(|passage| citation(&passage.hit))
        .collect();
    let is_shared = |cited: &String| short.iter().filter(|other| *other == cited).count() > 1;
    let cited = passages.iter().zip(&short);
    cited
        .map(|(passage, short)| {
            let cited = if is_shared(short) {
                &passage.label
            } else {
                short
            };
            cited.clone()
        })
        .collect()
}

fn source(number: u32, passage: &Passage, citation: String) -> Source {
    let hit = passage.hit.clone();
    Source {
        number,
        label: passage.label.clone(),
        citation,
        score: hit.score,
        preview: preview(&words(&hit)),
        chunk_id: hit.chunk_id,
        document_id: hit.document_id,
        collection: hit.collection,
        path: hit.path,
        name: hit.name,
        heading_path: hit.heading_path,
        spans: hit.spans,
        locator: hit.locator,
        keyword_rank: passage.keyword_rank,
        vector_rank: passage.vector_rank,
        coverage: hit.coverage,
    }
}

/// The beginning of `text`; `…` shows that there is more.
fn preview(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(PREVIEW) {
        None => text.to_owned(),
        Some(_) => text.chars().take(PREVIEW - 1).chain(['…']).collect(),
    }
}
