//! OCR in the parent: the program that reads pictures, found once and started per picture, within
//! limits of its own. The children, which may start no program, send their pictures here.

mod install;
mod process;
mod tesseract;
mod words;

use std::time::Duration;

use crate::extract::{Ocr, OcrError, Picture, Recognized};

pub use install::{Installed, Wanted, find};
pub use tesseract::Tesseract;

/// Who reads pictures.
#[derive(Debug, Clone)]
pub enum OcrReader {
    /// The installed program.
    Tesseract(Tesseract),
    /// Nobody; the text names the remedy.
    Absent(String),
}

impl Ocr for OcrReader {
    fn read(&self, picture: &Picture) -> Result<Recognized, OcrError> {
        match self {
            Self::Tesseract(tesseract) => tesseract.read(picture),
            Self::Absent(remedy) => Err(OcrError::Absent(remedy.clone())),
        }
    }

    fn ready(&self) -> Result<(), OcrError> {
        match self {
            Self::Tesseract(_) => Ok(()),
            Self::Absent(remedy) => Err(OcrError::Absent(remedy.clone())),
        }
    }
}

/// How the pictures of documents are read.
#[derive(Debug, Clone)]
pub struct OcrPlan {
    /// By whom.
    pub reader: OcrReader,
    /// Pixels per inch at which pages are drawn.
    pub dpi: u32,
    /// Time for all pictures of one document.
    pub per_document: Duration,
}

impl OcrPlan {
    /// Reads no pictures; `remedy` says what to do about it.
    pub fn absent(remedy: impl Into<String>) -> Self {
        Self {
            reader: OcrReader::Absent(remedy.into()),
            dpi: 300,
            per_document: Duration::ZERO,
        }
    }
}
