//! Word documents and presentations of before 2007, read by `anydoc`.

use super::markdown::Names;
use super::office::render::Renderer;
use super::office::{model, pages};
use super::{ExtractError, Extraction, Extractor, Input};

/// Reads documents (`.doc`, `.dot`).
pub(super) struct DocExtractor;
/// Reads presentations (`.ppt`, `.pps`).
pub(super) struct PptExtractor;

/// The reader tells slides apart no more than their titles do; a number is not made up.
const NO_NUMBERS: &str = "where each slide begins is not known in files of this age";

impl Extractor for DocExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        extract(input, anydoc::Format::Doc, &[])
    }
}

impl Extractor for PptExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        extract(input, anydoc::Format::Ppt, &[NO_NUMBERS.to_owned()])
    }
}

fn extract(
    input: &Input<'_>,
    format: anydoc::Format,
    doubts: &[String],
) -> Result<Extraction, ExtractError> {
    let document = model::read(input.bytes, format)?;
    let pieces = Renderer::new(&document).document(&document);
    if pieces.is_empty() {
        return Err(ExtractError::Damaged {
            what: "no text in it can be read".to_owned(),
        });
    }
    let pages = pages::paged(&pieces, doubts);
    let first = pages.first().map(|page| page.markdown.as_str());
    Ok(Extraction {
        title: Names::of(first.unwrap_or_default()).title,
        pages,
        ..Extraction::default()
    })
}
