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
        "no text in it can be read",
    );
    let error = extract_alone(Format::Docx, "a.docx", b"PK\x03\x04").unwrap_err();
    assert!(
        error.to_string().contains("nothing in it can be unpacked"),
        "{error}"
    );
}

/// The text of a document whose body is `body`, with `others` beside it.
#[track_caller]
fn check(body: &str, others: &[(&str, &str)], expect: &str) {
    let main = document(body);
    let parts = [&[("word/document.xml", main.as_str())], others].concat();
    let extraction = extract(&parts).unwrap();
    assert_eq!(extraction.pages[0].markdown, expect, "{body}");
}

fn runs(inner: &str) -> String {
    format!("<w:p>{inner}</w:p>")
}

fn run(inner: &str) -> String {
    format!("<w:r>{inner}</w:r>")
}

#[test]
fn tracked_changes_count_as_accepted_once() {
    check(
        &(runs("<w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:r><w:t>stays</w:t></w:r>")
            + &runs("<w:moveTo><w:r><w:t>moved</w:t></w:r></w:moveTo>")),
        &[],
        "stays\n\nmoved\n",
    );
    check(
        &runs(
            "<w:r><w:rPr><w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange></w:rPr>\
             <w:t>seen</w:t></w:r>",
        ),
        &[],
        "seen\n",
    );
}

#[test]
fn hidden_text_is_marked() {
    let styles = format!(
        "<w:styles {NAMESPACES}><w:style w:styleId=\"Note\"><w:rPr><w:vanish/></w:rPr></w:style>\
         </w:styles>"
    );
    let body = runs(
        "<w:r><w:t>a </w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>b</w:t></w:r>\
         <w:r><w:rPr><w:rStyle w:val=\"Note\"/></w:rPr><w:t> c</w:t></w:r>\
         <w:r><w:rPr><w:vanish w:val=\"0\"/></w:rPr><w:t> d</w:t></w:r>",
    ) + &paragraph("Note", "whole");
    let main = document(&body);
    let extraction =
        extract(&[("word/document.xml", &main), ("word/styles.xml", &styles)]).unwrap();
    let page = &extraction.pages[0];
    assert_eq!(page.markdown, "a (hidden: b c) d\n\n(hidden: whole)\n");
    assert_eq!(page.record.doubts, [HAS_HIDDEN]);
}

#[test]
fn small_signs_are_what_they_show() {
    check(
        &runs(&run(
            "<w:t>co</w:t><w:noBreakHyphen/><w:t>op</w:t><w:softHyphen/><w:t>eration </w:t>\
             <w:sym w:font=\"Symbol\" w:char=\"F06D\"/><w:t>m</w:t>",
        )),
        &[],
        "co-operation μm\n",
    );
    check(
        &runs(&run(
            "<w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:rPr/><w:t>漢</w:t>\
             </w:r></w:rubyBase></w:ruby><w:t>字</w:t>",
        )),
        &[],
        "漢字\n",
    );
    let field = "<w:r><w:fldChar w:fldCharType=\"begin\"><w:ffData><w:checkBox><w:default w:val=\"0\"/>\
                 <w:checked/></w:checkBox></w:ffData></w:fldChar></w:r><w:r><w:instrText>FORMCHECKBOX\
                 </w:instrText></w:r><w:r><w:fldChar w:fldCharType=\"end\"/></w:r>";
    check(
        &runs(&format!("{field}<w:r><w:t>agreed</w:t></w:r>")),
        &[],
        "[x] agreed\n",
    );
    let field = "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>DATE</w:instrText></w:r>\
                 <w:r><w:fldChar w:fldCharType=\"separate\"/></w:r><w:r><w:t>3 May</w:t></w:r>\
                 <w:r><w:fldChar w:fldCharType=\"end\"/></w:r>";
    check(&runs(field), &[], "3 May\n");
}

