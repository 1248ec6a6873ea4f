//! ZIP archives: which kind of document one is, by the names of its first entries.

use super::Format;
use super::content::{Kind, find};

/// Parts that only one kind of archive has, by the beginning of their names.
const PARTS: [(&[u8], Kind); 19] = [
    (b"word/", Kind::Is(Format::Docx)),
    (b"xl/", Kind::Is(Format::Xlsx)),
    (b"ppt/", Kind::Is(Format::Pptx)),
    (b"mimetypeapplication/epub", Kind::Is(Format::Epub)),
    (b"META-INF/container.xml", Kind::Is(Format::Epub)),
    (
        b"mimetypeapplication/vnd.oasis.opendocument.text",
        Kind::Is(Format::Odt),
    ),
    (
        b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
        Kind::Is(Format::Ods),
    ),
    (
        b"mimetypeapplication/vnd.oasis.opendocument.presentation",
        Kind::Is(Format::Odp),
    ),
    (
        b"mimetypeapplication/vnd.sun.xml.writer",
        Kind::Is(Format::Odt),
    ),
    (
        b"mimetypeapplication/vnd.oasis.opendocument",
        Kind::Other("an OpenDocument drawing"),
    ),
    (b"visio/", Kind::Other("a Visio drawing")),
    (b"META-INF/MANIFEST.MF", Kind::Other("a program archive")),
    (b"AndroidManifest.xml", Kind::Other("a program archive")),
    (b"classes.dex", Kind::Other("a program archive")),
    (
        b"Index/Document.iwa",
        Kind::Other("an Apple iWork document"),
    ),
    (
        b"Index/Metadata.iwa",
        Kind::Other("an Apple iWork document"),
    ),
    (b"FixedDocSeq.fdseq", Kind::Other("an XPS document")),
    (
        b"FixedDocumentSequence.fdseq",
        Kind::Other("an XPS document"),
    ),
    (b"3D/", Kind::Other("a 3D model")),
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
/// First parts of OpenDocument files and books that do not begin as the standards ask.
const LOOSE_PARTS: [&[u8]; 12] = [
    b"mimetype",
    b"content.xml",
    b"styles.xml",
    b"meta.xml",
    b"settings.xml",
    b"manifest.rdf",
    b"META-INF/",
    b"Thumbnails/",
    b"Pictures/",
    b"Configurations2/",
    b"OEBPS/",
    b"OPS/",
];
pub(super) const LOCAL_HEADER: &[u8] = b"PK\x03\x04";
/// Length of a local header; the entry's name follows.
const LOCAL_HEADER_BYTES: usize = 30;

/// What the archive that begins with `head` is; `named` breaks ties.
pub(super) fn kind_of(head: &[u8], named: Option<Format>) -> Kind {
    let office =
        named.filter(|format| matches!(format, Format::Docx | Format::Pptx | Format::Xlsx));
    let loose = named.filter(|format| {
        matches!(
            format,
            Format::Odt | Format::Ods | Format::Odp | Format::Epub
        )
    });
    let mut rest = head;
    let mut first = true;
    while let Some(at) = find(rest, LOCAL_HEADER) {
        let entry = rest.get(at..).unwrap_or_default();
        rest = entry.get(LOCAL_HEADER.len()..).unwrap_or_default();
        let name = entry.get(LOCAL_HEADER_BYTES..).unwrap_or_default();
        if let Some((_, kind)) = PARTS.iter().find(|(part, _)| name.starts_with(part)) {
            return *kind;
        }
        let begins = |parts: &[&[u8]]| parts.iter().any(|part| name.starts_with(part));
        // What follows may be the parts of a document that was packed into this archive.
        if std::mem::take(&mut first) && !name.is_empty() && !begins(&NEUTRAL_PARTS) {
            let is_loose = begins(&LOOSE_PARTS) || named == Some(Format::Epub);
            return Kind::Is(loose.filter(|_| is_loose).unwrap_or(Format::Zip));
        }
    }
    Kind::Is(office.or(loose).unwrap_or(Format::Zip))
}
