//! Small documents, part by part.

use std::io::{Cursor, Write as _};

use shared::contract::Locator;
use shared::format::Format;

use super::*;
use crate::extract::extract_alone;

fn namespaces() -> String {
    let names = [
        "office",
        "text",
        "table",
        "draw",
        "style",
        "presentation",
        "meta",
    ];
    let of = |name: &str| match name {
        "draw" => "drawing".to_owned(),
        name => name.to_owned(),
    };
    let declared = names.map(|name| {
        format!(
            "xmlns:{name}=\"urn:oasis:names:tc:opendocument:xmlns:{}:1.0\" ",
            of(name)
        )
    });
    declared.concat()
        + "xmlns:svg=\"urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0\" \
           xmlns:xlink=\"http://www.w3.org/1999/xlink\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\""
}

const HIDDEN: &str = "<office:automatic-styles><style:style style:name=\"H\">\
    <style:text-properties text:display=\"none\"/></style:style><style:style style:name=\"S\">\
    <style:drawing-page-properties presentation:visibility=\"hidden\"/></style:style>\
    </office:automatic-styles>";

fn content(kind: &str, body: &str) -> String {
    format!(
        "<office:document-content {}>{HIDDEN}<office:body><office:{kind}>{body}</office:{kind}>\
         </office:body></office:document-content>",
        namespaces()
    )
}

