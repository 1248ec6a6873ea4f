//! Where a page's Markdown stands on the page: which of PDFium's characters each stretch of it
//! came from, and the boxes around them.

mod align;

use std::ops::Range;

use pdfium_render::prelude::{PdfPage, PdfPageRenderRotation, PdfRect};
use serde::Serialize;
use shared::contract::{Locator, PagePlaces, ReadMethod};

use super::draw::Drawing;
use crate::extract::{ExtractedPage, SecondReader};

use self::align::{Letter, align};

/// Characters of a page that are looked at; by estimate, a page full of small
/// print has 20,000.
const MOST_CHARACTERS: usize = 200_000;
/// Characters that share this much of the lower one's height stand on one line.
const SAME_LINE: f32 = 0.5;
/// Characters further apart than this many heights get boxes of their own.
const APART: f32 = 2.0;

/// A PDF whose text gets boxes on its pages. It holds one page at a time.
pub struct Highlighter<'a> {
    drawing: Drawing<'a>,
}

/// A rectangle on a page as it is shown, turned and cropped as the file says: in points (1/72
/// inch) from the top left corner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PageBox {
    /// From the left edge.
    pub left: f32,
    /// From the top edge.
    pub top: f32,
    /// To the right.
    pub width: f32,
    /// Downwards.
    pub height: f32,
}

/// The boxes of a stretch of text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PageBoxes {
    /// The page's width as shown, in points.
    pub width: f32,
    /// The page's height as shown, in points.
    pub height: f32,
    /// In reading order, one per line.
    pub boxes: Vec<PageBox>,
}

impl<'a> Highlighter<'a> {
    /// Of the PDF `bytes`; `None` without PDFium, or when PDFium cannot open it.
    pub fn open(second: &SecondReader, bytes: &'a [u8], password: Option<&'a str>) -> Option<Self> {
        let drawing = Drawing::open(second, bytes, password)?;
        Some(Self { drawing })
    }

    /// The boxes around the bytes `range` of `markdown`, whose places are `places`. `None` when
    /// the page cannot be loaded; without boxes when nothing in the range has a place.
    pub fn boxes(
        &self,
        places: &PagePlaces,
        markdown: &str,
        range: &Range<usize>,
    ) -> Option<PageBoxes> {
        let page = self.drawing.page(places.physical)?;
        let frame = Frame::of(&page)?;
        let text = page.text().ok()?;
        let characters = text.chars();
        let mut lines: Vec<PdfRect> = Vec::new();
        for index in places.characters(markdown, range).into_iter().flatten() {
            let Ok(index) = usize::try_from(index) else {
                break;
            };
            let Ok(bounds) = characters.get(index).and_then(|c| c.loose_bounds()) else {
                continue;
            };
            if bounds.width().value <= 0.0 || bounds.height().value <= 0.0 {
                continue;
            }
            match lines.last_mut() {
                Some(line) if continues(line, &bounds) => *line = around(line, &bounds),
                _ => lines.push(bounds),
            }
        }
        Some(PageBoxes {
            width: frame.width,
            height: frame.height,
            boxes: lines.iter().map(|line| frame.shown(line)).collect(),
        })
    }

    /// The pages, to be drawn.
    pub fn drawing(&self) -> &Drawing<'a> {
        &self.drawing
    }
}

/// Where the Markdown of `page` stands among the `characters` of its document's pages
/// ([`super::super::Extraction::characters`]); `None` for pages whose text is not the PDF's own,
/// and where nothing is found.
pub fn places(page: &ExtractedPage, characters: &[Vec<u32>]) -> Option<PagePlaces> {
    let Locator::PdfPage { physical, .. } = page.record.locator else {
        return None;
    };
    let is_own = matches!(
        page.record.method,
        ReadMethod::TextLayer | ReadMethod::Fallback
    );
    if !is_own || page.markdown.trim().is_empty() {
        return None;
    }
    let index = usize::try_from(physical.checked_sub(1)?).ok()?;
    let runs = align(&page.markdown, &letters(characters.get(index)?));
    (!runs.is_empty()).then_some(PagePlaces {
        number: page.record.number,
        physical,
        runs,
    })
}

/// The characters of a page that may stand in its Markdown.
fn letters(units: &[u32]) -> Vec<Letter> {
    let mut letters: Vec<Letter> = Vec::new();
    let mut high: Option<(u32, u32)> = None;
    for (index, unit) in (0..).zip(units.iter().copied().take(MOST_CHARACTERS)) {
        // Characters beyond U+FFFF may come as two surrogates.
        let (first, code) = match high.take() {
            Some((first, high)) if (0xdc00..0xe000).contains(&unit) => {
                (first, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00))
            }
            _ => (index, unit),
        };
        if (0xd800..0xdc00).contains(&code) {
            high = Some((index, code));
        } else if let Some(c) = char::from_u32(code) {
            letters.push(Letter {
                c,
                place: (first, index + 1),
            });
        }
    }
    letters
}

