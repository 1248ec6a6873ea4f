//! What a file's first bytes say about it.

use super::Format;

/// What the content is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A format that is read.
    Is(Format),
    /// Something known that is not read.
    Other(&'static str),
    /// A container whose content cannot be seen from here; the extension breaks the tie.
    Container(&'static str),
    /// Text, or nothing that is known.
    Unclear,
}

/// Parts that only one kind of archive has, by the beginning of their names.
const PARTS: [(&[u8], Kind); 7] = [
    (b"word/", Kind::Is(Format::Docx)),
    (b"xl/", Kind::Other("an Excel workbook")),
    (b"ppt/", Kind::Other("a PowerPoint presentation")),
    (b"mimetypeapplication/epub", Kind::Other("an EPUB book")),
    (
        b"mimetypeapplication/vnd.oasis.opendocument",
        Kind::Other("an OpenDocument file"),
    ),
    (b"visio/", Kind::Other("a Visio drawing")),
    (b"META-INF/", Kind::Other("a program archive")),
];
/// Parts that every Office document may begin with.
const NEUTRAL_PARTS: [&[u8]; 6] = [
    b"[Content_Types].xml",
    b"docMetadata/",
    b"_rels/",
    b"docProps/",
    b"customXml/",
    b"[trash]/",
];
const LOCAL_HEADER: &[u8] = b"PK\x03\x04";
/// Length of a local header; the entry's name follows.
const LOCAL_HEADER_BYTES: usize = 30;

/// Tags that only a web page begins with.
const PAGE_TAGS: [&[u8]; 4] = [b"<!doctype html", b"<html", b"<head", b"<body"];
/// What may stand before them, up to its end.
const BEFORE_PAGE: [(&[u8], &[u8]); 2] = [(b"<?xml", b"?>"), (b"<!--", b"-->")];

/// What `head`, the first bytes of a file, is.
pub(super) fn kind_of(head: &[u8]) -> Kind {
    // Real PDFs may carry junk before the header; readers look for it in the first 1,024 bytes.
    let early = head.get(..head.len().min(1024)).unwrap_or(head);
    if find(early, b"%PDF-").is_some() {
        Kind::Is(Format::Pdf)
    } else if head.starts_with(LOCAL_HEADER) {
        archive(head)
    } else if head.starts_with(b"\xd0\xcf\x11\xe0") {
        Kind::Container("an old Office document")
    } else if is_web_page(head) {
        Kind::Is(Format::Html)
    } else {
        Kind::Unclear
    }
}

/// A ZIP archive by the names of the entries that lie within `head`.
fn archive(head: &[u8]) -> Kind {
    let mut rest = head;
    let mut first = true;
    while let Some(at) = find(rest, LOCAL_HEADER) {
        let entry = rest.get(at..).unwrap_or_default();
        rest = entry.get(LOCAL_HEADER.len()..).unwrap_or_default();
        let name = entry.get(LOCAL_HEADER_BYTES..).unwrap_or_default();
        if let Some((_, kind)) = PARTS.iter().find(|(part, _)| name.starts_with(part)) {
            return *kind;
        }
        let is_neutral = || NEUTRAL_PARTS.iter().any(|part| name.starts_with(part));
        // What follows may be the parts of a document that was packed into this archive.
        if std::mem::take(&mut first) && !name.is_empty() && !is_neutral() {
            return Kind::Other("a ZIP archive");
        }
    }
    Kind::Container("a ZIP archive or an Office document")
}

fn is_web_page(head: &[u8]) -> bool {
    // The tags are ASCII: without its zero bytes and marks, UTF-16 reads like the rest.
    let plain: Vec<u8> = head
        .iter()
        .filter(|byte| !matches!(byte, 0 | 0xff | 0xfe | 0xef | 0xbb | 0xbf))
        .map(u8::to_ascii_lowercase)
        .collect();
    let mut rest = plain.trim_ascii_start();
    while let Some((_, end)) = BEFORE_PAGE
        .iter()
        .find(|(start, _)| rest.starts_with(start))
    {
        let Some(at) = find(rest, end) else {
            return false;
        };
        rest = rest
            .get(at + end.len()..)
            .unwrap_or_default()
            .trim_ascii_start();
    }
    PAGE_TAGS.iter().any(|tag| {
        rest.strip_prefix(*tag)
            .is_some_and(|after| !after.first().is_some_and(u8::is_ascii_alphanumeric))
    })
}

/// What binary kind `head` is; `None` when it can be text in some encoding.
pub(super) fn binary_kind(head: &[u8]) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 6] = [
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
    // A stray NUL or control byte in text is cleaned by the parser; one byte in fifty is not text
    // any more, unless every other byte is NUL, as in UTF-16 without a mark. Random bytes have one
    // such in ten. Escape stands in texts of terminals and in ISO-2022.
    let nuls = head.split(|&byte| byte == 0).count().saturating_sub(1);
    let looks_utf16 = nuls * 5 >= head.len() * 2 && nuls * 5 <= head.len() * 3;
    let is_control = |byte: &&u8| matches!(byte, 0..=8 | 14..=26 | 28..=31);
    let controls = head.iter().filter(is_control).count();
    (!utf16 && !looks_utf16 && controls * 50 > head.len()).then_some("binary data")
}

/// Where `needle` begins in `haystack`.
fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}
