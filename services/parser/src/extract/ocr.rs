//! Optical character recognition as the extractors see it. Who recognises stands outside of the
//! child: a program of its own, started by the parent.

/// Reads the text of pictures.
pub trait Ocr {
    /// The text that `picture` shows.
    ///
    /// # Errors
    /// When there is nothing that recognises, or it failed on this picture.
    fn read(&self, picture: &Picture) -> Result<Recognized, OcrError>;
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

/// What a picture says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recognized {
    /// Lines as on the picture, paragraphs parted by an empty line.
    pub text: String,
    /// How sure the reader is, 0 to 1, on average over its words; `None` when it does not say.
    pub confidence: Option<f32>,
}

/// Why a picture was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OcrError {
    /// Nothing here recognises text.
    #[error("{0}")]
    Absent(String),
    /// It was tried and failed.
    #[error("{0}")]
    Failed(String),
}

/// Recognises nothing.
pub struct NoOcr;

impl Ocr for NoOcr {
    fn read(&self, _picture: &Picture) -> Result<Recognized, OcrError> {
        Err(OcrError::Absent("no OCR program is installed".to_owned()))
    }
}
