//! Names and first bytes, and what they are taken for.

use super::*;

#[track_caller]
fn check(name: &str, head: &[u8], expect: Option<Format>) {
    assert_eq!(detect(name, head).ok(), expect, "{name}");
}

fn refused(name: &str, head: &[u8]) -> &'static str {
    detect(name, head).unwrap_err().kind()
}

#[test]
fn content_decides_before_the_extension() {
    check("a.md", b"# Title", Some(Format::Markdown));
    check("A.MARKDOWN", b"# Title", Some(Format::Markdown));
    check("notes", b"plain words", Some(Format::Text));
    check("notes.log", b"plain words", Some(Format::Text));
    check("notes.txt", b"%PDF-1.7\n", Some(Format::Pdf));
    check("junk.bin", b"garbage before %PDF-1.4", Some(Format::Pdf));
    check(
        "about.md",
        b"A file begins with %PDF-1.4",
        Some(Format::Markdown),
    );
    check("broken.pdf", b"\x00\x01", Some(Format::Pdf));
    check("empty.txt", b"", Some(Format::Text));
    check("empty.docx", b"", Some(Format::Text));
    check("empty.json", b"", Some(Format::Json));
    check("umlaut.txt", b"gr\xfc\xdfe", Some(Format::Text));
    check("utf16.txt", b"\xff\xfea\0b\0", Some(Format::Text));
    check("utf16-nomark.txt", b"a\0b\0c\0d\0", Some(Format::Text));
    check("utf32.txt", b"\xff\xfe\0\0a\0\0\0", Some(Format::Text));
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
fn documents_in_archives_are_told_by_their_parts() {
    let types = "[Content_Types].xml";
    let word = zip(&[types, "_rels/.rels", "word/document.xml"]);
    check("a.docx", &word, Some(Format::Docx));
    check("a.zip", &word, Some(Format::Docx));
    check("a.txt", &word, Some(Format::Docx));
    check(
        "a.csv",
        &zip(&[types, "xl/workbook.xml"]),
        Some(Format::Xlsx),
    );
    check(
        "a.docx",
        &zip(&[types, "xl/workbook.xml"]),
        Some(Format::Xlsx),
    );
    check("a", &zip(&["ppt/presentation.xml"]), Some(Format::Pptx));
    // The parts come too late to be seen: the extension breaks the tie.
    let late = zip(&[types, "docProps/core.xml"]);
    check("a.docx", &late, Some(Format::Docx));
    check("a.PPTX", &late, Some(Format::Pptx));
    check("a.xlsm", &late, Some(Format::Xlsx));
    check("a.zip", &late, Some(Format::Zip));
    check("a.docm", b"PK\x03\x04....", Some(Format::Docx));

    let marked = |kind: &str| {
        let first = format!("mimetypeapplication/{kind}");
        zip(&[&first, "content.xml"])
    };
    let open = "vnd.oasis.opendocument";
    check("a", &marked(&format!("{open}.text")), Some(Format::Odt));
    check(
        "a",
        &marked(&format!("{open}.text-template")),
        Some(Format::Odt),
    );
    check(
        "a",
        &marked(&format!("{open}.spreadsheet")),
        Some(Format::Ods),
    );
    check(
        "a",
        &marked(&format!("{open}.presentation")),
        Some(Format::Odp),
    );
    check("a", &marked("epub+zip"), Some(Format::Epub));
    check("a.ods", &zip(&["content.xml"]), Some(Format::Ods));
    check("a.zip", &zip(&["content.xml"]), Some(Format::Zip));
    check("a.epub", &zip(&["OEBPS/1.xhtml"]), Some(Format::Epub));
    check(
        "a.zip",
        &zip(&["META-INF/container.xml"]),
        Some(Format::Epub),
    );

    check("a.docx", &zip(&["holiday.jpg"]), Some(Format::Zip));
    check(
        "a.zip",
        &zip(&["plan.docx", types, "word/document.xml"]),
        Some(Format::Zip),
    );
    check("empty.zip", b"PK\x05\x06", Some(Format::Zip));
    assert_eq!(
        refused("a.jar", &zip(&["META-INF/MANIFEST.MF"])),
        "a program archive"
    );
    assert_eq!(
        refused("a.vsdx", &zip(&[types, "visio/document.xml"])),
        "a Visio drawing"
    );
}

/// The beginning of a compound file with a stream of this name.
fn compound(stream: &str) -> Vec<u8> {
    let name = stream.encode_utf16().chain([0]).flat_map(u16::to_le_bytes);
    [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec(), name.collect()].concat()
}

#[test]
fn compound_files_are_told_by_their_streams_then_by_their_names() {
    let nothing = compound("Root Entry");
    for (name, expect) in [
        ("a.doc", Format::Doc),
        ("a.xls", Format::Xls),
        ("a.ppt", Format::Ppt),
        ("a.msg", Format::Msg),
        ("a.docx", Format::Docx),
        ("a.xlsx", Format::Xlsx),
        ("a", Format::Doc),
        ("a.txt", Format::Doc),
    ] {
        check(name, &nothing, Some(expect));
    }
    check("a.doc", &compound("Workbook"), Some(Format::Xls));
    check("a.doc", &compound("Book"), Some(Format::Xls));
    check("a.xls", &compound("WordDocument"), Some(Format::Doc));
    check("a", &compound("PowerPoint Document"), Some(Format::Ppt));
    check(
        "a.bin",
        &compound("__properties_version1.0"),
        Some(Format::Msg),
    );
    check("a.xlsx", &compound("EncryptedPackage"), Some(Format::Xlsx));
    check("a.xls", &compound("EncryptedPackage"), Some(Format::Xlsx));
    check("a", &compound("EncryptedPackage"), Some(Format::Docx));
    let both = [compound("WordDocument"), compound("Workbook")].concat();
    check("a.doc", &both, Some(Format::Doc));
    check("a.xls", &both, Some(Format::Xls));
    assert_eq!(
        refused("a.vsd", &compound("VisioDocument")),
        "a Visio drawing"
    );
}

#[test]
fn what_cannot_be_what_it_is_named_is_left_to_the_reader_that_says_so() {
    check("a.docx", b"not at all", Some(Format::Docx));
    check("a.xls", b"file not found", Some(Format::Xls));
    check("a.msg", b"\0\x01\x02", Some(Format::Msg));
    check("a.png", b"\0\x01\x02", Some(Format::Image));
    // What programs write under such names.
    check("a.xls", b"<html><table>", Some(Format::Html));
    check("a.xls", b"name\tprice\nvalve\t3\n", Some(Format::Csv));
    check(
        "a.xls",
        b"<?xml version=\"1.0\"?><Workbook>",
        Some(Format::Xml),
    );
    check("a.doc", b"{\\rtf1 words}", Some(Format::Rtf));
    check("a.doc", b"plain words", Some(Format::Text));
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
    let page = b"<?xml version=\"1.0\"?>\n<html xmlns=\"x\">";
    check("page.xml", page, Some(Format::Html));
    check(
        "readme.md",
        b"<h1 align=\"center\">Name</h1>",
        Some(Format::Markdown),
    );
    check("page.md", b"<!DOCTYPE html><html>", Some(Format::Html));
    check("page.php", b"<html><?php", Some(Format::Code));
    check("notes.txt", b"<htmlish> is no tag", Some(Format::Text));
    let wide: Vec<u8> = "<html>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(
        "page.txt",
        &[b"\xff\xfe".to_vec(), wide].concat(),
        Some(Format::Html),
    );
}