#[test]
fn tables_keep_rows_cells_and_tables_within() {
    let cell = |properties: &str, text: &str| {
        format!(
            "<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>",
            paragraph("", text)
        )
    };
    let row = |cells: &str| format!("<w:tr>{cells}</w:tr>");
    let first = row(&(cell("", "region") + &cell("<w:gridSpan w:val=\"2\"/>", "sold")));
    let second =
        row(&(cell("<w:vMerge w:val=\"restart\"/>", "north") + &cell("", "1") + &cell("", "2")));
    let third = row(&(cell("<w:vMerge/>", "") + &cell("", "3") + &cell("", "4")));
    // A row that a content control repeats.
    let third = format!("<w:sdt><w:sdtPr/><w:sdtContent>{third}</w:sdtContent></w:sdt>");
    check(
        &format!("<w:tbl>{first}{second}{third}</w:tbl>"),
        &[],
        "| region | sold | sold |\n| --- | --- | --- |\n| north | 1 | 2 |\n| north | 3 | 4 |\n",
    );
    let inner = format!("<w:tbl>{}</w:tbl>", row(&(cell("", "x") + &cell("", "y"))));
    let holding = format!("<w:tc>{inner}{}</w:tc>", paragraph("", "below"));
    check(
        &format!(
            "<w:tbl>{}{}</w:tbl>",
            row(&(cell("", "a") + &cell("", "b"))),
            row(&(cell("", "c") + &holding))
        ),
        &[],
        "| a | b |\n| --- | --- |\n| c | x / y below |\n",
    );
}

#[test]
fn text_boxes_come_once_and_pictures_with_their_description() {
    let names = "xmlns:mc=\"http://schemas.openxmlformats.org/markup-compatibility/2006\" \
                 xmlns:wps=\"http://schemas.microsoft.com/office/word/2010/wordprocessingShape\" \
                 xmlns:wp=\"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing\" \
                 xmlns:v=\"urn:schemas-microsoft-com:vml\"";
    let content = format!("<w:txbxContent>{}</w:txbxContent>", paragraph("", "boxed"));
    check(
        &runs(&run(&format!(
            "<mc:AlternateContent {names}><mc:Choice Requires=\"wps\"><w:drawing><wps:txbx>{content}\
             </wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>{content}</v:textbox>\
             </w:pict></mc:Fallback></mc:AlternateContent>"
        ))),
        &[],
        "boxed\n",
    );
    check(
        &runs(&run(&format!(
            "<w:drawing {names}><wp:inline><wp:docPr id=\"1\" descr=\"an old mill\"/></wp:inline>\
             </w:drawing>"
        ))),
        &[],
        "an old mill\n",
    );
}

#[test]
fn notes_comments_and_equations_are_kept() {
    let notes = format!(
        "<w:footnotes {NAMESPACES}><w:footnote w:id=\"-1\" w:type=\"separator\"><w:p/></w:footnote>\
         <w:footnote w:id=\"2\">{}</w:footnote></w:footnotes>",
        paragraph("", "where")
    );
    let comments = format!(
        "<w:comments {NAMESPACES}><w:comment w:author=\"Ann\">{}</w:comment></w:comments>",
        paragraph("", "why?")
    );
    check(
        &runs("<w:r><w:t>said</w:t><w:footnoteReference w:id=\"2\"/></w:r>"),
        &[
            ("word/footnotes.xml", &notes),
            ("word/comments.xml", &comments),
        ],
        "said[^1]\n\n[^1]: where\n\nComment by Ann: why?\n",
    );
    let math = "<m:oMath xmlns:m=\"http://schemas.openxmlformats.org/officeDocument/2006/math\">\
                <m:r><m:t>E=m</m:t></m:r><m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e><m:sup><m:r>\
                <m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>";
    check(
        &runs(&format!("<w:r><w:t>so </w:t></w:r>{math}")),
        &[],
        "so $E=mc^{2}$\n",
    );
}

