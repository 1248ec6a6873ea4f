//! Compound files (`D0 CF 11 E0`): old Office documents, Outlook messages, and locked new ones.

use super::Format;
use super::content::{Kind, find};

pub(super) const MAGIC: &[u8] = b"\xd0\xcf\x11\xe0";

/// Names of streams that only one kind has.
const STREAMS: [(&str, Format); 5] = [
    ("__properties_version1.0", Format::Msg),
    ("PowerPoint Document", Format::Ppt),
    ("WordDocument", Format::Doc),
    ("Workbook", Format::Xls),
    ("Book", Format::Xls),
];
/// Names of streams of documents that are not read.
const OTHERS: [(&str, &str); 2] = [
    ("VisioDocument", "a Visio drawing"),
    ("\u{5}HwpSummaryInformation", "a Hangul document"),
];

/// What the compound file that begins with `head` is. A document may hold others, so that several
/// names are seen: then, and when none is, `named` decides.
pub(super) fn kind_of(head: &[u8], named: Option<Format>) -> Kind {
    let named = named.filter(|format| {
        matches!(
            format,
            Format::Doc
                | Format::Xls
                | Format::Ppt
                | Format::Msg
                | Format::Docx
                | Format::Xlsx
                | Format::Pptx
        )
    });
    // A new document under a password is a stream of such a file.
    if has_stream(head, "EncryptedPackage") {
        return Kind::Is(match named {
            Some(Format::Xls | Format::Xlsx) => Format::Xlsx,
            Some(Format::Ppt | Format::Pptx) => Format::Pptx,
            _ => Format::Docx,
        });
    }
    let seen = || STREAMS.iter().filter(|(name, _)| has_stream(head, name));
    let agrees = named.filter(|named| seen().any(|(_, format)| format == named));
    if let Some(format) = agrees.or_else(|| seen().next().map(|(_, format)| *format)) {
        return Kind::Is(format);
    }
    if let Some((_, kind)) = OTHERS.iter().find(|(name, _)| has_stream(head, name)) {
        return Kind::Other(kind);
    }
    Kind::Is(named.unwrap_or(Format::Doc))
}

/// Names are UTF-16 and end with a zero.
fn has_stream(head: &[u8], name: &str) -> bool {
    let wide: Vec<u8> = name
        .encode_utf16()
        .chain([0])
        .flat_map(u16::to_le_bytes)
        .collect();
    find(head, &wide).is_some()
}
