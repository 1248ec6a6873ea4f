//! Which format a document is read as: by content first, by extension second.

mod archive;
mod compound;
mod content;
mod extensions;
#[cfg(test)]
mod tests;
mod text;
mod wide;

pub use wide::{ByteOrder, utf16_without_mark, utf32_without_mark};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A format that Ibid reads.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Markdown (`.md`, `.markdown`).
    Markdown,
    /// Plain text.
    Text,
    /// Portable Document Format.
    Pdf,
    /// A web page (`.html`, `.htm`, `.xhtml`).
    Html,
    /// A table as text with separators (`.csv`, `.tsv`).
    Csv,
    /// A Word document (`.docx`, `.docm`).
    Docx,
    /// A PowerPoint presentation (`.pptx`, `.ppsx`).
    Pptx,
    /// An Excel workbook (`.xlsx`, `.xlsm`, `.xlsb`).
    Xlsx,
    /// An Excel workbook of before 2007.
    Xls,
    /// An OpenDocument spreadsheet.
    Ods,
    /// An OpenDocument text.
    Odt,
    /// An OpenDocument presentation.
    Odp,
    /// Rich Text Format.
    Rtf,
    /// A Word document of before 2007.
    Doc,
    /// A PowerPoint presentation of before 2007.
    Ppt,
    /// An EPUB book.
    Epub,
    /// JSON.
    Json,
    /// JSON, one value per line.
    Jsonl,
    /// XML, RSS and Atom feeds among it.
    Xml,
    /// A Jupyter notebook (`.ipynb`).
    Notebook,
    /// AsciiDoc (`.adoc`).
    Asciidoc,
    /// reStructuredText.
    Rst,
    /// TeX and LaTeX.
    Tex,
    /// Subtitles (`.srt`, `.vtt`).
    Subtitles,
    /// Source code and settings as text.
    Code,
    /// An e-mail as it was sent (`.eml`).
    Eml,
    /// An e-mail that Outlook saved (`.msg`).
    Msg,
    /// A mailbox: e-mails one after the other.
    Mbox,
    /// A ZIP archive of other files.
    Zip,
    /// A picture (`.png`, `.jpeg`, `.tiff`), read by character recognition.
    Image,
}

/// Why a file is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The content is of a known kind that is not read, or of no known kind.
    #[error(
        "`{name}` is {kind}, which is not read; convert it to one of: PDF, Word, Excel, \
         PowerPoint, OpenDocument, RTF, EPUB, HTML, Markdown, CSV, JSON, XML, a notebook, an \
         e-mail, a ZIP archive, a picture, source code, plain text"
    )]
    Unsupported {
        /// The file's name as given.
        name: String,
        /// What the content looks like.
        kind: &'static str,
    },
}

impl FormatError {
    /// What the content is, such as `a program`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unsupported { kind, .. } => kind,
        }
    }
}

/// How many leading bytes [`detect`] wants to see. Enough for the first parts of an Office
/// document, which begins with small ones.
pub const HEAD_BYTES: usize = 16 * 1024;

impl Format {
    /// Every format.
    pub const ALL: [Self; 30] = [
        Self::Markdown,
        Self::Text,
        Self::Pdf,
        Self::Html,
        Self::Csv,
        Self::Docx,
        Self::Pptx,
        Self::Xlsx,
        Self::Xls,
        Self::Ods,
        Self::Odt,
        Self::Odp,
        Self::Rtf,
        Self::Doc,
        Self::Ppt,
        Self::Epub,
        Self::Json,
        Self::Jsonl,
        Self::Xml,
        Self::Notebook,
        Self::Asciidoc,
        Self::Rst,
        Self::Tex,
        Self::Subtitles,
        Self::Code,
        Self::Eml,
        Self::Msg,
        Self::Mbox,
        Self::Zip,
        Self::Image,
    ];

