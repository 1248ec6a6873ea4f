//! What an Office document is, by its content.

use std::io::{Cursor, Read as _};

use shared::format::Format;
use zip::ZipArchive;

/// First bytes of a compound file and of a ZIP archive.
const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
const ZIP: &[u8] = b"PK\x03\x04";
/// A list of parts is no longer than this.
const MOST_BYTES: u64 = 4 << 20;
/// So much of a file shows what it is.
const HEAD_BYTES: usize = 4 * 1024;

/// Main parts of a package, by their content types, and its format.
const MAIN_PARTS: [(&str, Format); 7] = [
    ("wordprocessingml.document.main+xml", Format::Docx),
    ("wordprocessingml.template.main+xml", Format::Docx),
    ("ms-word.", Format::Docx),
    ("spreadsheetml.sheet.main+xml", Format::Xlsx),
    ("spreadsheetml.template.main+xml", Format::Xlsx),
    ("ms-excel.", Format::Xlsx),
    ("presentationml.", Format::Pptx),
];

/// Whether the file is a compound file.
pub(in crate::extract) fn is_compound(bytes: &[u8]) -> bool {
    bytes.starts_with(COMPOUND)
}

/// Whether a document of `format` lies in a compound file.
pub(in crate::extract) fn holds(format: Format, bytes: &[u8]) -> bool {
    let office = matches!(
        format,
        Format::Docx
            | Format::Pptx
            | Format::Xlsx
            | Format::Doc
            | Format::Ppt
            | Format::Xls
            | Format::Msg
    );
    office && is_compound(bytes)
}

/// The format of a document that was taken for `declared`. Only formats of Office are looked at:
/// their names are often wrong, because Office opens them all the same.
pub(in crate::extract) fn real_format(declared: Format, bytes: &[u8]) -> Format {
    match declared {
        Format::Docx | Format::Pptx | Format::Xlsx | Format::Doc | Format::Ppt | Format::Xls
            if bytes.starts_with(ZIP) =>
        {
            package_format(bytes).unwrap_or(declared)
        }
        Format::Xls | Format::Doc if !is_compound(bytes) => {
            text_format(declared, bytes).unwrap_or(declared)
        }
        Format::Xml if is_sheet_xml(bytes) => Format::Xls,
        declared => declared,
    }
}

/// Whether the file is a workbook as XML, of Excel 2002 and 2003.
pub(in crate::extract) fn is_sheet_xml(bytes: &[u8]) -> bool {
    let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
    let head: Vec<u8> = head.iter().copied().filter(|byte| *byte != 0).collect();
    let text = String::from_utf8_lossy(&head);
    let start = text.trim_start_matches(|c: char| !c.is_ascii() || c.is_whitespace());
    start.starts_with('<')
        && text.contains("urn:schemas-microsoft-com:office:spreadsheet")
        && text.contains("Workbook")
}

/// The format of an Office document that is a ZIP archive.
pub(super) fn package_format(bytes: &[u8]) -> Option<Format> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    if let Ok(part) = archive.by_name("mimetype") {
        let mut kind = String::new();
        part.take(128).read_to_string(&mut kind).ok()?;
        return match kind.trim() {
            "application/vnd.oasis.opendocument.text" => Some(Format::Odt),
            "application/vnd.oasis.opendocument.spreadsheet" => Some(Format::Ods),
            "application/vnd.oasis.opendocument.presentation" => Some(Format::Odp),
            "application/epub+zip" => Some(Format::Epub),
            _ => None,
        };
    }
    let part = archive.by_name("[Content_Types].xml").ok()?;
    let mut types = Vec::new();
    part.take(MOST_BYTES).read_to_end(&mut types).ok()?;
    let types = String::from_utf8_lossy(&types);
    // `Default` tells of files that may lie within, `Override` of the parts that do.
    types.split("<Override").skip(1).find_map(|part| {
        let kind = part.split('>').next().unwrap_or_default();
        let main = kind.contains("main");
        let found = MAIN_PARTS.iter().find(|(main, _)| kind.contains(main));
        found.filter(|_| main).map(|(_, format)| *format)
    })
}

/// The format of text that is named like a document of Office: programs export tables and pages
/// so, because Office opens them.
fn text_format(declared: Format, bytes: &[u8]) -> Option<Format> {
    let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
    let text = String::from_utf8_lossy(head).to_lowercase();
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with("{\\rtf") {
        return Some(Format::Rtf);
    }
    if start.starts_with('<') {
        let is_page = ["<html", "<table", "<!doctype html", "<body", "<meta"]
            .iter()
            .any(|tag| text.contains(tag));
        let is_sheet = text.contains("urn:schemas-microsoft-com:office:spreadsheet");
        return (is_page && !is_sheet).then_some(Format::Html);
    }
    let is_text = !head.is_empty() && !head.contains(&0);
    (declared == Format::Xls && is_text && text.contains(['\t', ';', ','])).then_some(Format::Csv)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_under_a_name_of_office_is_told_by_its_beginning() {
        #[track_caller]
        fn check(declared: Format, content: &str, expect: Format) {
            assert_eq!(
                real_format(declared, content.as_bytes()),
                expect,
                "{content}"
            );
        }
        check(Format::Xls, "<html><table><tr><td>1", Format::Html);
        check(Format::Xls, "\u{feff}<table border=1>", Format::Html);
        check(Format::Xls, "name\tprice\nbolt\t3\n", Format::Csv);
        check(Format::Doc, "{\\rtf1 text}", Format::Rtf);
        check(
            Format::Xls,
            "<?xml version=\"1.0\"?><Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\">",
            Format::Xls,
        );
        check(Format::Doc, "words, words", Format::Doc);
        check(Format::Xls, "", Format::Xls);
        check(Format::Csv, "<html>", Format::Csv);
    }
}
