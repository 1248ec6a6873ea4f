//! Which format a document is read as: by content first, by extension second.

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
}

/// Why a file is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The content is of a known kind that is not read yet, or of no known kind.
    #[error("`{name}` is {kind}, which is not read yet; convert it to PDF, Markdown or plain text")]
    Unsupported {
        /// The file's name as given.
        name: String,
        /// What the content looks like.
        kind: &'static str,
    },
}

/// How many leading bytes [`detect`] wants to see.
pub const HEAD_BYTES: usize = 8 * 1024;

const MARKDOWN_EXTENSIONS: [&str; 3] = ["md", "markdown", "mdown"];
/// Extensions of text-like formats that deserve a reader of their own and have none yet.
const STRUCTURED_TEXT: [(&str, &str); 15] = [
    ("html", "HTML"),
    ("htm", "HTML"),
    ("xhtml", "HTML"),
    ("csv", "a table in CSV"),
    ("tsv", "a table in TSV"),
    ("json", "JSON"),
    ("jsonl", "JSON lines"),
    ("ipynb", "a Jupyter notebook"),
    ("xml", "XML"),
    ("rtf", "RTF"),
    ("eml", "an e-mail"),
    ("mbox", "a mailbox"),
    ("svg", "an SVG picture"),
    ("adoc", "AsciiDoc"),
    ("tex", "TeX"),
];

impl Format {
    /// The name used in settings, ids and listings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Text => "text",
            Self::Pdf => "pdf",
        }
    }
}

impl std::str::FromStr for Format {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        match text {
            "markdown" => Ok(Self::Markdown),
            "text" => Ok(Self::Text),
            "pdf" => Ok(Self::Pdf),
            _ => Err(FormatError::Unsupported {
                name: text.to_owned(),
                kind: "an unknown format",
            }),
        }
    }
}

/// The format of a file called `name` that begins with `head` (the first [`HEAD_BYTES`] bytes,
/// or all of a shorter file).
///
/// # Errors
/// [`FormatError::Unsupported`] names what the content looks like.
pub fn detect(name: &str, head: &[u8]) -> Result<Format, FormatError> {
    let extension = extension_of(name);
    let unsupported = |kind| {
        Err(FormatError::Unsupported {
            name: name.to_owned(),
            kind,
        })
    };
    // Real PDFs may carry junk before the header; readers look for it in the first 1,024 bytes.
    let early = head.get(..head.len().min(1024)).unwrap_or(head);
    if contains(early, b"%PDF-") || (extension == "pdf" && !head.is_empty()) {
        return Ok(Format::Pdf);
    }
    if let Some(kind) = binary_kind(head) {
        return unsupported(kind);
    }
    if let Some((_, kind)) = STRUCTURED_TEXT
        .iter()
        .find(|(known, _)| *known == extension)
    {
        return unsupported(kind);
    }
    if MARKDOWN_EXTENSIONS.contains(&extension.as_str()) {
        Ok(Format::Markdown)
    } else {
        Ok(Format::Text)
    }
}

/// The part of `name` after its last dot, lower-case; empty when there is none.
fn extension_of(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.rsplit_once('.')
        .map(|(_, extension)| extension.to_lowercase())
        .unwrap_or_default()
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle)
}

/// What binary kind `head` is; `None` when it can be text in some encoding.
fn binary_kind(head: &[u8]) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 8] = [
        (b"PK\x03\x04", "a ZIP archive or an Office document"),
        (b"\xd0\xcf\x11\xe0", "an old Office document"),
        (b"{\\rtf", "RTF"),
        (b"\x89PNG", "a PNG picture"),
        (b"\xff\xd8\xff", "a JPEG picture"),
        (b"GIF8", "a GIF picture"),
        (b"\x1f\x8b", "gzip data"),
        (b"\x7fELF", "a program"),
    ];
    if let Some((_, kind)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(kind);
    }
    let utf16 = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    // A stray NUL in text is cleaned by the parser; one byte in fifty is not text any more,
    // unless every other byte is NUL, as in UTF-16 without a mark.
    let nuls = head.split(|&byte| byte == 0).count().saturating_sub(1);
    let looks_utf16 = nuls * 5 >= head.len() * 2 && nuls * 5 <= head.len() * 3;
    (!utf16 && !looks_utf16 && nuls * 50 > head.len()).then_some("binary data")
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
        check("a.docx", b"PK\x03\x04....", None);
        check("a.txt", b"PK\x03\x04....", None);
        check("page.html", b"<!doctype html>", None);
        check("blob.txt", &[0; 64], None);
    }

    #[test]
    fn the_refusal_names_kind_and_remedy() {
        let error = detect("plan.docx", b"PK\x03\x04").unwrap_err().to_string();
        assert!(
            error.contains("plan.docx") && error.contains("Office"),
            "{error}"
        );
        assert!(error.contains("convert it"), "{error}");
    }
}