fn packed(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(*name, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn text(body: &str) -> Extraction {
    let bytes = packed(&[("content.xml", &content("text", body))]);
    extract_alone(Format::Odt, "a.odt", &bytes).unwrap()
}

#[track_caller]
fn check(body: &str, expect: &str) {
    assert_eq!(text(body).pages[0].markdown, expect, "{body}");
}

#[test]
fn structure_is_kept() {
    check(
        "<text:h text:outline-level=\"1\">Plan</text:h><text:p>one<text:s/>two</text:p>\
         <text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>",
        "# Plan\n\none two\n\n- item\n",
    );
    check(
        "<table:table><table:table-row><table:table-cell><text:p>part</text:p></table:table-cell>\
         <table:table-cell><text:p>price</text:p></table:table-cell></table:table-row>\
         <table:table-row><table:table-cell table:number-columns-spanned=\"2\"><text:p>none</text:p>\
         </table:table-cell><table:covered-table-cell/></table:table-row></table:table>",
        "| part | price |\n| --- | --- |\n| none | none |\n",
    );
    check(
        "<text:p>said<text:note text:note-class=\"footnote\"><text:note-citation>1\
         </text:note-citation><text:note-body><text:p>where</text:p></text:note-body></text:note>.\
         </text:p>",
        "said[^1].\n\n[^1]: where\n",
    );
}

#[test]
fn tracked_changes_count_as_accepted() {
    check(
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p>\
         </text:deletion></text:changed-region></text:tracked-changes>\
         <text:p>a<text:change text:change-id=\"c\"/> <text:change-start/>new<text:change-end/></text:p>",
        "a new\n",
    );
}

#[test]
fn hidden_text_is_marked() {
    let extraction = text(
        "<text:section text:display=\"none\"><text:p>whole</text:p></text:section>\
         <text:p>a <text:span text:style-name=\"H\">word</text:span> b \
         <text:hidden-text text:is-hidden=\"true\" text:string-value=\"field\"/></text:p>",
    );
    assert_eq!(
        extraction.pages[0].markdown,
        "(hidden: whole)\n\na (hidden: word) b (hidden: field)\n"
    );
    assert_eq!(extraction.pages[0].record.doubts, [HAS_HIDDEN]);
}

#[test]
fn shapes_and_frames_are_read_wherever_they_stand() {
    check(
        "<draw:custom-shape><text:p>alone</text:p></draw:custom-shape>\
         <text:p>with<draw:rect><text:p>first</text:p><text:p>second</text:p></draw:rect></text:p>\
         <draw:frame><draw:text-box><text:p>box</text:p></draw:text-box></draw:frame>\
         <draw:frame><draw:image xlink:href=\"Pictures/a.png\"/><svg:desc>a mill</svg:desc></draw:frame>",
        "alone\n\nwith\n\nfirst\n\nsecond\n\nbox\n\na mill\n",
    );
    check(
        "<text:p>a<text:ruby><text:ruby-base>漢</text:ruby-base><text:ruby-text>kan</text:ruby-text>\
         </text:ruby></text:p><text:table-index><text:index-body><text:p>Table 1</text:p>\
         </text:index-body></text:table-index>",
        "a漢\n\nTable 1\n",
    );
}

#[test]
fn comments_headers_and_the_title_are_kept() {
    let body = "<text:p>words<office:annotation><dc:creator>Ann</dc:creator><dc:date>2024</dc:date>\
                <text:p>why</text:p><text:p>so?</text:p></office:annotation></text:p>";
    let styles = format!(
        "<office:document-styles {}><office:master-styles><style:master-page><style:header>\
         <text:p>Mill works</text:p></style:header><style:footer><text:p>Page \
         <text:page-number>2</text:page-number></text:p></style:footer></style:master-page>\
         </office:master-styles></office:document-styles>",
        namespaces()
    );
    let bytes = packed(&[
        ("content.xml", &content("text", body)),
        ("styles.xml", &styles),
        (
            "meta.xml",
            "<office:meta><dc:title>Works</dc:title></office:meta>",
        ),
    ]);
    let extraction = extract_alone(Format::Odt, "a.odt", &bytes).unwrap();
    assert_eq!(extraction.title.as_deref(), Some("Works"));
    assert_eq!(
        extraction.pages[0].markdown,
        "words\n\nPage header: Mill works\n\nComment by Ann: why so?\n"
    );
}

#[test]
fn flat_files_are_read_too() {
    let flat = content("text", "<text:p>flat</text:p>")
        .replace("office:document-content", "office:document");
    let flat = format!("<?xml version=\"1.0\"?>\n{flat}");
    let extraction = extract_alone(Format::Odt, "a.fodt", flat.as_bytes()).unwrap();
    assert_eq!(extraction.pages[0].markdown, "flat\n");
}

#[test]
fn slides_are_pages_with_their_notes() {
    let page = |style: &str, inner: &str| {
        format!("<draw:page draw:style-name=\"{style}\">{inner}</draw:page>")
    };
    let framed = |class: &str, text: &str| {
        format!(
            "<draw:frame presentation:class=\"{class}\"><draw:text-box><text:p>{text}</text:p>\
             </draw:text-box></draw:frame>"
        )
    };
    let notes = format!(
        "<presentation:notes>{}{}</presentation:notes>",
        framed("notes", "say this"),
        framed("page-number", "4")
    );
    let body = [
        page(
            "A",
            &(framed("outline", "body") + &framed("title", "One") + &notes),
        ),
        page(
            "S",
            "<draw:custom-shape><text:p>shape</text:p></draw:custom-shape><office:annotation>\
             <text:p>hm</text:p></office:annotation>",
        ),
        page("A", ""),
    ];
    let bytes = packed(&[("content.xml", &content("presentation", &body.concat()))]);
    let extraction = extract_alone(Format::Odp, "a.odp", &bytes).unwrap();
    let texts: Vec<_> = extraction
        .pages
        .iter()
        .map(|page| page.markdown.as_str())
        .collect();
    assert_eq!(
        texts,
        [
            "# One\n\nbody\n\n## Notes\n\nsay this\n",
            "(hidden slide)\n\nshape\n\nComment: hm\n",
            ""
        ]
    );
    assert_eq!(
        extraction.pages[1].record.locator,
        Locator::Slide { number: 2 }
    );
    assert_eq!(extraction.pages[1].record.doubts, ["the slide is hidden"]);
}

#[test]
fn locked_and_broken_files_are_told() {
    let manifest = "<manifest:manifest><manifest:encryption-data/></manifest:manifest>";
    let locked = packed(&[("META-INF/manifest.xml", manifest), ("content.xml", "xyz")]);
    assert_eq!(
        extract_alone(Format::Odt, "a.odt", &locked),
        Err(ExtractError::PasswordNeeded)
    );
    let whole = content("text", "<text:p>first</text:p><text:p>second</text:p>");
    let (cut, _) = whole.split_once("cond").unwrap();
    let bytes = packed(&[("content.xml", cut)]);
    let extraction = extract_alone(Format::Odt, "a.odt", &bytes).unwrap();
    assert_eq!(extraction.pages[0].markdown, "first\n\nse\n");
    assert_eq!(extraction.pages[0].record.doubts, [CUT_OFF]);
    assert!(extract_alone(Format::Odt, "a.odt", b"junk").is_err());
    assert!(extract_alone(Format::Odp, "a.odp", &bytes).is_err());
}
