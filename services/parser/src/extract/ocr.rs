//! Optical character recognition as the extractors see it. Who recognises stands outside of the
//! child: a program of its own, started by the parent.

use std::fmt;

use serde::{Deserialize, Serialize};
use shared::contract::ReadMethod;

/// Below this share of certainty a page's text says how sure the reader is.
const SURE: f32 = 0.8;
/// Below this it is noise.
const NOISE: f32 = 0.2;

/// Reads the text of pictures.
pub trait Ocr {
    /// The text that `picture` shows.
    ///
    /// # Errors
    /// When there is nothing that recognises, or it failed on this picture.
    fn read(&self, picture: &Picture) -> Result<Recognized, OcrError>;

    /// Pixels per inch at which pages are best drawn.
    fn dpi(&self) -> u32 {
        300
    }

    /// Whether pictures are read at all: asked before a page is drawn for nothing.
    ///
    /// # Errors
    /// Why no picture will be read.
    fn ready(&self) -> Result<(), OcrError> {
        Ok(())
    }
}

/// A picture in shades of grey.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// In pixels, at least 1.
    pub width: u32,
    /// In pixels, at least 1.
    pub height: u32,
    /// Pixels per inch; 0 when not known.
    pub dpi: u32,
    /// `width` × `height` bytes, row by row from the top, 0 black to 255 white.
    pub pixels: Vec<u8>,
}

/// The pixels may be a document's text.
impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Picture({} × {} at {} dpi)",
            self.width, self.height, self.dpi
        )
    }
}

impl Picture {
    /// Pixels of the largest picture that is read: A2 at 300 dpi has 35 million.
    pub const MAX_PIXELS: usize = 64 << 20;
    /// Pixels of the longest side; OCR programs count them in 16 bits.
    pub const MAX_SIDE: u32 = 32_000;

    /// How many pixels a picture of this size has; `None` when it is empty or too large.
    pub fn pixels_of(width: u32, height: u32) -> Option<usize> {
        if width > Self::MAX_SIDE || height > Self::MAX_SIDE {
            return None;
        }
        let count = usize::try_from(width)
            .ok()?
            .checked_mul(usize::try_from(height).ok()?)?;
        (1..=Self::MAX_PIXELS).contains(&count).then_some(count)
    }

    /// Whether nothing is drawn on it: all of it has nearly one shade.
    pub fn is_blank(&self) -> bool {
        /// Shades apart, for a difference that the eye sees.
        const APART: u8 = 48;
        /// Dust: one pixel in this many.
        const DUST: usize = 50_000;
        let mut shades = [0_usize; 256];
        for &pixel in &self.pixels {
            if let Some(count) = shades.get_mut(usize::from(pixel)) {
                *count += 1;
            }
        }
        let paper = shades
            .iter()
            .enumerate()
            .max_by_key(|(_, count)| **count)
            .map_or(255, |(shade, _)| shade);
        let ink: usize = shades
            .iter()
            .enumerate()
            .filter(|(shade, _)| shade.abs_diff(paper) > usize::from(APART))
            .map(|(_, count)| count)
            .sum();
        ink <= self.pixels.len() / DUST
    }
}

/// What a picture says.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Recognized {
    /// Lines as on the picture, paragraphs parted by an empty line.
    pub text: String,
    /// How sure the reader is, 0 to 1, on average over its words; `None` when it does not say.
    pub confidence: Option<f32>,
}

/// Why a picture was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OcrError {
    /// Nothing here recognises text; the text says what to do about it.
    #[error("{0}")]
    Absent(String),
    /// It was tried and failed.
    #[error("{0}")]
    Failed(String),
    /// The document has had its time.
    #[error("the time for it ran out")]
    OutOfTime,
}

impl OcrError {
    /// Whether the next picture of the document would fare no better.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Absent(_) | Self::OutOfTime)
    }
}

/// What a picture gives a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) text: String,
    pub(super) method: ReadMethod,
    pub(super) doubts: Vec<String>,
    pub(super) error: Option<String>,
}

