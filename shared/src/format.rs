//! Which format a document is read as: by content first, by extension second.

mod content;

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
    /// The content is of a known kind that is not read yet, or of no known kind.
    #[error(
        "`{name}` is {kind}, which is not read yet; convert it to PDF, Word, HTML or plain text"
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

/// How many leading bytes [`detect`] wants to see.
pub const HEAD_BYTES: usize = 8 * 1024;

/// What a file's extension says about text that says nothing itself.
const BY_EXTENSION: [(&str, Format); 12] = [
    ("md", Format::Markdown),
    ("markdown", Format::Markdown),
    ("mdown", Format::Markdown),
    ("html", Format::Html),
    ("htm", Format::Html),
    ("xhtml", Format::Html),
    ("csv", Format::Csv),
    ("tsv", Format::Csv),
    ("tab", Format::Csv),
    // An Office document whose parts cannot be told from its beginning.
    ("docx", Format::Docx),
    ("docm", Format::Docx),
    ("dotx", Format::Docx),
];
/// Extensions of text-like formats that deserve a reader of their own and have none yet.
const STRUCTURED_TEXT: [(&str, &str); 12] = [
    ("json", "JSON"),
    ("jsonl", "JSON lines"),
    ("ipynb", "a Jupyter notebook"),
    ("xml", "XML"),
    ("rtf", "RTF"),
    ("eml", "an e-mail"),
    ("mbox", "a mailbox"),
    ("mht", "a web archive"),
    ("mhtml", "a web archive"),
    ("svg", "an SVG picture"),
    ("adoc", "AsciiDoc"),
    ("tex", "TeX"),
];

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
    let extension = extension_of(name);
    let by_extension = BY_EXTENSION
        .iter()
        .find(|(known, _)| *known == extension)
        .map(|(_, format)| *format);
    let unsupported = |kind| {
        Err(FormatError::Unsupported {
            name: name.to_owned(),
            kind,
        })
    };
    match content::kind_of(head) {
        content::Kind::Is(format) => return Ok(format),
        content::Kind::Other(kind) => return unsupported(kind),
        content::Kind::Container(kind) => {
            return match by_extension {
                Some(Format::Docx) => Ok(Format::Docx),
                _ => unsupported(kind),
            };
        }
        content::Kind::Unclear => {}
    }
    if extension == "pdf" && !head.is_empty() {
        return Ok(Format::Pdf);
    }
    if let Some(kind) = content::binary_kind(head) {
        return unsupported(kind);
    }
    if let Some((_, kind)) = STRUCTURED_TEXT
        .iter()
        .find(|(known, _)| *known == extension)
    {
        return unsupported(kind);
    }
    match by_extension {
        Some(Format::Docx) if !head.is_empty() => unsupported("no Office document"),
        Some(format) => Ok(format),
        None => Ok(Format::Text),
    }
}