#[test]
fn text_that_says_what_it_is_needs_no_extension() {
    for name in ["a", "a.txt", "a.log"] {
        check(name, b"<?xml version=\"1.0\"?>\n<book>", Some(Format::Xml));
        check(name, b"<rss version=\"2.0\">", Some(Format::Xml));
        check(name, b"<svg width=\"1\">", Some(Format::Xml));
        check(name, b"{\"id\": 1,\n \"name\": 2}", Some(Format::Json));
        check(name, b"[\n {\"id\": 1}]", Some(Format::Json));
        check(name, b"[1] Smith, 2010", Some(Format::Text));
        check(name, b"{note} \"words\"", Some(Format::Text));
        check(name, b"{\"id\": 1}\n{\"id\": 2}\n", Some(Format::Jsonl));
        check(
            name,
            b"{\"cells\": [{\"cell_type\": \"code\"",
            Some(Format::Notebook),
        );
        check(
            name,
            b"WEBVTT\n\n00:01.000 --> 00:02.000\nHi",
            Some(Format::Subtitles),
        );
        check(
            name,
            b"1\n00:00:01,000 --> 00:00:02,000\nHi",
            Some(Format::Subtitles),
        );
        check(name, b"1\nof 3 --> next", Some(Format::Text));
        let post = b"From ann@x.example Fri Dec 16 17:04:16 2022\nSubject: x\n";
        check(name, post, Some(Format::Mbox));
        check(
            name,
            b"From here on Fri at 17:04 it is\nquiet: so",
            Some(Format::Text),
        );
        let mail = b"Received: by x\n\tfor y\nFrom: ann@x.example\nSubject: Plan\n\nHello";
        check(name, mail, Some(Format::Eml));
        check(
            name,
            b"From: Ann\nTo: Bob\nSubject: memo\n\nHello",
            Some(Format::Text),
        );
        check(
            name,
            b"% main\n\\documentclass[a4]{book}\n",
            Some(Format::Tex),
        );
        check(name, b"#!/bin/sh\necho\n", Some(Format::Code));
        check(name, b"{\\rtf1\\ansi words}", Some(Format::Rtf));
    }
}

