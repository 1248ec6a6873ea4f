//! Workbooks made for the purpose, from their cells to their pages.

mod old;
mod open;
mod xlsx;

use shared::contract::ReadMethod;
use shared::format::Format;

use super::*;
use crate::extract::extract_alone;

fn read(format: Format, bytes: &[u8]) -> Extraction {
    extract_alone(format, "book", bytes).unwrap()
}

/// The pages' texts.
fn texts(extraction: &Extraction) -> Vec<&str> {
    extraction
        .pages
        .iter()
        .map(|page| page.markdown.as_str())
        .collect()
}

/// Flips, truncations: an end in pages or in an error, and never a panic.
fn survives(format: Format, whole: &[u8]) {
    for cut in (0..whole.len()).step_by(whole.len() / 60 + 1) {
        drop(extract_alone(format, "book", &whole[..cut]));
    }
    for at in (0..whole.len()).step_by(whole.len() / 300 + 1) {
        for with in [0x01, 0x80, 0xff] {
            let mut bytes = whole.to_vec();
            bytes[at] ^= with;
            if let Ok(extraction) = extract_alone(format, "book", &bytes) {
                assert!(!extraction.pages.is_empty());
            }
        }
    }
}
