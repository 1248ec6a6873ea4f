//! Generated documents through a real child, page by page.

use parser::extract::{Extraction, SecondReader};
use shared::contract::{Locator, ReadMethod};
use shared::format::Format;

use crate::support::{Page, extract, pdf, plan, pool, zipped};

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
            sheet @ Locator::Sheet { .. } => sheet.short().unwrap(),
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

#[tokio::test]
async fn a_web_page() {
    let html = "<!doctype html><html lang=en><head><meta charset=utf-8><title>Rooms</title>\
                <script>let a = '<h1>no</h1>'</script></head><body>\
                <nav><a href=/>Home</a></nav><h2>Booking &amp; keys</h2>\
                <p>Book at <a href=\"https://rooms.example\">the desk</a>, <b>not</b> by \
                phone.<ul><li>small<li>large<ul><li>with screen</ul></ul>\
                <table><tr><th>Room<th>Seats<tr><td>Tern<td>12</table>\
                <pre>open --now\n# done</pre><img src=https://x.example/p.png alt=plan></body>";
    let expect = "[section Rooms Native]\n# Rooms\n\n## Booking & keys\n\nBook at the desk, \
                  **not** by phone.\n\n- small\n- large\n  - with screen\n\n| Room | Seats |\n\
                  | --- | --- |\n| Tern | 12 |\n\n```\nopen --now\n# done\n```\n\nplan\n";
    check(
        Format::Html,
        "rooms.html",
        html.as_bytes(),
        Some("Rooms"),
        expect,
    )
    .await;
}

#[tokio::test]
async fn a_table_as_text() {
    let csv = "Raum;Plätze;Preis\r\nTern;12;\"1.050,00\"\r\n\"Gannet\r\nlinks\";8;a|b\r\n";
    let expect = "[Räume rows 1–3 Native]\n| Raum | Plätze | Preis |\n| --- | --- | --- |\n\
                  | Tern | 12 | 1.050,00 |\n| Gannet links | 8 | a\\|b |\n";
    check(Format::Csv, "Räume.csv", csv.as_bytes(), None, expect).await;
}

#[tokio::test]
async fn a_word_document() {
    let main = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    let run = |text: &str| format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>");
    let styled = |style: &str, text: &str| {
        let run = run(text);
        format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr>{run}</w:p>")
    };
    let body = [
        styled("Title1", "Handover"),
        format!(
            "<w:p>{}<w:r><w:footnoteReference w:id=\"2\"/></w:r></w:p>",
            run("Keys lie in the safe.")
        ),
        format!("<w:p><w:del>{}</w:del>{}</w:p>", run("Old. "), run("New.")),
    ];
    let part = |root: &str, inner: &str| format!("<w:{root} xmlns:w=\"{main}\">{inner}</w:{root}>");
    let note = format!(
        "<w:footnote w:id=\"2\"><w:p>{}</w:p></w:footnote>",
        run("Code 4410.")
    );
    let style = "<w:style w:type=\"paragraph\" w:styleId=\"Title1\"><w:name w:val=\"heading 1\"/>\
                 </w:style>";
    let comment = format!(
        "<w:comment w:author=\"Ann\"><w:p>{}</w:p></w:comment>",
        run("Which safe?")
    );
    let bytes = zipped(&[
        (
            "word/document.xml",
            &part("document", &format!("<w:body>{}</w:body>", body.concat())),
        ),
        ("word/styles.xml", &part("styles", style)),
        ("word/footnotes.xml", &part("footnotes", &note)),
        ("word/comments.xml", &part("comments", &comment)),
    ]);
    let expect = "[section Handover Native]\n# Handover\n\nKeys lie in the safe.[^1]\n\n[^1]: Code 4410.\n\nNew.\n\nComment by Ann: Which safe?\n";
    check(
        Format::Docx,
        "handover.docx",
        &bytes,
        Some("Handover"),
        expect,
    )
    .await;
}

#[tokio::test]
async fn comments_in_a_text_are_no_headings() {
    let expect = "[Block { number: 1 } Native]\n\\# first\nvalue = 1\n";
    check(
        Format::Text,
        "a.conf",
        b"# first\nvalue = 1\n",
        None,
        expect,
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
        Some("needs OCR: no text layer; not used here"),
        "{extraction:?}"
    );
}