#[test]
fn other_text_is_told_by_its_extension() {
    check("a.csv", b"name;price\n", Some(Format::Csv));
    check("a.TSV", b"name\tprice\n", Some(Format::Csv));
    check("a.txt", b"name;price\n", Some(Format::Text));
    check("a.csv", &[0; 64], None);
    check("a.json", b"[1, 2]", Some(Format::Json));
    check("a.json", b"no json", Some(Format::Json));
    check("a.json", b"{\"a\":1}\n{\"a\":2}", Some(Format::Jsonl));
    check("a.ipynb", b"{ }", Some(Format::Notebook));
    check("a.xml", b"<book>", Some(Format::Xml));
    check("a.svg", b"<!-- x --><svg>", Some(Format::Xml));
    check("a.eml", b"no header", Some(Format::Eml));
    check("a.mhtml", b"From: <Saved by Blink>\n", Some(Format::Eml));
    check("a.mbox", b"From x\n", Some(Format::Mbox));
    check("a.adoc", b"= Title", Some(Format::Asciidoc));
    check(
        "key.asc",
        b"-----BEGIN PGP SIGNATURE-----",
        Some(Format::Text),
    );
    check("a.rst", b"Title\n=====", Some(Format::Rst));
    check("a.tex", b"\\section{x}", Some(Format::Tex));
    check("a.srt", b"words", Some(Format::Subtitles));
    check("a.rs", b"fn main() {}", Some(Format::Code));
    check("a.yaml", b"a: 1", Some(Format::Code));
    check("a.py", b"{\"id\": 1}", Some(Format::Code));
    check("src/Dockerfile", b"FROM x", Some(Format::Code));
    check("Makefile", b"all:", Some(Format::Code));
    check("CMakeLists.txt", b"project(x)", Some(Format::Code));
}

#[test]
fn pictures_are_told_by_their_first_bytes() {
    for head in [
        b"\x89PNG\r\n\x1a\n".as_slice(),
        b"\xff\xd8\xff\xe0\0\x10JFIF",
        b"GIF89a",
        b"II*\0\x08\0\0\0",
        b"MM\0*\0\0\0\x08",
        b"RIFF\x10\0\0\0WEBPVP8 ",
        b"BM\x10\0\0\0\0\0\0\0\x36\0",
    ] {
        check("scan.dat", head, Some(Format::Image));
    }
    check("bm.txt", b"BMW drives past the house", Some(Format::Text));
    check("riff.txt", b"RIFF and the rest of it", Some(Format::Text));
}

#[test]
fn other_binary_files_are_refused_by_their_kind() {
    for (head, kind) in [
        (b"\x7fELF\x02\x01".as_slice(), "a program"),
        (b"MZ\x90\0\x03\0", "a program"),
        (b"\x1f\x8b\x08\0", "gzip data"),
        (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
        (b"Rar!\x1a\x07\0", "a RAR archive"),
        (b"\0\0\0\x20ftypisom", "a video"),
        (b"\0\0\0\x20ftypheic", "a HEIC picture"),
        (b"RIFF\x10\0\0\0AVI LIST", "a video"),
        (b"ID3\x03\0\0", "a sound recording"),
        (b"SQLite format 3\0", "a database"),
    ] {
        assert_eq!(refused("a.txt", head), kind);
    }
    let tar = [vec![b'a'; 257], b"ustar\0".to_vec()].concat();
    assert_eq!(refused("a.tar", &tar), "a tar archive");
}

#[test]
fn a_name_that_promises_something_else_is_told() {
    #[track_caller]
    fn check(name: &str, format: Format, expect: Option<&str>) {
        assert_eq!(disagreement(name, format).as_deref(), expect, "{name}");
    }
    check("a.txt", Format::Pdf, Some("named .txt but is a PDF"));
    check("a.doc", Format::Rtf, Some("named .doc but is RTF"));
    check(
        "Makefile",
        Format::Pdf,
        Some("its name says otherwise, but it is a PDF"),
    );
    check("a.pdf", Format::Pdf, None);
    check("a", Format::Pdf, None);
    check("a.data", Format::Json, None);
    check("a.xml", Format::Html, None);
    check("a.json", Format::Jsonl, None);
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
    let error = detect("a.mp4", b"\0\0\0\x20ftypisom")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("a.mp4") && error.contains("a video"),
        "{error}"
    );
    assert!(
        error.contains("convert it") && error.contains("PowerPoint"),
        "{error}"
    );
}
