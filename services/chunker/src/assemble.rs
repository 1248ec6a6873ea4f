//! From drafts to chunks: heading path, overlap, and the tokenizer's last word.

use std::collections::VecDeque;

use shared::contract::Chunk;

use crate::ChunkError;
use crate::document::Document;
use crate::pack::{Draft, range};
use crate::room::{Room, Rooms};
use crate::tokens::{Budget, TokenCounter};
use crate::unit::Unit;

/// Makes the chunks of `drafts`. Each is counted whole by the tokenizer; one that its words'
/// counts promised to fit and does not is cut again.
pub(crate) fn assemble(
    document: &Document,
    budget: &Budget,
    sections: &[Vec<String>],
    rooms: &mut Rooms<'_>,
    drafts: Vec<Draft>,
) -> Result<Vec<Chunk>, ChunkError> {
    let mut queue = VecDeque::from(drafts);
    let mut chunks = Vec::with_capacity(queue.len());
    let mut before = Draft::new();
    while let Some(mut draft) = queue.pop_front() {
        let room = rooms.of(&draft)?;
        let path = sections.get(room.section).cloned().unwrap_or_default();
        let chunk = fit(document, budget, &before, &draft, room)?;
        let lost_header = lost_header(document, &draft, &chunk);
        if (chunk.tokens > budget.window || lost_header)
            && let Some(rest) = split(document, &budget.tokenizer, &mut draft)?
        {
            queue.push_front(rest);
            queue.push_front(draft);
            continue;
        }
        if chunk.tokens > budget.window {
            return Err(ChunkError::WindowTooSmall {
                window: budget.window,
                least: chunk.tokens,
            });
        }
        let index = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
        chunks.push(Chunk {
            index,
            heading_path: path,
            ..chunk
        });
        before = draft;
    }
    Ok(chunks)
}

/// The chunk of `draft`, with as much overlap as fits; without its prefix when even no overlap is
/// too much.
fn fit(
    document: &Document,
    budget: &Budget,
    before: &[Unit],
    draft: &[Unit],
    room: Room,
) -> Result<Chunk, ChunkError> {
    let text = document.slice(range(draft)).to_owned();
    let spans = document.spans(&range(draft));
    let tokens = draft.iter().map(|unit| unit.tokens).sum();
    let mut limit = room.left.saturating_sub(tokens);
    let mut chunk = Chunk {
        index: 0,
        heading_path: Vec::new(),
        prefix: room.prefix,
        overlap: String::new(),
        text,
        spans,
        tokens: 0,
    };
    loop {
        chunk.overlap = if let Some(header) = repeated_header(document, draft, limit) {
            header
        } else {
            let limit = limit.min(budget.window / 8);
            overlap(document, &budget.tokenizer, before, draft, limit)?
        };
        chunk.tokens = budget.tokenizer.exact(&chunk.embed_input())?;
        let over = chunk.tokens.saturating_sub(budget.window);
        if over == 0 || (chunk.overlap.is_empty() && chunk.prefix.is_empty()) {
            return Ok(chunk);
        }
        if chunk.overlap.is_empty() {
            chunk.prefix.clear();
        }
        // Counted whole, the overlap may have other tokens than its words promised.
        let had = budget.tokenizer.estimate(&chunk.overlap)?;
        limit = limit.min(had).saturating_sub(over);
    }
}

/// Whether the header that `draft` should repeat had no room beside its text: counted whole, the
/// words have other tokens than they promised.
fn lost_header(document: &Document, draft: &[Unit], chunk: &Chunk) -> bool {
    let header = draft.first().and_then(Unit::repeats);
    header.is_some_and(|header| document.slice(header.range()).trim() != chunk.overlap)
}

/// The header of the table that `draft` goes on with, when it has at most `limit` tokens.
fn repeated_header(document: &Document, draft: &[Unit], limit: u32) -> Option<String> {
    let header = draft.first()?.repeats()?;
    let text = document.slice(header.range()).trim();
    (header.tokens <= limit).then(|| text.to_owned())
}

/// The end of the chunk before, within `limit` tokens: whole sentences if the last one fits, else
/// its last words. Empty across the start of a section.
fn overlap(
    document: &Document,
    counter: &TokenCounter,
    before: &[Unit],
    draft: &[Unit],
    limit: u32,
) -> Result<String, ChunkError> {
    let (Some(first), Some(last)) = (draft.first(), before.last()) else {
        return Ok(String::new());
    };
    let related = |unit: &&Unit| !unit.heading && unit.section == first.section;
    if first.heading || limit == 0 || !related(&last) {
        return Ok(String::new());
    }
    let (mut sum, mut start) = (0, last.range.end);
    for unit in before.iter().rev().take_while(related) {
        sum += unit.tokens;
        if sum > limit {
            break;
        }
        start = unit.range.start;
    }
    if start == last.range.end {
        start -= last_words(document.slice(last.range.clone()), counter, limit)?;
    }
    Ok(document.slice(start..last.range.end).trim().to_owned())
}

/// Bytes of the last words of `text` that have at most `limit` tokens.
fn last_words(text: &str, counter: &TokenCounter, limit: u32) -> Result<usize, ChunkError> {
    let atoms = counter.atoms(text).collect::<Result<Vec<_>, _>>()?;
    let mut sum = 0;
    let mut bytes = 0;
    for atom in atoms.iter().rev() {
        sum += atom.tokens;
        if sum > limit {
            break;
        }
        bytes += atom.range.len();
    }
    Ok(bytes)
}

/// Cuts `draft` in two, the second with text; `None` when it is a single word.
fn split(
    document: &Document,
    counter: &TokenCounter,
    draft: &mut Draft,
) -> Result<Option<Draft>, ChunkError> {
    let texts = draft.iter().filter(|unit| !unit.heading).count();
    if texts > 1 {
        return Ok(draft.pop().map(|last| vec![last]));
    }
    let Some(last) = draft.last_mut() else {
        return Ok(None);
    };
    let half = last.tokens / 2;
    Ok(last
        .split_off(document, counter, half)?
        .map(|rest| vec![rest]))
}
