//! Small documents, part by part.

use std::io::{Cursor, Write as _};

use shared::contract::Locator;
use shared::format::Format;

use super::*;
use crate::extract::extract_alone;

const NAMESPACES: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";

/// A document of these parts.
fn packed(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(*name, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn document(body: &str) -> String {
    format!("<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>")
}

fn paragraph(style: &str, text: &str) -> String {
    let style = match style {
        "" => String::new(),
        style => format!("<w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr>"),
    };
    format!("<w:p>{style}<w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn extract(parts: &[(&str, &str)]) -> Result<Extraction, ExtractError> {
    extract_alone(Format::Docx, "a.docx", &packed(parts))
}

#[test]
fn headings_tables_and_tracked_changes() {
    let cell = |text: &str| format!("<w:tc>{}</w:tc>", paragraph("", text));
    let row = |left: &str, right: &str| format!("<w:tr>{}{}</w:tr>", cell(left), cell(right));
    let body = [
        paragraph("Heading1", "Pumps"),
        "<w:p><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r>\
         </w:ins><w:r><w:t xml:space=\"preserve\"> text</w:t></w:r></w:p>"
            .to_owned(),
        format!(
            "<w:tbl>{}{}</w:tbl>",
            row("part", "price"),
            row("valve", "1,050.00")
        ),
    ];
    let styles = format!(
        "<w:styles {NAMESPACES}><w:style w:type=\"paragraph\" w:styleId=\"Heading1\">\
         <w:name w:val=\"heading 1\"/></w:style></w:styles>"
    );
    let extraction = extract(&[
        ("word/document.xml", &document(&body.concat())),
        ("word/styles.xml", &styles),
        (
            "word/footer1.xml",
            &format!("<w:ftr {NAMESPACES}>{}</w:ftr>", paragraph("", "Internal")),
        ),
        (
            "docProps/core.xml",
            "<cp:coreProperties><dc:title>Price list</dc:title></cp:coreProperties>",
        ),
    ])
    .unwrap();
    assert_eq!(extraction.title.as_deref(), Some("Price list"));
    let page = &extraction.pages[0];
    assert!(
        page.markdown.starts_with("# Pumps\n\nnew text\n\n| "),
        "{}",
        page.markdown
    );
    assert!(
        page.markdown.contains("| valve | 1,050.00 |"),
        "{}",
        page.markdown
    );
    assert!(
        page.markdown.ends_with("\n\nPage footer: Internal\n"),
        "{}",
        page.markdown
    );
    let heading = "Pumps".to_owned();
    assert_eq!(page.record.locator, Locator::Section { heading });
}

#[test]
fn every_refusal_is_in_our_words() {
    #[track_caller]
    fn check(parts: &[(&str, &str)], says: &str) {
        let error = extract(parts).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    check(&[("other.txt", "x")], "`word/document.xml` is not in it");
    check(
        &[("word/document.xml", "<secret/>")],
        "`word/document.xml` cannot be read",
    );
    let deep = "<w:sdt><w:sdtContent>".repeat(400);
    check(
        &[("word/document.xml", &document(&deep))],
        "nested too deep",
    );
    let error = extract_alone(Format::Docx, "a.docx", b"PK\x03\x04").unwrap_err();
    assert!(error.to_string().contains("no Word document"), "{error}");
}
