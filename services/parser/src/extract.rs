//! Reading one document: bytes in, Markdown pages out. Pure and synchronous; it runs inside a
//! limited child process and may crash there without harm.

mod asciidoc;
mod charset;
mod code;
mod data;
mod delimited;
mod doc;
mod docx;
mod eml;
mod epub;
mod html;
mod image;
mod input;
mod json;
mod lines;
mod mail;
mod markdown;
mod mbox;
mod msg;
mod notebook;
mod ocr;
mod office;
mod ole;
mod open_document;
mod parts;
mod pdf;
mod plain;
mod pptx;
mod rows;
mod rst;
mod rtf;
mod salvage;
mod sheets;
mod subtitles;
mod tex;
mod xml;
mod zip;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use shared::contract::{ErrorBody, ErrorCode, Locator, PageRecord, ReadMethod};
use shared::format::{Format, disagreement};
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

pub use charset::{Decoded, clean, decode};
pub use input::{Input, Spent};
pub use ocr::{NoOcr, Ocr, OcrError, Picture, Recognized};
pub use pdf::{
    Drawing, Highlighter, Merging, PageBox, PageBoxes, PdfExtractor, ReadingsReader, places,
};

/// What a document gave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extraction {
    /// The document's own title.
    pub title: Option<String>,
    /// Its pages in order, at least one.
    pub pages: Vec<ExtractedPage>,
    /// What concerns the whole document.
    pub notes: Vec<String>,
    /// Of a PDF, PDFium's characters of each page in order, as UTF-16 or UTF-32 units: what
    /// [`places`] finds its pages' text by. Empty where a page has none, or PDFium cannot open
    /// the file as it is.
    pub characters: Vec<Vec<u32>>,
}

/// One page with its record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractedPage {
    /// Where it stands and how it was read.
    pub record: PageRecord,
    /// Its text; no control characters but newline and tab.
    pub markdown: String,
}

/// Why a document cannot be read. The texts never quote the document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtractError {
    /// It opens only with a password, and none was given.
    #[error("the document is locked by a password")]
    PasswordNeeded,
    /// The password that was given does not open it.
    #[error("the password does not open the document")]
    WrongPassword,
    /// It is of a kind that is not read.
    #[error("the document is {what}, which is not read")]
    Unsupported {
        /// What it is.
        what: String,
    },
    /// Its structure is broken beyond what the readers repair.
    #[error("the document is damaged: {what}")]
    Damaged {
        /// What was found.
        what: String,
    },
    /// It is more than the readers take.
    #[error("the document is too large: {what}")]
    TooLarge {
        /// Which measure it exceeds.
        what: String,
    },
}

impl From<ExtractError> for ErrorBody {
    fn from(error: ExtractError) -> Self {
        let message = error.to_string();
        match error {
            ExtractError::PasswordNeeded => Self::new(
                ErrorCode::PasswordNeeded,
                message,
                "add it again with its password (`ibid add --password FILE`, or on the page)",
            ),
            ExtractError::WrongPassword => Self::new(
                ErrorCode::PasswordNeeded,
                message,
                "add it again with the right one (`ibid add --password FILE`, or on the page)",
            ),
            ExtractError::Unsupported { .. } => Self::new(
                ErrorCode::UnsupportedFormat,
                message,
                "convert it to PDF, Word, HTML or plain text and add that",
            ),
            ExtractError::Damaged { .. } => Self::new(
                ErrorCode::Damaged,
                message,
                "open it in its own program and save it again, or fetch it again from its source",
            ),
            ExtractError::TooLarge { .. } => Self::new(
                ErrorCode::OverLimit,
                message,
                "split it into smaller files, or save it as PDF and add that",
            ),
        }
    }
}

/// Reads one format.
pub trait Extractor {
    /// The pages of the document. Their numbers and counts are set afterwards, by
    /// [`Extractors::extract`].
    ///
    /// # Errors
    /// When not even one page is accounted for.
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError>;
}

/// The second reader of PDFs, as the parent found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecondReader {
    /// PDFium's library at this path.
    Library(PathBuf),
    /// It is not used; the reason goes into the document's notes.
    Absent(String),
}

/// The extractors of this build.
pub struct Extractors {
    /// The only one with something to hold; the others know all they need.
    pdf: PdfExtractor,
}

impl Extractors {
    /// All extractors; PDFs are read with `second`.
    pub fn new(second: SecondReader) -> Self {
        Self::merging(second, Merging::default())
    }