    /// The name used in settings, ids and listings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Text => "text",
            Self::Pdf => "pdf",
            Self::Html => "html",
            Self::Csv => "csv",
            Self::Docx => "docx",
            Self::Pptx => "pptx",
            Self::Xlsx => "xlsx",
            Self::Xls => "xls",
            Self::Ods => "ods",
            Self::Odt => "odt",
            Self::Odp => "odp",
            Self::Rtf => "rtf",
            Self::Doc => "doc",
            Self::Ppt => "ppt",
            Self::Epub => "epub",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Xml => "xml",
            Self::Notebook => "notebook",
            Self::Asciidoc => "asciidoc",
            Self::Rst => "rst",
            Self::Tex => "tex",
            Self::Subtitles => "subtitles",
            Self::Code => "code",
            Self::Eml => "eml",
            Self::Msg => "msg",
            Self::Mbox => "mbox",
            Self::Zip => "zip",
            Self::Image => "image",
        }
    }

    /// Whether its files are text in some encoding.
    pub fn is_text(self) -> bool {
        matches!(
            self,
            Self::Markdown
                | Self::Text
                | Self::Html
                | Self::Csv
                | Self::Rtf
                | Self::Json
                | Self::Jsonl
                | Self::Xml
                | Self::Notebook
                | Self::Asciidoc
                | Self::Rst
                | Self::Tex
                | Self::Subtitles
                | Self::Code
                | Self::Eml
                | Self::Mbox
        )
    }

    /// What a document of it is, in a sentence: `a PDF`, `plain text`.
    pub fn described(self) -> &'static str {
        match self {
            Self::Markdown => "Markdown",
            Self::Text => "plain text",
            Self::Pdf => "a PDF",
            Self::Html => "a web page",
            Self::Csv => "a table as text",
            Self::Docx => "a Word document",
            Self::Pptx => "a PowerPoint presentation",
            Self::Xlsx => "an Excel workbook",
            Self::Xls => "an Excel workbook of before 2007",
            Self::Ods => "an OpenDocument spreadsheet",
            Self::Odt => "an OpenDocument text",
            Self::Odp => "an OpenDocument presentation",
            Self::Rtf => "RTF",
            Self::Doc => "a Word document of before 2007",
            Self::Ppt => "a PowerPoint presentation of before 2007",
            Self::Epub => "an EPUB book",
            Self::Json => "JSON",
            Self::Jsonl => "JSON lines",
            Self::Xml => "XML",
            Self::Notebook => "a Jupyter notebook",
            Self::Asciidoc => "AsciiDoc",
            Self::Rst => "reStructuredText",
            Self::Tex => "TeX",
            Self::Subtitles => "subtitles",
            Self::Code => "source code",
            Self::Eml => "an e-mail",
            Self::Msg => "an Outlook e-mail",
            Self::Mbox => "a mailbox",
            Self::Zip => "a ZIP archive",
            Self::Image => "a picture",
        }
    }
}

impl std::str::FromStr for Format {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        let named = |format: &Self| format.name() == text;
        Self::ALL
            .into_iter()
            .find(named)
            .ok_or_else(|| FormatError::Unsupported {
                name: text.to_owned(),
                kind: "an unknown format",
            })
    }
}

/// The format of a file called `name` that begins with `head` (the first [`HEAD_BYTES`] bytes,
/// or all of a shorter file).
///
/// # Errors
/// [`FormatError::Unsupported`] names what the content looks like.
pub fn detect(name: &str, head: &[u8]) -> Result<Format, FormatError> {
    let named = extensions::by_name(name);
    let unsupported = |kind| {
        Err(FormatError::Unsupported {
            name: name.to_owned(),
            kind,
        })
    };
    match content::kind_of(head, named) {
        content::Kind::Is(format) => return Ok(format),
        content::Kind::Other(kind) => return unsupported(kind),
        content::Kind::Unclear => {}
    }
    if head.is_empty() {
        return Ok(named
            .filter(|format| format.is_text())
            .unwrap_or(Format::Text));
    }
    let binary = content::binary_kind(head);
    match (named, binary) {
        // What is named so and looks like nothing else is for the format's own reader to judge.
        (Some(format), Some(_)) if !format.is_text() => Ok(format),
        (_, Some(kind)) => unsupported(kind),
        (named, None) => Ok(text::format_of(head, named)),
    }
}

/// What to tell about a file whose name promises another format than it has, such as
/// `named .txt but is a PDF`.
pub fn disagreement(name: &str, format: Format) -> Option<String> {
    let expected = extensions::by_name(name)?;
    let is_near = |one: Format, other: Format| {
        matches!(
            (one, other),
            (Format::Json, Format::Jsonl | Format::Notebook)
                | (Format::Xml, Format::Html)
                | (Format::Text | Format::Markdown, Format::Text | Format::Code)
        )
    };
    if expected == format || is_near(expected, format) || is_near(format, expected) {
        return None;
    }
    let extension = extensions::of(name);
    let format = format.described();
    Some(if extension.is_empty() {
        format!("its name says otherwise, but it is {format}")
    } else {
        format!("named .{extension} but is {format}")
    })
}
