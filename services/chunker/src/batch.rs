//! A document's chunks in batches that fit a message.

use shared::contract::{Batch, Chunk, ChunksMade, Work};

use crate::tokens::Budget;

/// Splits `chunks` into messages of at most [`Budget::batch_chunks`] chunks and
/// [`ChunksMade::MAX_TEXT_BYTES`] as JSON writes their texts.
pub fn batches(work: &Work, budget: &Budget, chunks: Vec<Chunk>) -> Vec<ChunksMade> {
    let total_chunks = as_u32(chunks.len());
    let mut groups: Vec<Vec<Chunk>> = Vec::new();
    let mut room = 0;
    for chunk in chunks {
        let size = size(&chunk);
        match groups.last_mut() {
            Some(group) if group.len() < budget.batch_chunks && size <= room => {
                room -= size;
                group.push(chunk);
            }
            _ => {
                room = ChunksMade::MAX_TEXT_BYTES.saturating_sub(size);
                groups.push(vec![chunk]);
            }
        }
    }
    let count = as_u32(groups.len());
    (0..)
        .zip(groups)
        .map(|(index, chunks)| ChunksMade {
            work: work.clone(),
            batch: Batch { index, count },
            total_chunks,
            tokenizer_hash: budget.tokenizer.hash().to_string(),
            window: budget.window,
            chunks,
        })
        .collect()
}

/// Bytes of a chunk's texts in JSON.
fn size(chunk: &Chunk) -> usize {
    let path: usize = chunk
        .heading_path
        .iter()
        .map(|heading| escaped(heading))
        .sum();
    path + escaped(&chunk.prefix) + escaped(&chunk.overlap) + escaped(&chunk.text)
}

/// Bytes of `text` in JSON: line ends, quotes and backslashes take two, other control characters
/// six.
fn escaped(text: &str) -> usize {
    text.bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
            0..0x20 => 6,
            _ => 1,
        })
        .sum()
}

fn as_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