/// The part of `name` after its last dot, lower-case; empty when there is none.
fn extension_of(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.rsplit_once('.')
        .map(|(_, extension)| extension.to_lowercase())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, head: &[u8], expect: Option<Format>) {
        assert_eq!(detect(name, head).ok(), expect, "{name}");
    }

    #[test]
    fn content_decides_before_the_extension() {
        check("a.md", b"# Title", Some(Format::Markdown));
        check("A.MARKDOWN", b"# Title", Some(Format::Markdown));
        check("notes", b"plain words", Some(Format::Text));
        check("notes.txt", b"%PDF-1.7\n", Some(Format::Pdf));
        check("junk.bin", b"garbage before %PDF-1.4", Some(Format::Pdf));
        check("broken.pdf", b"\x00\x01", Some(Format::Pdf));
        check("empty.txt", b"", Some(Format::Text));
        check("umlaut.txt", b"gr\xfc\xdfe", Some(Format::Text));
        check("utf16.txt", b"\xff\xfea\0b\0", Some(Format::Text));
        check("utf16-nomark.txt", b"a\0b\0c\0d\0", Some(Format::Text));
        check("dir.md/readme", b"text", Some(Format::Text));
        check("blob.txt", &[0; 64], None);
        let random: Vec<u8> = (1..512_u32)
            .flat_map(|n| {
                n.wrapping_mul(2_654_435_761)
                    .rotate_left(n % 32)
                    .to_le_bytes()
            })
            .collect();
        check("random.txt", &random, None);
        check(
            "terminal.txt",
            b"\x1b[1mbold\x1b[0m words",
            Some(Format::Text),
        );
    }

    /// The beginning of a ZIP archive with entries of these names.
    fn zip(names: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for name in names {
            bytes.extend(b"PK\x03\x04");
            bytes.extend([0; 22]);
            bytes.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
            bytes.extend([0; 2]);
            bytes.extend(name.as_bytes());
            bytes.extend(b"packed");
        }
        bytes
    }

    #[test]
    fn office_documents_are_told_by_their_parts() {
        let types = "[Content_Types].xml";
        let word = zip(&[types, "_rels/.rels", "word/document.xml"]);
        check("a.docx", &word, Some(Format::Docx));
        check("a.zip", &word, Some(Format::Docx));
        check("a.txt", &word, Some(Format::Docx));
        // The parts come too late to be seen: the extension breaks the tie.
        check(
            "a.docx",
            &zip(&[types, "docProps/core.xml"]),
            Some(Format::Docx),
        );
        check("a.docm", b"PK\x03\x04....", Some(Format::Docx));
        check("a.xlsx", &zip(&[types]), None);
        check("a.zip", &zip(&[types]), None);
        check("a.docx", &zip(&[types, "xl/workbook.xml"]), None);
        check("a.docx", &zip(&["ppt/presentation.xml"]), None);
        check("a.docx", &zip(&["holiday.jpg"]), None);
        check(
            "a.zip",
            &zip(&["plan.docx", types, "word/document.xml"]),
            None,
        );
        check("a.csv", &zip(&[types, "xl/workbook.xml"]), None);
        // A password turns a Word document into an old container.
        check("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1", Some(Format::Docx));
        check("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1", None);
        check("a.docx", b"not at all", None);
    }

    #[test]
    fn web_pages_are_told_by_their_first_tag() {
        check("page.html", b"<p>no head", Some(Format::Html));
        check("page.htm", b"", Some(Format::Html));
        check("page", b"\n <!DOCTYPE html>\n<html>", Some(Format::Html));
        check(
            "page.txt",
            b"\xef\xbb\xbf<HTML lang=en>",
            Some(Format::Html),
        );
        check(
            "page.csv",
            b"<!-- error -->\n<!doctype html>",
            Some(Format::Html),
        );
        check(
            "page.xml",
            b"<?xml version=\"1.0\"?>\n<html xmlns=\"x\">",
            Some(Format::Html),
        );
        check("a.xml", b"<?xml version=\"1.0\"?>\n<book>", None);
        check(
            "readme.md",
            b"<h1 align=\"center\">Name</h1>",
            Some(Format::Markdown),
        );
        check("notes.txt", b"<htmlish> is no tag", Some(Format::Text));
        let wide: Vec<u8> = "<html>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        check(
            "page.txt",
            &[b"\xff\xfe".to_vec(), wide].concat(),
            Some(Format::Html),
        );
    }

    #[test]
    fn tables_are_told_by_their_extension() {
        check("a.csv", b"name;price\n", Some(Format::Csv));
        check("a.TSV", b"name\tprice\n", Some(Format::Csv));
        check("a.txt", b"name;price\n", Some(Format::Text));
        check("a.csv", &[0; 64], None);
    }

    #[test]
    fn names_are_read_back() {
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(format));
            assert_eq!(serde_json::to_value(format).unwrap(), format.name());
        }
    }

    #[test]
    fn the_refusal_names_kind_and_remedy() {
        let slides = zip(&["ppt/presentation.xml"]);
        let error = detect("plan.pptx", &slides).unwrap_err().to_string();
        assert!(
            error.contains("plan.pptx") && error.contains("PowerPoint"),
            "{error}"
        );
        assert!(error.contains("convert it"), "{error}");
    }
}
