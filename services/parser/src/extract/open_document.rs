//! OpenDocument texts and presentations, packed or as one XML file. The content is brought into a
//! form that `anydoc` reads whole ([`filter`]); comments, headers and footers are added from where
//! they stand.

mod filter;
mod parts;
mod styles;

use anydoc::model::Document;

use super::markdown::Names;
use super::office::package::Package;
use super::office::render::{Piece, Renderer};
use super::office::slides::{self, Slide};
use super::office::{CUT_OFF, HAS_HIDDEN, PLAIN_ONLY, lines, model, pages, xml};
use super::{ExtractError, ExtractedPage, Extraction, Extractor, Input, charset};

use self::filter::{Content, ContentFilter};
use self::parts::Parts;
use self::styles::HiddenStyles;

const CONTENT: &str = "content.xml";
const STYLES: &str = "styles.xml";

/// Reads texts (`.odt`, `.ott`, `.fodt`).
pub(super) struct OdtExtractor;
/// Reads presentations (`.odp`, `.otp`, `.fodp`).
pub(super) struct OdpExtractor;

impl Extractor for OdtExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        Reading::prepare(input, Content::Text)?.text()
    }
}

impl Extractor for OdpExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        Reading::prepare(input, Content::Slides)?.slides()
    }
}

/// A document whose content is filtered.
struct Reading {
    package: Package,
    parts: Parts,
    /// For each slide whether it is hidden.
    slides: Vec<bool>,
    is_cut: bool,
}

impl Reading {
    fn prepare(input: &Input<'_>, content: Content) -> Result<Self, ExtractError> {
        let mut package = open(input)?;
        refuse_locked(&package, input)?;
        let mut parts = Parts::default();
        let mut hidden = HiddenStyles::default();
        for part in ["meta.xml", STYLES, CONTENT] {
            if let Some(xml) = package.xml(part) {
                xml::visit(&xml, &mut parts);
                xml::visit(&xml, &mut hidden);
            }
        }
        let mut filter = ContentFilter::new(content, &hidden);
        let (text, whole) = package
            .xml(CONTENT)
            .map(|xml| xml::rewrite(&xml, &mut filter))
            .ok_or_else(|| package.lack_of(CONTENT))?;
        let slides = filter.slides;
        package.set(CONTENT, text.into_bytes());
        Ok(Self {
            is_cut: package.is_damaged || !whole,
            package,
            parts,
            slides,
        })
    }

    fn model(&self, format: anydoc::Format) -> Result<Document, ExtractError> {
        let packed = self
            .package
            .repacked()
            .ok_or_else(|| ExtractError::Damaged {
                what: "its parts cannot be put together".to_owned(),
            })?;
        model::read(&packed, format)
    }

    fn plain_lines(&self) -> Vec<String> {
        let xml = self.package.xml(CONTENT).unwrap_or_default();
        let lines = lines::open_document(&xml).into_iter();
        lines.map(|line| line.text).collect()
    }

