//! Word documents of before 2007, read by `anydoc`.

use super::markdown::Names;
use super::office::render::Renderer;
use super::office::{model, pages};
use super::{ExtractError, Extraction, Extractor, Input};

pub(super) struct DocExtractor;

impl Extractor for DocExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let document = model::read(input.bytes, anydoc::Format::Doc)?;
        let pieces = Renderer::new(&document).document(&document);
        let pages = pages::paged(&pieces, &[]);
        let first = pages.first().map(|page| page.markdown.as_str());
        Ok(Extraction {
            title: Names::of(first.unwrap_or_default()).title,
            pages,
            notes: Vec::new(),
        })
    }
}
