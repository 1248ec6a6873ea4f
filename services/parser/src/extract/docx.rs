//! Word documents: one page, because where a page ends only Word decides; a long one is cut at its
//! topmost headings. The body is brought into a form that `anydoc` reads whole ([`filter`]);
//! headers, footers and comments are added from their own parts.

mod filter;
mod parts;
mod styles;
mod symbols;

use anydoc::model::{Block, Document};

use super::markdown::Names;
use super::office::package::Package;
use super::office::render::{Piece, Renderer};
use super::office::{CUT_OFF, HAS_HIDDEN, PLAIN_ONLY, lines, marks, model, pages, within, xml};
use super::{ExtractError, Extraction, Extractor, Input, charset};

use self::filter::WordFilter;
use self::parts::Parts;
use self::styles::HiddenStyles;

/// The main part, where the package does not say another.
const MAIN: &str = "word/document.xml";

pub(super) struct DocxExtractor;

impl Extractor for DocxExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let mut package = Package::open(input)?;
        let main = package.main_part(MAIN);
        if !package.has(&main) {
            return Err(package.lack_of(&main));
        }
        let parts = Parts::read(&package);
        let mut body = Body::read(&mut package, &main, input)?;
        for line in &parts.lines {
            body.pieces.push(Piece {
                heading: None,
                markdown: format!("{}\n", charset::clean(line)),
            });
        }
        let mut pages = pages::paged(&body.pieces, &body.doubts);
        let first = pages.first().map(|page| page.markdown.as_str());
        let names = Names::of(first.unwrap_or_default());
        pages.extend(within::embedded(&package, &main, input));
        Ok(Extraction {
            title: parts.title.or(names.title),
            pages,
            ..Extraction::default()
        })
    }
}

/// The text of a document with its notes.
#[derive(Default)]
struct Body {
    pieces: Vec<Piece>,
    doubts: Vec<String>,
    is_cut: bool,
}

impl Body {
    fn read(package: &mut Package, main: &str, input: &Input<'_>) -> Result<Self, ExtractError> {
        let mut body = Self::default();
        let chunks = body.prepare(package, main);
        let document = package
            .repacked()
            .ok_or_else(|| ExtractError::Damaged {
                what: "its parts cannot be put together".to_owned(),
            })
            .and_then(|bytes| model::read(&bytes, anydoc::Format::Docx));
        match document {
            Ok(document) => body.render(&document, &chunks, package, input),
            Err(error) => {
                body.plain(package, main);
                if body.pieces.is_empty() {
                    return Err(error);
                }
            }
        }
        if body.pieces.is_empty() && body.is_cut {
            return Err(ExtractError::Damaged {
                what: "no text in it can be read".to_owned(),
            });
        }
        Ok(body)
    }

    /// Filters the parts with text; gives the parts that stand in for their content.
    fn prepare(&mut self, package: &mut Package, main: &str) -> Vec<String> {
        let relations = package.relations(main);
        let part_of = |kind: &str, usual: &str| {
            let named = relations.iter().find(|relation| relation.kind == kind);
            named.map_or_else(|| usual.to_owned(), |relation| relation.part.clone())
        };
        let hidden = package
            .xml(&part_of("styles", "word/styles.xml"))
            .map(|xml| HiddenStyles::read(&xml))
            .unwrap_or_default();
        self.is_cut = package.is_damaged;
        let mut chunks = Vec::new();
        for part in [
            main.to_owned(),
            part_of("footnotes", "word/footnotes.xml"),
            part_of("endnotes", "word/endnotes.xml"),
        ] {
            let mut filter = WordFilter::new(&hidden);
            let Some((text, whole)) = package
                .xml(&part)
                .map(|xml| xml::rewrite(&xml, &mut filter))
            else {
                continue;
            };
            self.is_cut |= !whole;
            if part == main {
                chunks = filter.chunks;
            }
            package.set(&part, text.into_bytes());
        }
        if self.is_cut {
            self.doubts.push(CUT_OFF.to_owned());
        }
        let part_of_chunk = |id: String| {
            let named = relations.iter().find(|relation| relation.id == id);
            named.map_or_else(String::new, |relation| relation.part.clone())
        };
        chunks.into_iter().map(part_of_chunk).collect()
    }

    fn render(
        &mut self,
        document: &Document,
        chunks: &[String],
        package: &Package,
        input: &Input<'_>,
    ) {
        let mut renderer = Renderer::new(document);
        let mut left: Vec<Option<&String>> = chunks.iter().map(Some).collect();
        for block in &document.blocks {
            let chunk = place(block).and_then(|number| left.get_mut(number)?.take());
            if let Some(part) = chunk {
                self.chunk(part, package, input);
            } else {
                self.pieces.extend(renderer.pieces(block));
            }
        }
        for part in left.into_iter().flatten() {
            self.chunk(part, package, input);
        }
        self.pieces.extend(renderer.other_notes());
        if renderer.has_hidden {
            self.doubts.push(HAS_HIDDEN.to_owned());
        }
    }

    /// A part of another format that stands in for a piece of the text.
    fn chunk(&mut self, part: &str, package: &Package, input: &Input<'_>) {
        let read = package
            .bytes(part)
            .ok_or(())
            .and_then(|bytes| input.read_within(part, bytes).map_err(|_why| ()));
        let Ok(extraction) = read else {
            self.doubts
                .push("a part of it in another format could not be read".to_owned());
            return;
        };
        for page in extraction.pages {
            self.doubts.extend(page.record.doubts);
            self.pieces.push(Piece {
                heading: None,
                markdown: page.markdown,
            });
        }
    }

    /// The paragraphs of the text, where nothing better can be had.
    fn plain(&mut self, package: &Package, main: &str) {
        for part in [main, "word/footnotes.xml", "word/endnotes.xml"] {
            let xml = package.xml(part).unwrap_or_default();
            self.pieces
                .extend(lines::office(&xml).into_iter().map(|line| Piece {
                    heading: None,
                    markdown: format!("{}\n", charset::clean(&marks::shown(&line.text))),
                }));
        }
        self.doubts.push(PLAIN_ONLY.to_owned());
    }
}

/// The number of the part that `block` stands for.
fn place(block: &Block) -> Option<usize> {
    match block {
        Block::Paragraph(content) => {
            marks::place_of(&anydoc::model::inlines_to_plain_text(content))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