    fn doubts(&self, has_hidden: bool, is_plain: bool) -> Vec<String> {
        [
            (self.is_cut, CUT_OFF),
            (is_plain, PLAIN_ONLY),
            (has_hidden, HAS_HIDDEN),
        ]
        .into_iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, doubt)| doubt.to_owned())
        .collect()
    }

    fn text(self) -> Result<Extraction, ExtractError> {
        let as_piece = |line: &str| {
            let line = super::office::marks::shown(line);
            Piece {
                heading: None,
                markdown: format!("{}\n", charset::clean(&line)),
            }
        };
        let (mut pieces, doubts) = match self.model(anydoc::Format::Odt) {
            Ok(document) => {
                let mut renderer = Renderer::new(&document);
                let pieces = renderer.document(&document);
                let doubts = self.doubts(renderer.has_hidden, false);
                (pieces, doubts)
            }
            Err(error) => {
                let lines = self.plain_lines();
                if lines.is_empty() {
                    return Err(error);
                }
                let pieces = lines.iter().map(|line| as_piece(line)).collect();
                (pieces, self.doubts(false, true))
            }
        };
        if pieces.is_empty() && self.is_cut {
            return Err(ExtractError::Damaged {
                what: "no text in it can be read".to_owned(),
            });
        }
        pieces.extend(self.parts.lines().iter().map(|line| as_piece(line)));
        let pages = pages::paged(&pieces, &doubts);
        let first = pages.first().map(|page| page.markdown.as_str());
        let names = Names::of(first.unwrap_or_default());
        Ok(Extraction {
            title: self.parts.title.or(names.title),
            pages,
            ..Extraction::default()
        })
    }

    fn slides(self) -> Result<Extraction, ExtractError> {
        if self.slides.is_empty() {
            return Err(ExtractError::Damaged {
                what: "no slide is in it".to_owned(),
            });
        }
        let last = self.slides.len();
        let slide = |(number, is_hidden): (usize, &bool)| Slide {
            is_hidden: *is_hidden,
            lines: self.parts.lines_of(number),
            doubts: self.doubts(false, false),
        };
        let mut slides: Vec<Slide> = (1..=last).zip(&self.slides).map(slide).collect();
        if let Some(first) = slides.first_mut() {
            first.lines.extend(self.parts.lines());
        }
        let pages = match self.model(anydoc::Format::Odp) {
            Ok(document) => slides::pages(&document, &slides),
            Err(error) => self.plain_slides(&slides).ok_or(error)?,
        };
        Ok(Extraction {
            title: self.parts.title,
            pages,
            ..Extraction::default()
        })
    }

    /// All text on the first slide, where nothing tells which stands on which.
    fn plain_slides(&self, slides: &[Slide]) -> Option<Vec<ExtractedPage>> {
        let mut current = 0;
        let mut of_slides: Vec<Vec<String>> = slides.iter().map(|_| Vec::new()).collect();
        let lines = self.plain_lines();
        if lines.is_empty() {
            return None;
        }
        for line in lines {
            if let Some(number) = super::office::marks::place_of(&line) {
                current = number;
            } else if let Some(of_slide) = of_slides.get_mut(current) {
                of_slide.push(line);
            }
        }
        let page = |((slide, lines), number): ((&Slide, &Vec<String>), u32)| {
            let mut page = slides::plain_page(slide, lines, number);
            page.record.doubts.push(PLAIN_ONLY.to_owned());
            page
        };
        Some(slides.iter().zip(&of_slides).zip(1..).map(page).collect())
    }
}

/// The parts of a document, which may be one XML file that is all of them.
fn open(input: &Input<'_>) -> Result<Package, ExtractError> {
    let text = input.bytes.trim_ascii_start();
    let is_flat = text.starts_with(b"<")
        || [b"\xef\xbb\xbf<".as_slice(), b"\xff\xfe<", b"\xfe\xff\0<"]
            .iter()
            .any(|start| text.starts_with(start));
    if is_flat {
        return Ok(Package::of([(CONTENT.to_owned(), text.to_vec())]));
    }
    Package::open(input)
}

fn refuse_locked(package: &Package, input: &Input<'_>) -> Result<(), ExtractError> {
    let manifest = package.xml("META-INF/manifest.xml").unwrap_or_default();
    let mut locked = Locked(false);
    xml::visit(&manifest, &mut locked);
    if !locked.0 {
        return Ok(());
    }
    if input.password.is_none() {
        return Err(ExtractError::PasswordNeeded);
    }
    Err(ExtractError::Unsupported {
        what: "an OpenDocument file locked by a password".to_owned(),
    })
}

struct Locked(bool);

impl xml::Visit for Locked {
    fn open(&mut self, tag: &xml::Tag<'_>) {
        self.0 |= tag.local() == "encryption-data";
    }

    fn text(&mut self, _text: &str) {}

    fn close(&mut self, _name: &str) {}
}

#[cfg(test)]
mod tests;
