//! Reading one document: bytes in, Markdown pages out. Pure and synchronous; it runs inside a
//! limited child process and may crash there without harm.

mod asciidoc;
mod charset;
mod code;
mod data;
mod delimited;
mod doc;
mod docx;
mod epub;
mod html;
mod input;
mod json;
mod lines;
mod markdown;
mod notebook;
mod ocr;
mod ole;
mod parts;
mod office;
mod open_document;
mod pdf;
mod plain;
mod pptx;
mod rows;
mod rst;
mod subtitles;
mod tex;
mod xml;
mod sheets;
mod rtf;
mod salvage;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use shared::contract::{ErrorBody, ErrorCode, Locator, PageRecord, ReadMethod};
use shared::format::{Format, disagreement};
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

pub use charset::{Decoded, clean, decode};
pub use input::{Input, Spent};
pub use ocr::{NoOcr, Ocr, OcrError, Picture, Recognized};
pub use pdf::{Merging, PdfExtractor};

/// What a document gave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extraction {
    /// The document's own title.
    pub title: Option<String>,
    /// Its pages in order, at least one.
    pub pages: Vec<ExtractedPage>,
    /// What concerns the whole document.
    pub notes: Vec<String>,
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
    plain: plain::PlainExtractor,
    markdown: markdown::MarkdownExtractor,
    pdf: PdfExtractor,
    html: html::HtmlExtractor,
    delimited: delimited::DelimitedExtractor,
    docx: docx::DocxExtractor,
    json: json::JsonExtractor,
    json_lines: json::JsonLinesExtractor,
    notebook: notebook::NotebookExtractor,
    code: code::CodeExtractor,
    xml: xml::XmlExtractor,
    subtitles: subtitles::SubtitlesExtractor,
    asciidoc: asciidoc::AsciidocExtractor,
    tex: tex::TexExtractor,
    rst: rst::RstExtractor,
    epub: epub::EpubExtractor,
    ole: ole::OleExtractor,
    xlsx: sheets::XlsxExtractor,
    xls: sheets::XlsExtractor,
    ods: sheets::OdsExtractor,
    pptx: pptx::PptxExtractor,
    odt: open_document::OdtExtractor,
    odp: open_document::OdpExtractor,
    rtf: rtf::RtfExtractor,
    doc: doc::DocExtractor,
    ppt: doc::PptExtractor,
}

impl Extractors {
    /// All extractors; PDFs are read with `second`.
    pub fn new(second: SecondReader) -> Self {
        Self::merging(second, Merging::default())
    }

    /// All extractors; the two readings of a PDF are put together by `merging`.
    pub fn merging(second: SecondReader, merging: Merging) -> Self {
        Self {
            plain: plain::PlainExtractor,
            markdown: markdown::MarkdownExtractor,
            pdf: PdfExtractor::new(second, merging),
            html: html::HtmlExtractor,
            delimited: delimited::DelimitedExtractor,
            docx: docx::DocxExtractor,
            json: json::JsonExtractor,
            json_lines: json::JsonLinesExtractor,
            notebook: notebook::NotebookExtractor,
            code: code::CodeExtractor,
            xml: xml::XmlExtractor,
            subtitles: subtitles::SubtitlesExtractor,
            asciidoc: asciidoc::AsciidocExtractor,
            tex: tex::TexExtractor,
            rst: rst::RstExtractor,
            epub: epub::EpubExtractor,
            ole: ole::OleExtractor,
            xlsx: sheets::XlsxExtractor,
            xls: sheets::XlsExtractor,
            ods: sheets::OdsExtractor,
            pptx: pptx::PptxExtractor,
            odt: open_document::OdtExtractor,
            odp: open_document::OdpExtractor,
            rtf: rtf::RtfExtractor,
            doc: doc::DocExtractor,
            ppt: doc::PptExtractor,
        }
    }

    /// The pages of a document of `format`, numbered from 1, in Unicode's composed form (NFC).
    ///
    /// # Errors
    /// When not even one page is accounted for.
    pub fn extract(&self, format: Format, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let format = ole::real_format(format, input.bytes);
        let reader = if ole::holds(format, input.bytes) {
            &self.ole
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
        if input.depth() == 0 {
            extraction.notes.extend(disagreement(input.name, format));
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

    fn of(&self, format: Format) -> &dyn Extractor {
        match format {
            Format::Text => &self.plain,
            Format::Markdown => &self.markdown,
            Format::Pdf => &self.pdf,
            Format::Html => &self.html,
            Format::Csv => &self.delimited,
            Format::Docx => &self.docx,
            Format::Json => &self.json,
            Format::Jsonl => &self.json_lines,
            Format::Notebook => &self.notebook,
            Format::Code => &self.code,
            Format::Xml => &self.xml,
            Format::Subtitles => &self.subtitles,
            Format::Asciidoc => &self.asciidoc,
            Format::Tex => &self.tex,
            Format::Rst => &self.rst,
            Format::Epub => &self.epub,
            Format::Xlsx => &self.xlsx,
            Format::Xls => &self.xls,
            Format::Ods => &self.ods,
            Format::Pptx => &self.pptx,
            Format::Odt => &self.odt,
            Format::Odp => &self.odp,
            Format::Rtf => &self.rtf,
            Format::Doc => &self.doc,
            Format::Ppt => &self.ppt,
            _ => &Unread,
        }
    }
}

/// Stands for formats that have no reader.
struct Unread;

impl Extractor for Unread {
    fn extract(&self, _input: &Input<'_>) -> Result<Extraction, ExtractError> {
        Err(ExtractError::Unsupported {
            what: "of a format without a reader".to_owned(),
        })
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
