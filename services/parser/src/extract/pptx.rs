//! PowerPoint presentations: each slide is a page, in the order in which they are shown, with its
//! notes, comments, charts and diagrams.

mod comments;
mod filter;
mod order;

use std::collections::BTreeSet;

use shared::contract::ReadMethod;

use super::office::package::Package;
use super::office::slides::{self, Slide};
use super::office::{CUT_OFF, PLAIN_ONLY, lines, model, within, xml};
use super::{ExtractError, ExtractedPage, Extraction, Extractor, Input};

use self::comments::Authors;
use self::filter::SlideFilter;

pub(super) struct PptxExtractor;

impl Extractor for PptxExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let mut package = Package::open(input)?;
        let parts = order::slides(&mut package);
        if parts.is_empty() {
            return Err(ExtractError::Damaged {
                what: "no slide is in it".to_owned(),
            });
        }
        let slides = prepare(&mut package, &parts);
        let mut pages = read(&package, &parts, &slides)?;
        if pages
            .iter()
            .all(|page| page.record.method == ReadMethod::Missing)
        {
            return Err(ExtractError::Damaged {
                what: "no slide in it can be read".to_owned(),
            });
        }
        for part in &parts {
            pages.extend(within::embedded(&package, part, input));
        }
        Ok(Extraction {
            title: title(&package),
            pages,
            ..Extraction::default()
        })
    }
}

/// Filters all slides; gives what is known of each.
fn prepare(package: &mut Package, parts: &[String]) -> Vec<Slide> {
    let authors = Authors::read(package);
    let mut footers = BTreeSet::new();
    let mut slides = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let mut slide = Slide::default();
        let mut filter = SlideFilter::new(number);
        let rewritten = package.xml(part).map(|xml| xml::rewrite(&xml, &mut filter));
        if let Some((text, whole)) = rewritten {
            if !whole {
                slide.doubts.push(CUT_OFF.to_owned());
            }
            package.set(part, text.into_bytes());
        }
        slide.is_hidden = filter.is_hidden_slide;
        // A footer stands on every slide; it is text of the first.
        let footers_of_slide = filter.footers.into_iter();
        let new = footers_of_slide.filter(|footer| footers.insert(footer.clone()));
        slide
            .lines
            .extend(new.map(|footer| format!("Slide footer: {footer}")));
        slide.lines.extend(authors.comments_on(package, part));
        slides.push(slide);
    }
    slides
}

fn read(
    package: &Package,
    parts: &[String],
    slides: &[Slide],
) -> Result<Vec<ExtractedPage>, ExtractError> {
    let packed = package.repacked().ok_or_else(|| ExtractError::Damaged {
        what: "its parts cannot be put together".to_owned(),
    })?;
    let error = match model::read(&packed, anydoc::Format::Pptx) {
        Ok(document) => return Ok(slides::pages(&document, slides)),
        Err(error) => error,
    };
    let mut found = false;
    let plain = |((slide, part), number): ((&Slide, &String), u32)| {
        let xml = package.xml(part).unwrap_or_default();
        let lines = lines::office(&xml).into_iter().map(|line| line.text);
        let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
        found |= !lines.is_empty();
        let mut page = slides::plain_page(slide, &lines, number);
        page.record.doubts.push(PLAIN_ONLY.to_owned());
        page
    };
    let pages = slides.iter().zip(parts).zip(1..).map(plain).collect();
    if found { Ok(pages) } else { Err(error) }
}

/// The document's own title, if a person gave it one.
fn title(package: &Package) -> Option<String> {
    let xml = package.xml("docProps/core.xml")?;
    let title = lines::office(&xml).into_iter().next()?.text;
    (!title.eq_ignore_ascii_case("PowerPoint Presentation")).then_some(title)
}

#[cfg(test)]
mod tests;
