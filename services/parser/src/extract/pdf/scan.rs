//! Pages whose picture tells more than their text: drawn by PDFium and sent to OCR.

use std::cell::OnceCell;

use shared::contract::ReadMethod;

use super::Merged;
use super::draw::Drawing;
use super::first::OcrReason;
use super::squeeze::{Squeezed, squeeze};
use crate::extract::ocr::{Reading, percent};
use crate::extract::{Input, OcrError, Picture, Recognized, SecondReader};

/// A page with fewer letters may be a picture with a caption.
const SCARCE: usize = 300;
/// A picture that covers this share of a page may hold its text.
const LARGE: f32 = 0.3;
/// A hidden layer that has this share of the words that OCR reads is the page's text.
const AGREES: f32 = 0.7;
/// OCR is believed against a text layer from here on.
const BELIEVED: f32 = 0.6;
/// Hidden layers come from one program: when so many pages in a row agree, the others do.
const ENOUGH: u32 = 3;
/// A page is noise when more than this share of its letters is not decoded.
const GARBLED: f32 = 0.5;
/// Words that are compared: shorter ones stand on every page.
const WORD: usize = 4;

/// The pages of one document that OCR reads.
pub(super) struct Scans<'a> {
    second: &'a SecondReader,
    input: &'a Input<'a>,
    /// Opened with the first page that is drawn; `None` inside when it cannot be.
    drawing: OnceCell<Option<Drawing<'a>>>,
    /// Why no further page is read.
    over: Option<OcrError>,
    /// Hidden layers in a row that OCR agrees with.
    agreed: u32,
}

impl<'a> Scans<'a> {
    /// Of the document `input`, drawn by `second`.
    pub(super) fn new(second: &'a SecondReader, input: &'a Input<'a>) -> Self {
        Self {
            second,
            input,
            drawing: OnceCell::new(),
            over: input.ocr().ready().err(),
            agreed: 0,
        }
    }

    /// Page `index` from 0 with what its picture says, where that is wanted.
    pub(super) fn read(&mut self, index: usize, page: Merged) -> Merged {
        let Some(physical) = u32::try_from(index)
            .ok()
            .and_then(|index| index.checked_add(1))
        else {
            return page;
        };
        match page.wants_ocr {
            _ if page.method == ReadMethod::Missing && page.wants_ocr.is_none() => page,
            None => self.caption(physical, page),
            Some(OcrReason::Invisible) if self.agreed >= ENOUGH => {
                settled(page, "OCR agrees on the pages that were compared")
            }
            // The other reader has found it.
            Some(OcrReason::NoText) if letters(&page.markdown) >= SCARCE => page,
            Some(reason) => self.whole(physical, page, reason),
        }
    }

    /// A page that is read from its picture altogether, or checked against it.
    fn whole(&mut self, physical: u32, page: Merged, reason: OcrReason) -> Merged {
        match self.picture(physical) {
            Ok(picture) if page.markdown.is_empty() && picture.is_blank() => {
                replaced(page, Reading::blank())
            }
            Ok(picture) => match self.recognize(&picture) {
                Ok(recognized) => self.settle(page, reason, recognized),
                Err(error) => unread(page, &error),
            },
            Err(error) => unread(page, &error),
        }
    }

    fn settle(&mut self, page: Merged, reason: OcrReason, recognized: Recognized) -> Merged {
        if page.markdown.is_empty() {
            return replaced(page, Reading::of(Ok(recognized)));
        }
        let sure = recognized.confidence.unwrap_or(0.0);
        let share = agreement(&page.markdown, &recognized.text);
        if reason == OcrReason::Garbled {
            return if sure >= BELIEVED {
                replaced(page, Reading::of(Ok(recognized)))
            } else {
                without_noise(page, &format!("OCR is only {} % sure of it", percent(sure)))
            };
        }
        let is_scarce = letters(&page.markdown) < SCARCE;
        let is_layer = reason == OcrReason::Invisible || !is_scarce;
        match share {
            Some(share) if share >= AGREES => {
                self.agreed += u32::from(reason == OcrReason::Invisible);
                settled(page, &format!("OCR agrees with {} % of it", percent(share)))
            }
            Some(share) if is_layer && sure >= BELIEVED => {
                self.agreed = 0;
                let agrees = percent(share);
                let mut page = replaced(page, Reading::of(Ok(recognized)));
                page.doubts.push(format!(
                    "the hidden text layer has only {agrees} % of what the page shows; it was \
                     replaced by OCR"
                ));
                page
            }
            _ if is_layer => page,
            _ => with_caption(page, &recognized),
        }
    }

    /// A page of little text: a picture on it may hold more.
    fn caption(&mut self, physical: u32, page: Merged) -> Merged {
        if page.markdown.is_empty() || letters(&page.markdown) >= SCARCE {
            return page;
        }
        let Some(drawing) = self.drawing() else {
            return page;
        };
        let Some(region) = drawing
            .pictures(physical)
            .filter(|region| region.share() >= LARGE)
        else {
            return page;
        };
        let share = percent(region.share());
        let picture = self.picture(physical).map(|picture| region.of(&picture));
        let recognized = match picture {
            Ok(Some(picture)) if !picture.is_blank() => self.recognize(&picture),
            Ok(_) => return page,
            Err(error) => Err(error),
        };
        match recognized {
            Ok(recognized) => with_caption(page, &recognized),
            Err(error) => page.doubt(format!(
                "a picture covers {share} % of the page; text within it is not read: {error}"
            )),
        }
    }

