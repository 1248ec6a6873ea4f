//! Rich Text Format, read by `anydoc`. Hidden text, which it does not know, is marked first, and
//! comments become notes.

mod filter;

use super::markdown::Names;
use super::office::render::{Piece, Renderer};
use super::office::{HAS_HIDDEN, PLAIN_ONLY, model, pages};
use super::{ExtractError, Extraction, Extractor, Input, charset};

use self::filter::Filtered;

pub(super) struct RtfExtractor;

impl Extractor for RtfExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let bytes = input
            .bytes
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(input.bytes);
        let bytes = bytes.trim_ascii_start();
        if !bytes.starts_with(b"{\\rtf") {
            return Err(ExtractError::Damaged {
                what: "it does not begin as RTF does".to_owned(),
            });
        }
        let filtered = Filtered::of(bytes);
        let mut doubts = Vec::new();
        if !filtered.is_whole {
            doubts.push(super::office::CUT_OFF.to_owned());
        }
        let pieces = match model::read(&filtered.bytes, anydoc::Format::Rtf) {
            Ok(document) => {
                let mut renderer = Renderer::new(&document);
                let pieces = renderer.document(&document);
                if renderer.has_hidden {
                    doubts.push(HAS_HIDDEN.to_owned());
                }
                pieces
            }
            Err(error) => {
                doubts.push(PLAIN_ONLY.to_owned());
                let pieces = plain(&filtered.plain);
                if pieces.is_empty() {
                    return Err(error);
                }
                pieces
            }
        };
        let pages = pages::paged(&pieces, &doubts);
        let first = pages.first().map(|page| page.markdown.as_str());
        let names = Names::of(first.unwrap_or_default());
        Ok(Extraction {
            title: filtered.title.or(names.title),
            pages,
            ..Extraction::default()
        })
    }
}

fn plain(text: &str) -> Vec<Piece> {
    let text = charset::clean(text);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let piece = |line: &str| Piece {
        heading: None,
        markdown: format!("{line}\n"),
    };
    lines.map(piece).collect()
}

#[cfg(test)]
mod tests;
