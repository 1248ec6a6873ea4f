//! Small books.

use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::extract::extract_alone;

const CONTAINER: &str = "<container xmlns=\"urn:oasis:names:tc:opendocument:xmlns:container\" version=\"1.0\">\
    <rootfiles><rootfile full-path=\"OPS/book.opf\" media-type=\"application/oebps-package+xml\"/></rootfiles></container>";
const PACKAGE: &str = "<package xmlns=\"http://www.idpf.org/2007/opf\" version=\"3.0\" unique-identifier=\"id\">\
    <metadata xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:identifier id=\"id\">x</dc:identifier>\
    <dc:title>The Mill</dc:title><dc:creator>Ann Archer</dc:creator><dc:language>en</dc:language></metadata>\
    <manifest><item id=\"nav\" href=\"nav.xhtml\" media-type=\"application/xhtml+xml\" properties=\"nav\"/>\
    <item id=\"cover\" href=\"cover.xhtml\" media-type=\"application/xhtml+xml\"/>\
    <item id=\"one\" href=\"text/ch%201.xhtml\" media-type=\"application/xhtml+xml\"/>\
    <item id=\"two\" href=\"text/two.xhtml\" media-type=\"application/xhtml+xml\"/></manifest>\
    <spine><itemref idref=\"cover\"/><itemref idref=\"one\"/><itemref idref=\"two\"/></spine></package>";
const NAV: &str = "<html xmlns=\"http://www.w3.org/1999/xhtml\" xmlns:epub=\"http://www.idpf.org/2007/ops\"><body>\
    <nav epub:type=\"toc\"><ol><li><a href=\"text/ch%201.xhtml\">The river</a></li></ol></nav></body></html>";
const COVER: &str = "<html><head><title/></head><body><img src=\"c.png\" alt=\"\"/></body></html>";
const ONE: &str = "<html xmlns:epub=\"x\"><head><title>The Mill</title><script src=\"a.js\"/></head><body>\
    <p>Water turns the wheel.<a epub:type=\"noteref\" href=\"#n1\">1</a></p><img src=\"w.png\" alt=\"A wheel\"/>\
    <aside id=\"n1\" epub:type=\"footnote\">Since 1804.</aside></body></html>";
const TWO: &str = "<html><head><title>The Mill</title></head><body><h2>The miller</h2><p>He sleeps.</p></body></html>";

fn book(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let standard = [
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", CONTAINER),
        ("OPS/book.opf", PACKAGE),
        ("OPS/nav.xhtml", NAV),
    ];
    for (name, content) in standard.iter().chain(parts) {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn read(parts: &[(&str, &str)]) -> Result<Extraction, ExtractError> {
    extract_alone(Format::Epub, "mill.epub", &book(parts))
}

fn names(extraction: &Extraction) -> Vec<String> {
    let places = extraction
        .pages
        .iter()
        .map(|page| page.record.locator.short());
    places.map(|place| place.unwrap()).collect()
}

const ALL: [(&str, &str); 3] = [
    ("OPS/cover.xhtml", COVER),
    ("OPS/text/ch 1.xhtml", ONE),
    ("OPS/text/two.xhtml", TWO),
];

#[test]
#[cfg_attr(
    feature = "epub",
    ignore = "the crate `epub` reads the tables of contents of EPUB 2 alone"
)]
fn chapters_are_pages_in_reading_order() {
    let extraction = read(&ALL).unwrap();
    assert_eq!(extraction.title.as_deref(), Some("The Mill"));
    assert_eq!(names(&extraction), ["cover", "The river", "The miller"]);
    let texts: Vec<_> = extraction
        .pages
        .iter()
        .map(|page| page.markdown.as_str())
        .collect();
    assert_eq!(
        texts[0],
        "Title: The Mill\n\nAuthor: Ann Archer\n\nLanguage: en\n\n"
    );
    assert!(
        texts[1].starts_with("# The river\n\nWater turns the wheel."),
        "{}",
        texts[1]
    );
    assert!(
        texts[1].contains("A wheel") && texts[1].contains("Since 1804."),
        "{}",
        texts[1]
    );
    assert_eq!(texts[2], "## The miller\n\nHe sleeps.\n");
    let errors: Vec<_> = extraction
        .pages
        .iter()
        .filter_map(|p| p.record.error.as_ref())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn a_chapter_that_is_not_there_is_missing() {
    let extraction = read(&ALL[..2]).unwrap();
    assert_eq!(extraction.pages.len(), 3);
    let record = &extraction.pages[2].record;
    assert_eq!(record.method, ReadMethod::Missing);
    assert!(
        record.error.as_ref().unwrap().contains("not in the file"),
        "{record:?}"
    );
    assert!(matches!(read(&[]), Err(ExtractError::Damaged { .. })));
}

#[test]
fn copy_protection_is_told_and_garbled_fonts_are_not() {
    let encrypted = |way: &str, path: &str| {
        format!(
            "<encryption><EncryptedData><EncryptionMethod Algorithm=\"{way}\"/><CipherData>\
             <CipherReference URI=\"{path}\"/></CipherData></EncryptedData></encryption>"
        )
    };
    let aes = "http://www.w3.org/2001/04/xmlenc#aes128-cbc";
    let with = |xml: &str| {
        let mut parts = ALL.to_vec();
        parts.push(("META-INF/encryption.xml", xml));
        read(&parts)
    };
    let font = encrypted("http://www.idpf.org/2008/embedding", "OPS/a.ttf");
    assert_eq!(with(&font), read(&ALL));
    let one = with(&encrypted(aes, "OPS/text/two.xhtml")).unwrap();
    assert!(
        one.pages[2]
            .record
            .error
            .as_ref()
            .unwrap()
            .contains("copy protection")
    );
    let all = encrypted(aes, "OPS/cover.xhtml")
        + &encrypted(aes, "OPS/text/ch 1.xhtml")
        + &encrypted(aes, "OPS/text/two.xhtml");
    let refused = with(&format!("<all>{all}</all>")).unwrap_err();
    assert!(refused.to_string().contains("DRM"), "{refused}");
}

#[test]
fn damaged_books_end_in_an_error_or_in_pages() {
    let whole = book(&ALL);
    for cut in (0..whole.len()).step_by(97) {
        let result = extract_alone(Format::Epub, "mill.epub", &whole[..cut]);
        assert!(
            matches!(result, Err(ExtractError::Damaged { .. })),
            "{cut}: {result:?}"
        );
    }
    for at in (0..whole.len()).step_by(13) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        if let Ok(extraction) = extract_alone(Format::Epub, "mill.epub", &bytes) {
            assert!(!extraction.pages.is_empty());
        }
    }
}