fn around(a: &PdfRect, b: &PdfRect) -> PdfRect {
    PdfRect::new(
        a.bottom().min(b.bottom()),
        a.left().min(b.left()),
        a.top().max(b.top()),
        a.right().max(b.right()),
    )
}

/// Whether a character stands on `line`: level with it and near, in text that runs along or, on
/// turned text, up or down.
fn continues(line: &PdfRect, character: &PdfRect) -> bool {
    let along = |rect: &PdfRect| (rect.left().value, rect.right().value);
    let up = |rect: &PdfRect| (rect.bottom().value, rect.top().value);
    let level = |a: (f32, f32), b: (f32, f32)| {
        a.1.min(b.1) - a.0.max(b.0) >= SAME_LINE * (a.1 - a.0).min(b.1 - b.0)
    };
    let near =
        |a: (f32, f32), b: (f32, f32), size: f32| a.0.max(b.0) - a.1.min(b.1) <= APART * size;
    let height = character.height().value;
    let width = character.width().value;
    (level(up(line), up(character)) && near(along(line), along(character), height))
        || (level(along(line), along(character))
            && near(up(line), up(character), width / SAME_LINE))
            && line.height().value >= line.width().value
}

/// How the page's own coordinates, from its bottom left corner, become those of what is shown.
pub(super) struct Frame {
    pub(super) width: f32,
    pub(super) height: f32,
    page: PdfRect,
    turn: PdfPageRenderRotation,
}

impl Frame {
    /// `None` when the page has no size.
    pub(super) fn of(page: &PdfPage<'_>) -> Option<Self> {
        let boundaries = page.boundaries();
        let bounds = boundaries.bounding().ok()?.bounds;
        let frame = Self {
            width: page.width().value,
            height: page.height().value,
            page: bounds,
            turn: page.rotation().ok()?,
        };
        let is_size = |side: f32| side.is_finite() && side > 0.0;
        (is_size(frame.width) && is_size(frame.height)).then_some(frame)
    }

    pub(super) fn shown(&self, rect: &PdfRect) -> PageBox {
        let (left, right) = (
            rect.left().value - self.page.left().value,
            rect.right().value - self.page.left().value,
        );
        let (low, high) = (
            rect.bottom().value - self.page.bottom().value,
            rect.top().value - self.page.bottom().value,
        );
        let (across, up) = (self.page.width().value, self.page.height().value);
        let (x, y) = match self.turn {
            PdfPageRenderRotation::None => ((left, right), (up - high, up - low)),
            PdfPageRenderRotation::Degrees90 => ((low, high), (left, right)),
            PdfPageRenderRotation::Degrees180 => ((across - right, across - left), (low, high)),
            PdfPageRenderRotation::Degrees270 => {
                ((up - high, up - low), (across - right, across - left))
            }
        };
        PageBox {
            left: x.0,
            top: y.0,
            width: x.1 - x.0,
            height: y.1 - y.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use pdfium_render::prelude::PdfPoints;

    use super::*;

    fn rect(left: f32, bottom: f32, right: f32, top: f32) -> PdfRect {
        let [left, bottom, right, top] = [left, bottom, right, top].map(PdfPoints::new);
        PdfRect::new(bottom, left, top, right)
    }

    #[test]
    fn boxes_turn_with_the_page() {
        #[track_caller]
        fn check(turn: PdfPageRenderRotation, size: (f32, f32), expect: (f32, f32, f32, f32)) {
            let frame = Frame {
                width: size.0,
                height: size.1,
                page: rect(10.0, 20.0, 110.0, 220.0),
                turn,
            };
            let shown = frame.shown(&rect(15.0, 180.0, 45.0, 190.0));
            assert_eq!((shown.left, shown.top, shown.width, shown.height), expect);
        }
        // Near the top left of a page of 100 × 200 points.
        let (upright, lying) = ((100.0, 200.0), (200.0, 100.0));
        check(
            PdfPageRenderRotation::None,
            upright,
            (5.0, 30.0, 30.0, 10.0),
        );
        check(
            PdfPageRenderRotation::Degrees90,
            lying,
            (160.0, 5.0, 10.0, 30.0),
        );
        check(
            PdfPageRenderRotation::Degrees180,
            upright,
            (65.0, 160.0, 30.0, 10.0),
        );
        check(
            PdfPageRenderRotation::Degrees270,
            lying,
            (30.0, 65.0, 10.0, 30.0),
        );
    }

    #[test]
    fn characters_of_one_line_share_a_box() {
        #[track_caller]
        fn check(next: PdfRect, expect: bool) {
            assert_eq!(continues(&rect(10.0, 100.0, 60.0, 112.0), &next), expect);
        }
        check(rect(61.0, 100.0, 67.0, 112.0), true);
        check(rect(64.0, 104.0, 70.0, 112.0), true);
        check(rect(10.0, 86.0, 16.0, 98.0), false);
        check(rect(300.0, 100.0, 306.0, 112.0), false);
    }
}