    fn drawing(&self) -> Option<&Drawing<'a>> {
        let (second, input) = (self.second, self.input);
        self.drawing
            .get_or_init(|| Drawing::open(second, input.bytes, input.password))
            .as_ref()
    }

    fn picture(&mut self, physical: u32) -> Result<Picture, OcrError> {
        if let Some(over) = &self.over {
            return Err(over.clone());
        }
        let dpi = self.input.ocr().dpi();
        let second = self.second;
        let picture = self.drawing().map(|drawing| drawing.draw(physical, dpi));
        let why = match (picture, second) {
            (Some(Some(picture)), _) => return Ok(picture),
            (None, SecondReader::Absent(why)) => format!("drawing it needs PDFium: {why}"),
            _ => "PDFium cannot draw it".to_owned(),
        };
        Err(OcrError::Failed(why))
    }

    fn recognize(&mut self, picture: &Picture) -> Result<Recognized, OcrError> {
        let result = self.input.ocr().read(picture);
        if let Err(error) = &result
            && error.is_final()
        {
            self.over = Some(error.clone());
        }
        result
    }
}

/// The page with another reading's text.
fn replaced(page: Merged, reading: Reading) -> Merged {
    let needed = reading.error.is_some().then_some(page.error).flatten();
    Merged {
        markdown: reading.text,
        method: reading.method,
        doubts: reading.doubts,
        error: match (needed, reading.error) {
            (Some(needed), Some(error)) => Some(format!("{needed}; {error}")),
            (_, error) => error,
        },
        wants_ocr: None,
    }
}

/// A page that OCR could not read.
fn unread(mut page: Merged, error: &OcrError) -> Merged {
    if page.markdown.is_empty() {
        let needed = page.error.as_deref().unwrap_or("needs OCR");
        page.error = Some(format!("{needed}; {error}"));
        page.method = ReadMethod::Missing;
        return page;
    }
    match page.wants_ocr {
        Some(OcrReason::Garbled) => without_noise(page, &error.to_string()),
        Some(OcrReason::NoText) | None => page,
        Some(_) => page.doubt(format!("the page's picture is not read: {error}")),
    }
}

/// A garbled page: what is not even words is missing rather than found by chance.
fn without_noise(page: Merged, why: &str) -> Merged {
    if undecoded(&page.markdown) <= GARBLED {
        return page;
    }
    Merged {
        wants_ocr: page.wants_ocr,
        ..Merged::missing(&format!("{}; {why}", OcrReason::Garbled.error()))
    }
}

/// A page whose text layer stands, by what OCR says.
fn settled(mut page: Merged, why: &str) -> Merged {
    let about = |reason: OcrReason| reason.doubt();
    let doubts = [
        about(OcrReason::Invisible),
        about(OcrReason::Scanned),
        about(OcrReason::NoText),
    ];
    page.doubts
        .retain(|doubt| !doubts.contains(&doubt.as_str()));
    page.wants_ocr = None;
    page.doubt(format!("the text is a layer under a scan; {why}"))
}

/// The page with those lines of its picture that it has not.
fn with_caption(mut page: Merged, recognized: &Recognized) -> Merged {
    let sure = recognized.confidence.unwrap_or(0.0);
    if sure < BELIEVED {
        return page;
    }
    let known = Squeezed::of(&page.markdown);
    let is_new = |line: &&str| {
        let words: Vec<String> = line.split_whitespace().map(squeeze).collect();
        let all: usize = words.iter().map(|word| word.chars().count()).sum();
        let covered: usize = words.iter().map(|word| known.covered(word)).sum();
        line.is_empty() || covered * 2 < all
    };
    let lines: Vec<&str> = recognized.text.lines().filter(is_new).collect();
    let text = lines.join("\n");
    let text = text.trim();
    if letters(text) < WORD {
        return page;
    }
    page.markdown.push_str("\n\n");
    page.markdown.push_str(text);
    let scanned = OcrReason::Scanned.doubt();
    page.doubts.retain(|doubt| doubt != scanned);
    page.wants_ocr = None;
    page.doubt(format!(
        "text of a picture on the page was read by OCR, {} % sure",
        percent(sure)
    ))
}

/// The share of the words that OCR reads which the text layer has; `None` when it reads none.
fn agreement(layer: &str, recognized: &str) -> Option<f32> {
    let layer = Squeezed::of(layer);
    let words = recognized.split_whitespace().map(squeeze);
    let (mut all, mut found) = (0_usize, 0_usize);
    for word in words.filter(|word| word.chars().count() >= WORD) {
        let length = word.chars().count();
        all += 1;
        found += usize::from(layer.covered(&word) == length);
    }
    (all > 0).then(|| found as f32 / all as f32)
}

fn letters(text: &str) -> usize {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .take(SCARCE)
        .count()
}

/// The share of `text` that a font gave no letters for.
fn undecoded(text: &str) -> f32 {
    let (mut bad, mut all) = (0_usize, 0_usize);
    for word in text.split_whitespace() {
        let count = word.chars().count();
        all += count;
        let is_code = word.contains("(cid:") || is_glyph_codes(word);
        let is_bad = |c: &char| matches!(c, '\u{fffd}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..);
        bad += if is_code {
            count
        } else {
            word.chars().filter(is_bad).count()
        };
    }
    if all == 0 {
        0.0
    } else {
        bad as f32 / all as f32
    }
}

/// Names of glyphs in place of letters: `/G21/G35`.
fn is_glyph_codes(word: &str) -> bool {
    let mut names = word.split('/').filter(|name| !name.is_empty()).peekable();
    let is_code = |name: &str| {
        name.strip_prefix(['G', 'g', 'c', 'C'])
            .is_some_and(|code| !code.is_empty() && code.chars().all(|c| c.is_ascii_hexdigit()))
    };
    word.starts_with('/') && names.peek().is_some() && names.all(is_code)
}
