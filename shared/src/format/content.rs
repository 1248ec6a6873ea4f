//! What a file's first bytes say about it.

use super::wide::{utf16_without_mark, utf32_without_mark};
use super::{Format, archive, compound, text};

/// What the content is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A format that is read.
    Is(Format),
    /// Something known that is not read.
    Other(&'static str),
    /// Text, or nothing that is known.
    Unclear,
}

/// Beginnings of binary files.
const MAGIC: [(&[u8], Kind); 40] = [
    (b"\x89PNG", Kind::Is(Format::Image)),
    (b"\xff\xd8\xff", Kind::Is(Format::Image)),
    (b"GIF8", Kind::Is(Format::Image)),
    (b"II*\0", Kind::Is(Format::Image)),
    (b"MM\0*", Kind::Is(Format::Image)),
    // Excel 2 to 4, before there were compound files.
    (b"\x09\x00\x04\x00", Kind::Is(Format::Xls)),
    (b"\x09\x02\x06\x00", Kind::Is(Format::Xls)),
    (b"\x09\x04\x06\x00", Kind::Is(Format::Xls)),
    (b"\xdb\xa5-\0", Kind::Is(Format::Doc)),
    (b"\x1f\x8b", Kind::Other("gzip data")),
    (b"BZh9", Kind::Other("bzip2 data")),
    (b"\xfd7zXZ", Kind::Other("xz data")),
    (b"\x28\xb5\x2f\xfd", Kind::Other("zstd data")),
    (b"7z\xbc\xaf\x27\x1c", Kind::Other("a 7-Zip archive")),
    (b"Rar!\x1a\x07", Kind::Other("a RAR archive")),
    (b"MSCF\0\0\0\0", Kind::Other("a cabinet archive")),
    (b"\x7fELF", Kind::Other("a program")),
    (b"\xfe\xed\xfa\xce", Kind::Other("a program")),
    (b"\xfe\xed\xfa\xcf", Kind::Other("a program")),
    (b"\xcf\xfa\xed\xfe", Kind::Other("a program")),
    (b"\xca\xfe\xba\xbe", Kind::Other("a program")),
    (b"\0asm", Kind::Other("a program")),
    (b"\x1a\x45\xdf\xa3", Kind::Other("a video")),
    (b"FLV\x01", Kind::Other("a video")),
    (b"\0\0\x01\xba", Kind::Other("a video")),
    (b"\0\0\x01\xb3", Kind::Other("a video")),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", Kind::Other("a video")),
    (b"OggS\0", Kind::Other("a sound recording")),
    (b"fLaC\0", Kind::Other("a sound recording")),
    (b"ID3\x03\0", Kind::Other("a sound recording")),
    (b"ID3\x04\0", Kind::Other("a sound recording")),
    (b"MThd\0\0", Kind::Other("a sound recording")),
    (b"SQLite format 3\0", Kind::Other("a database")),
    (b"PAR1", Kind::Other("a Parquet table")),
    (b"\x89HDF\r\n\x1a\n", Kind::Other("an HDF5 data set")),
    (b"8BPS\0", Kind::Other("a Photoshop picture")),
    (b"OTTO\0", Kind::Other("a font")),
    (b"wOF", Kind::Other("a font")),
    (b"AT&TFORM", Kind::Other("a DjVu document")),
    (b"%!PS", Kind::Other("PostScript")),
];
/// What the major brand of an ISO media file says: the rest are videos.
const PICTURE_BRANDS: [&[u8]; 5] = [b"heic", b"heix", b"mif1", b"avif", b"crx "];

/// What `head`, the first bytes of a file, is; `named`, what its name says, breaks ties.
pub(super) fn kind_of(head: &[u8], named: Option<Format>) -> Kind {
    // Real PDFs may carry junk before the header; readers look for it in the first 1,024 bytes.
    let early = head.get(..1024).unwrap_or(head);
    let may_quote = named.is_some_and(|named| named.is_text() && named != Format::Text);
    let pdf_at = find(early, b"%PDF-").filter(|at| *at == 0 || !may_quote);
    if pdf_at.is_some() {
        Kind::Is(Format::Pdf)
    } else if head.starts_with(archive::LOCAL_HEADER) {
        archive::kind_of(head, named)
    } else if head.starts_with(b"PK\x05\x06") {
        Kind::Is(Format::Zip)
    } else if head.starts_with(compound::MAGIC) {
        compound::kind_of(head, named)
    } else if head.trim_ascii_start().starts_with(b"{\\rtf") {
        Kind::Is(Format::Rtf)
    } else if text::is_web_page(head) && named != Some(Format::Code) {
        Kind::Is(Format::Html)
    } else {
        media(head)
    }
}

fn media(head: &[u8]) -> Kind {
    let tag = |at: usize| head.get(at..at + 4).unwrap_or_default();
    if let Some((_, kind)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return *kind;
    }
    match (tag(0), tag(4), tag(8)) {
        (b"RIFF", _, b"WEBP") => Kind::Is(Format::Image),
        (b"RIFF", _, b"AVI ") => Kind::Other("a video"),
        (b"RIFF", _, b"WAVE") | (_, b"ftyp", b"M4A ") => Kind::Other("a sound recording"),
        // Size, four zero bytes.
        ([b'B', b'M', ..], _, _) if head.get(6..10) == Some(&[0; 4]) => Kind::Is(Format::Image),
        ([b'M', b'Z', ..], _, _) if head.contains(&0) => Kind::Other("a program"),
        (_, b"ftyp", brand) if PICTURE_BRANDS.contains(&brand) => Kind::Other("a HEIC picture"),
        (_, b"ftyp" | b"mdat" | b"moov", _) => Kind::Other("a video"),
        (_, b"Stan", b"dard") => Kind::Other("a database"),
        _ if head.get(257..262) == Some(b"ustar") => Kind::Other("a tar archive"),
        ([0xff, 0xfb | 0xf3 | 0xf2, ..], _, _) if head.contains(&0) => {
            Kind::Other("a sound recording")
        }
        _ => Kind::Unclear,
    }
}

/// What binary kind `head` is; `None` when it can be text in some encoding.
pub(super) fn binary_kind(head: &[u8]) -> Option<&'static str> {
    let marked = head.starts_with(b"\xff\xfe")
        || head.starts_with(b"\xfe\xff")
        || head.starts_with(b"\0\0\xfe\xff");
    if marked || utf16_without_mark(head).is_some() || utf32_without_mark(head).is_some() {
        return None;
    }
    // A stray NUL or control byte in text is cleaned by the parser; one byte in fifty is not text
    // any more. Random bytes have one such in ten. Escape stands in texts of terminals and in
    // ISO-2022.
    let is_control = |byte: &&u8| matches!(byte, 0..=8 | 14..=26 | 28..=31);
    let controls = head.iter().filter(is_control).count();
    (controls * 50 > head.len()).then_some("binary data")
}

/// Where `needle` begins in `haystack`.
pub(super) fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}