impl Reading {
    /// Of a picture that was read, or not.
    pub(super) fn of(result: Result<Recognized, OcrError>) -> Self {
        match result {
            Err(error) => Self::missing(format!("needs OCR: {error}")),
            Ok(recognized) if recognized.text.is_empty() => {
                Self::read(String::new(), vec!["OCR finds no text here".to_owned()])
            }
            Ok(Recognized { text, confidence }) => match confidence {
                Some(sure) if sure < NOISE => {
                    let percent = percent(sure);
                    Self::missing(format!("OCR cannot make it out ({percent} % sure)"))
                }
                Some(sure) if sure < SURE => {
                    let percent = percent(sure);
                    Self::read(text, vec![format!("read by OCR, {percent} % sure")])
                }
                _ => Self::read(text, Vec::new()),
            },
        }
    }

    /// Of paper with nothing on it.
    pub(super) fn blank() -> Self {
        Self::read(String::new(), vec!["the page is blank".to_owned()])
    }

    fn read(text: String, doubts: Vec<String>) -> Self {
        Self {
            text,
            method: ReadMethod::Ocr,
            doubts,
            error: None,
        }
    }

    fn missing(error: String) -> Self {
        Self {
            text: String::new(),
            method: ReadMethod::Missing,
            doubts: Vec::new(),
            error: Some(error),
        }
    }
}

/// A share in whole percent.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of 0 to 1"
)]
pub(super) fn percent(share: f32) -> u32 {
    (share.clamp(0.0, 1.0) * 100.0).round() as u32
}

/// Recognises nothing.
pub struct NoOcr;

impl Ocr for NoOcr {
    fn read(&self, _picture: &Picture) -> Result<Recognized, OcrError> {
        Err(OcrError::Absent("install tesseract to read it".to_owned()))
    }

    fn ready(&self) -> Result<(), OcrError> {
        Err(OcrError::Absent("install tesseract to read it".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_their_bounds() {
        #[track_caller]
        fn check(width: u32, height: u32, expect: Option<usize>) {
            assert_eq!(Picture::pixels_of(width, height), expect);
        }
        check(2480, 3508, Some(8_699_840));
        check(0, 10, None);
        check(10, 0, None);
        check(32_000, 2_000, Some(64_000_000));
        check(32_001, 1, None);
        check(20_000, 20_000, None);
        check(u32::MAX, u32::MAX, None);
    }

    #[test]
    fn a_page_says_how_sure_its_reader_was() {
        #[track_caller]
        fn check(result: Result<(&str, f32), OcrError>, method: ReadMethod, says: &str) {
            let reading = Reading::of(result.map(|(text, confidence)| Recognized {
                text: text.to_owned(),
                confidence: Some(confidence),
            }));
            assert_eq!(reading.method, method);
            let words = [reading.error.into_iter().collect(), reading.doubts].concat();
            assert_eq!(words.join(" "), says);
        }
        check(Ok(("text", 0.93)), ReadMethod::Ocr, "");
        check(
            Ok(("text", 0.714)),
            ReadMethod::Ocr,
            "read by OCR, 71 % sure",
        );
        let noise = "OCR cannot make it out (12 % sure)";
        check(Ok(("t3>t", 0.12)), ReadMethod::Missing, noise);
        check(Ok(("", 0.0)), ReadMethod::Ocr, "OCR finds no text here");
        let late = "needs OCR: the time for it ran out";
        check(Err(OcrError::OutOfTime), ReadMethod::Missing, late);
    }

    #[test]
    fn paper_without_ink_is_blank() {
        #[track_caller]
        fn check(ink: usize, paper: u8, expect: bool) {
            let mut pixels = vec![paper; 1000 * 1000];
            pixels[..ink].fill(paper.wrapping_add(128));
            let picture = Picture {
                width: 1000,
                height: 1000,
                dpi: 300,
                pixels,
            };
            assert_eq!(picture.is_blank(), expect, "{ink} on {paper}");
        }
        check(0, 255, true);
        check(12, 250, true);
        check(400, 255, false);
        check(400, 10, false);
    }
}