#[test]
fn headings_are_known_by_their_level_and_lists_keep_their_numbers() {
    let styles = format!(
        "<w:styles {NAMESPACES}><w:style w:styleId=\"berschrift2\"><w:name w:val=\"Überschrift 2\"/>\
         <w:pPr><w:outlineLvl w:val=\"1\"/></w:pPr></w:style><w:style w:styleId=\"Own\">\
         <w:name w:val=\"Own\"/><w:basedOn w:val=\"berschrift2\"/></w:style></w:styles>"
    );
    let level = |level: u8, format: &str, text: &str| {
        format!(
            "<w:lvl w:ilvl=\"{level}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{format}\"/>\
             <w:lvlText w:val=\"{text}\"/></w:lvl>"
        )
    };
    let numbering = format!(
        "<w:numbering {NAMESPACES}><w:abstractNum w:abstractNumId=\"0\">{}{}</w:abstractNum>\
         <w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num></w:numbering>",
        level(0, "decimal", "%1."),
        level(1, "decimal", "%1.%2")
    );
    let item = |level: u8, text: &str| {
        format!(
            "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"1\"/></w:numPr></w:pPr>\
             <w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    check(
        &[
            paragraph("Own", "Teil"),
            item(0, "one"),
            item(1, "deep"),
            item(0, "two"),
        ]
        .concat(),
        &[
            ("word/styles.xml", &styles),
            ("word/numbering.xml", &numbering),
        ],
        "## Teil\n\n1. one\n   - 1.1 deep\n2. two\n",
    );
}

#[test]
fn parts_of_other_formats_stand_where_they_belong() {
    let relations = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
        <Relationship Id=\"c\" Type=\"http://x/aFChunk\" Target=\"/word/part.htm\"/>\
        <Relationship Id=\"n\" Type=\"http://x/aFChunk\" Target=\"none.htm\"/></Relationships>";
    let body = format!(
        "{}<w:altChunk r:id=\"c\" xmlns:r=\"r\"/>{}<w:altChunk r:id=\"n\" xmlns:r=\"r\"/>",
        paragraph("", "before"),
        paragraph("", "after")
    );
    let main = document(&body);
    let extraction = extract(&[
        ("word/document.xml", &main),
        ("word/_rels/document.xml.rels", relations),
        (
            "word/part.htm",
            "<!DOCTYPE html><html><body><h2>Web</h2><p>page</p></body></html>",
        ),
    ])
    .unwrap();
    let page = &extraction.pages[0];
    assert_eq!(page.markdown, "before\n\n## Web\n\npage\n\nafter\n");
    assert_eq!(
        page.record.doubts,
        ["a part of it in another format could not be read"]
    );
}

#[test]
fn documents_within_are_pages_of_their_own() {
    let relations = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
        <Relationship Id=\"e\" Type=\"http://x/package\" Target=\"embeddings/inner.docx\"/></Relationships>";
    let inner = packed(&[("word/document.xml", &document(&paragraph("", "within")))]);
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let main = document(&paragraph("", "outer"));
    for (name, bytes) in [
        ("word/document.xml", main.as_bytes()),
        ("word/_rels/document.xml.rels", relations.as_bytes()),
        ("word/embeddings/inner.docx", &inner),
    ] {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    let bytes = archive.finish().unwrap().into_inner();
    let extraction = extract_alone(Format::Docx, "a.docx", &bytes).unwrap();
    let texts: Vec<_> = extraction
        .pages
        .iter()
        .map(|page| page.markdown.as_str())
        .collect();
    assert_eq!(texts, ["outer\n", "within\n"]);
    let Locator::Entry { path, .. } = &extraction.pages[1].record.locator else {
        panic!("{:?}", extraction.pages[1].record);
    };
    assert_eq!(path, "word/embeddings/inner.docx");
}

#[test]
fn what_is_cut_off_is_read_as_far_as_it_goes() {
    let words: Vec<String> = (0..3_000)
        .map(|n| format!("word{}", n * 7_919 % 3_001))
        .collect();
    let words = words.join(" ");
    let body = paragraph("", "first") + &paragraph("", &words);
    let bytes = packed(&[("word/document.xml", &document(&body))]);
    let extraction = extract_alone(Format::Docx, "a.docx", &bytes[..bytes.len() / 2]).unwrap();
    let page = &extraction.pages[0];
    assert!(
        page.markdown.starts_with("first\n\nword0 word"),
        "{}",
        page.markdown
    );
    assert_eq!(page.record.doubts, [CUT_OFF]);
    // Too many elements for the model: plain lines are better than nothing.
    let body = runs(&run("<w:t/>").repeat(1_100_000)) + &paragraph("", "last");
    let extraction = extract(&[("word/document.xml", &document(&body))]).unwrap();
    assert_eq!(extraction.pages[0].markdown, "last\n");
    assert_eq!(extraction.pages[0].record.doubts, [PLAIN_ONLY]);
}
