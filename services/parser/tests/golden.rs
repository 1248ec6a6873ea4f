//! Generated documents through a real child, page by page.

use parser::extract::{Extraction, SecondReader};
use shared::contract::{Locator, ReadMethod};
use shared::format::Format;

use crate::support::{Page, extract, pdf, plan, pool};

/// One page per line group: `locator method | markdown`.
fn shown(extraction: &Extraction) -> String {
    let page = |page: &parser::extract::ExtractedPage| {
        let record = &page.record;
        let place = match &record.locator {
            Locator::PdfPage {
                physical,
                label: Some(label),
            } => format!("p.{physical} as {label}"),
            Locator::PdfPage {
                physical,
                label: None,
            } => format!("p.{physical}"),
            Locator::Section { heading } => format!("section {heading}"),
            other => format!("{other:?}"),
        };
        assert_eq!(record.characters, page.markdown.chars().count() as u64);
        format!("[{place} {:?}]\n{}", record.method, page.markdown)
    };
    extraction
        .pages
        .iter()
        .map(page)
        .collect::<Vec<_>>()
        .join("\n---\n")
}

async fn check(format: Format, name: &str, bytes: &[u8], title: Option<&str>, expect: &str) {
    let extraction = extract(&pool(plan()), format, name, bytes).await.unwrap();
    assert_eq!(extraction.title.as_deref(), title, "{name}");
    assert_eq!(shown(&extraction), expect, "{name}");
}

#[tokio::test]
async fn texts_in_several_charsets() {
    let expect = "[Block { number: 1 } Native]\nGrüße aus Köln\nund zurück\n";
    let text = "Grüße aus Köln\r\nund zurück\r\n";
    check(Format::Text, "utf8.txt", text.as_bytes(), None, expect).await;
    let latin: Vec<u8> = text
        .chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect();
    check(Format::Text, "latin1.txt", &latin, None, expect).await;
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(Format::Text, "utf16.txt", &little, None, expect).await;
    let marked = [
        b"\xfe\xff".to_vec(),
        text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
    ];
    check(
        Format::Text,
        "utf16-mark.txt",
        &marked.concat(),
        None,
        expect,
    )
    .await;
}

#[tokio::test]
async fn markdown_keeps_its_front_matter() {
    let text = "---\ntitle: Rules\n---\n\n## Breaks\n\n```\n# no heading\n```\n";
    let expect = format!("[section Breaks Native]\n{text}");
    check(
        Format::Markdown,
        "rules.md",
        text.as_bytes(),
        Some("Rules"),
        &expect,
    )
    .await;
}

fn report() -> Vec<u8> {
    let page = |lines: Vec<(f32, &'static str)>, picture| Page { lines, picture };
    let body = "Every invoice above 500 euros needs the signature of two people.";
    pdf(
        "Annual report",
        1,
        &[
            page(
                vec![
                    (24.0, "Annual report"),
                    (11.0, "What happened in the year."),
                ],
                false,
            ),
            page(
                vec![(18.0, "Spending"), (11.0, body), (11.0, "Others need one.")],
                false,
            ),
            page(Vec::new(), true),
            page(Vec::new(), false),
        ],
    )
}

#[tokio::test]
async fn a_pdf_with_labels_a_picture_and_a_blank_page() {
    let expect = "[p.1 as i TextLayer]\n# Annual report\n\n## What happened in the year.\n---\n\
                  [p.2 as 1 TextLayer]\n# Spending\n\nEvery invoice above 500 euros needs the \
                  signature of two people. Others need one.\n---\n\
                  [p.3 as 2 Missing]\n\n---\n[p.4 as 3 TextLayer]\n";
    check(
        Format::Pdf,
        "report.pdf",
        &report(),
        Some("Annual report"),
        expect,
    )
    .await;
}

#[tokio::test]
async fn without_pdfium_the_same_pages_and_a_note() {
    let mut plan = plan();
    plan.second_reader = SecondReader::Absent("not installed".to_owned());
    let extraction = extract(&pool(plan), Format::Pdf, "a.pdf", &report())
        .await
        .unwrap();
    assert_eq!(extraction.notes, ["read without PDFium: not installed"]);
    let methods: Vec<_> = extraction
        .pages
        .iter()
        .map(|page| page.record.method)
        .collect();
    let layer = ReadMethod::TextLayer;
    assert_eq!(methods, [layer, layer, ReadMethod::Missing, layer]);
    assert!(
        extraction.pages[1]
            .markdown
            .contains("signature of two people")
    );
    assert_eq!(
        extraction.pages[2].record.error.as_deref(),
        Some("needs OCR: no text layer"),
        "{extraction:?}"
    );
}
