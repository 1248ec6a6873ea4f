//! A Word document from a text: what a person would have typed, with styles, a list, a table and
//! a header.

use std::io::{Cursor, Write as _};

use anyhow::Result;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const MAIN: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const DECLARATION: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#;

/// The document that `source` describes: `title:` and `header:` lines, then `#` headings, `-`
/// items, `|` rows, and paragraphs.
///
/// # Errors
/// When the archive cannot be written.
pub(super) fn document(source: &str) -> Result<Vec<u8>> {
    let field = |name: &str| {
        let line = source.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim()
    };
    let text = source.split_once("\n\n").map_or("", |(_, text)| text);
    let parts = [
        ("[Content_Types].xml", content_types()),
        ("_rels/.rels", package_relations()),
        ("word/document.xml", body(text)),
        ("word/_rels/document.xml.rels", document_relations()),
        ("word/styles.xml", styles()),
        ("word/numbering.xml", numbering()),
        ("word/header1.xml", header(field("header:"))),
        ("docProps/core.xml", properties(field("title:"))),
    ];
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    // Stored, so that the bytes do not change with the compressor's version.
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, text) in parts {
        archive.start_file(name, options)?;
        archive.write_all(format!("{DECLARATION}\n{text}\n").as_bytes())?;
    }
    Ok(archive.finish()?.into_inner())
}

fn body(text: &str) -> String {
    let mut out = format!(r#"<w:document xmlns:w="{MAIN}" xmlns:r="{OFFICE}"><w:body>"#);
    let mut rows: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.starts_with('|') {
            rows.push(line);
            continue;
        }
        if !rows.is_empty() {
            out.push_str(&table(&std::mem::take(&mut rows)));
        }
        out.push_str(&match line.split_once(' ') {
            Some(("#", title)) => paragraph(r#"<w:pStyle w:val="Heading1"/>"#, title),
            Some(("##", title)) => paragraph(r#"<w:pStyle w:val="Heading2"/>"#, title),
            Some(("-", item)) => paragraph(
                r#"<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>"#,
                item,
            ),
            _ if line.is_empty() => String::new(),
            _ => paragraph("", line),
        });
    }
    out.push_str(r#"<w:sectPr><w:headerReference w:type="default" r:id="rId3"/></w:sectPr>"#);
    out.push_str("</w:body></w:document>");
    out
}

fn paragraph(properties: &str, text: &str) -> String {
    let text = escaped(text);
    format!(
        r#"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>"#
    )
}

fn table(rows: &[&str]) -> String {
    let mut out = "<w:tbl><w:tblPr/>".to_owned();
    for (index, row) in rows.iter().enumerate() {
        out.push_str("<w:tr>");
        if index == 0 {
            out.push_str("<w:trPr><w:tblHeader/></w:trPr>");
        }
        for cell in row.trim_matches('|').split('|') {
            out.push_str("<w:tc>");
            out.push_str(&paragraph("", cell.trim()));
            out.push_str("</w:tc>");
        }
        out.push_str("</w:tr>");
    }
    out.push_str("</w:tbl>");
    out
}

fn header(text: &str) -> String {
    let line = paragraph("", text);
    format!(r#"<w:hdr xmlns:w="{MAIN}">{line}</w:hdr>"#)
}

fn styles() -> String {
    let heading = |level: u8| {
        format!(
            r#"<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/></w:style>"#
        )
    };
    format!(
        r#"<w:styles xmlns:w="{MAIN}">{}{}</w:styles>"#,
        heading(1),
        heading(2)
    )
}

fn numbering() -> String {
    format!(
        r#"<w:numbering xmlns:w="{MAIN}"><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="•"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>"#
    )
}

fn properties(title: &str) -> String {
    let title = escaped(title);
    format!(
        r#"<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></cp:coreProperties>"#
    )
}

fn content_types() -> String {
    let word = "application/vnd.openxmlformats-officedocument.wordprocessingml";
    let part = |name: &str, kind: &str| {
        format!(r#"<Override PartName="{name}" ContentType="{kind}+xml"/>"#)
    };
    [
        format!(r#"<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>"#),
        part("/word/document.xml", &format!("{word}.document.main")),
        part("/word/styles.xml", &format!("{word}.styles")),
        part("/word/numbering.xml", &format!("{word}.numbering")),
        part("/word/header1.xml", &format!("{word}.header")),
        part(
            "/docProps/core.xml",
            "application/vnd.openxmlformats-package.core-properties",
        ),
        "</Types>".to_owned(),
    ]
    .concat()
}

fn package_relations() -> String {
    relations(&[
        (format!("{OFFICE}/officeDocument"), "word/document.xml"),
        (
            format!("{PACKAGE}/relationships/metadata/core-properties"),
            "docProps/core.xml",
        ),
    ])
}

fn document_relations() -> String {
    relations(&[
        (format!("{OFFICE}/styles"), "styles.xml"),
        (format!("{OFFICE}/numbering"), "numbering.xml"),
        (format!("{OFFICE}/header"), "header1.xml"),
    ])
}

fn relations(targets: &[(String, &str)]) -> String {
    let mut out = format!(r#"<Relationships xmlns="{PACKAGE}/relationships">"#);
    for (number, (kind, target)) in (1..).zip(targets) {
        let one = format!(r#"<Relationship Id="rId{number}" Type="{kind}" Target="{target}"/>"#);
        out.push_str(&one);
    }
    out.push_str("</Relationships>");
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