    /// All extractors; the two readings of a PDF are put together by `merging`.
    pub fn merging(second: SecondReader, merging: Merging) -> Self {
        Self {
            pdf: PdfExtractor::new(second, merging),
        }
    }

    /// The pages of a document of `format`, numbered from 1, in Unicode's composed form (NFC).
    ///
    /// # Errors
    /// When not even one page is accounted for.
    pub fn extract(&self, format: Format, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let found = ole::real_format(format, input.bytes);
        let mut extraction = self.read_real(found, input)?;
        extraction.notes.extend(disagreement(input.name, found));
        Ok(extraction)
    }

    /// The same for a part of a document, whose name says nothing.
    fn read(&self, format: Format, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        self.read_real(ole::real_format(format, input.bytes), input)
    }

    fn read_real(&self, format: Format, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let reader = if ole::holds(format, input.bytes) {
            &ole::OleExtractor
        } else {
            self.of(format)
        };
        let mut extraction = reader.extract(input)?;
        for (page, number) in extraction.pages.iter_mut().zip(1..) {
            if !is_nfc(&page.markdown) {
                page.markdown = page.markdown.nfc().collect();
            }
            page.record.number = number;
            page.record.characters = count_characters(&page.markdown);
        }
        Ok(extraction)
    }

    /// [`Extractors::extract`] of a file as it is: without a password, without OCR.
    ///
    /// # Errors
    /// When not even one page is accounted for.
    pub fn extract_file(
        &self,
        format: Format,
        name: &str,
        bytes: &[u8],
    ) -> Result<Extraction, ExtractError> {
        let spent = Spent::default();
        self.extract(format, &Input::new(name, bytes, self, &NoOcr, &spent))
    }

    /// The PDF `bytes` to be drawn and to have its text boxed; `None` without PDFium.
    pub fn highlighter<'a>(
        &self,
        bytes: &'a [u8],
        password: Option<&'a str>,
    ) -> Option<Highlighter<'a>> {
        self.pdf.highlighter(bytes, password)
    }

    fn of(&self, format: Format) -> &dyn Extractor {
        match format {
            Format::Text => &plain::PlainExtractor,
            Format::Markdown => &markdown::MarkdownExtractor,
            Format::Pdf => &self.pdf,
            Format::Html => &html::HtmlExtractor,
            Format::Csv => &delimited::DelimitedExtractor,
            Format::Docx => &docx::DocxExtractor,
            Format::Json => &json::JsonExtractor,
            Format::Jsonl => &json::JsonLinesExtractor,
            Format::Notebook => &notebook::NotebookExtractor,
            Format::Code => &code::CodeExtractor,
            Format::Xml => &xml::XmlExtractor,
            Format::Subtitles => &subtitles::SubtitlesExtractor,
            Format::Asciidoc => &asciidoc::AsciidocExtractor,
            Format::Tex => &tex::TexExtractor,
            Format::Rst => &rst::RstExtractor,
            Format::Epub => &epub::EpubExtractor,
            Format::Xlsx => &sheets::XlsxExtractor,
            Format::Xls => &sheets::XlsExtractor,
            Format::Ods => &sheets::OdsExtractor,
            Format::Pptx => &pptx::PptxExtractor,
            Format::Odt => &open_document::OdtExtractor,
            Format::Odp => &open_document::OdpExtractor,
            Format::Rtf => &rtf::RtfExtractor,
            Format::Doc => &doc::DocExtractor,
            Format::Ppt => &doc::PptExtractor,
            Format::Eml => &eml::EmlExtractor,
            Format::Mbox => &mbox::MboxExtractor,
            Format::Msg => &msg::MsgExtractor,
            Format::Zip => &zip::ZipExtractor,
            Format::Image => &image::ImageExtractor,
        }
    }
}

/// A document without pages as its one page, named after its first heading.
fn only_page(markdown: String, heading: Option<String>, doubts: Vec<String>) -> ExtractedPage {
    ExtractedPage {
        record: PageRecord {
            number: 1,
            locator: heading.map_or(Locator::Block { number: 1 }, |heading| Locator::Section {
                heading,
            }),
            method: ReadMethod::Native,
            characters: count_characters(&markdown),
            doubts,
            error: None,
        },
        markdown,
    }
}

/// Characters of `text`, as page records count them.
pub(crate) fn count_characters(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX)
}

/// [`Extractors::extract_file`] without PDFium.
#[cfg(test)]
fn extract_alone(format: Format, name: &str, bytes: &[u8]) -> Result<Extraction, ExtractError> {
    let absent = SecondReader::Absent("not needed here".to_owned());
    Extractors::new(absent).extract_file(format, name, bytes)
}
