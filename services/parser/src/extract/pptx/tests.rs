//! Small presentations, part by part.

use std::io::{Cursor, Write as _};

use shared::contract::Locator;
use shared::format::Format;

use super::*;
use crate::extract::extract_alone;

const NAMESPACES: &str = "xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\" \
    xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
    xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" \
    xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\" \
    xmlns:dgm=\"http://schemas.openxmlformats.org/drawingml/2006/diagram\"";
const TYPES: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn packed(parts: &[(&str, String)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(*name, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn relations(lines: &[(&str, &str, &str)]) -> String {
    let line = |(id, kind, target): &(&str, &str, &str)| {
        format!("<Relationship Id=\"{id}\" Type=\"{TYPES}/{kind}\" Target=\"{target}\"/>")
    };
    let lines: String = lines.iter().map(line).collect();
    format!(
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
         {lines}</Relationships>"
    )
}

/// A presentation that shows `order`, slide numbers.
fn main_parts(order: &[u32]) -> Vec<(&'static str, String)> {
    let ids: Vec<String> = order
        .iter()
        .map(|n| format!("<p:sldId id=\"{}\" r:id=\"r{n}\"/>", 255 + n))
        .collect();
    let ids = ids.concat();
    let lines: Vec<_> = order
        .iter()
        .map(|n| (format!("r{n}"), format!("slides/slide{n}.xml")))
        .collect();
    let lines: Vec<_> = lines
        .iter()
        .map(|(id, target)| (id.as_str(), "slide", target.as_str()))
        .collect();
    vec![
        (
            "ppt/presentation.xml",
            format!("<p:presentation {NAMESPACES}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"),
        ),
        ("ppt/_rels/presentation.xml.rels", relations(&lines)),
    ]
}

fn slide(attributes: &str, shapes: &str) -> String {
    format!(
        "<p:sld {NAMESPACES} {attributes}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
    )
}

fn shape(kind: &str, text: &str) -> String {
    let kind = match kind {
        "" => String::new(),
        kind => format!("<p:ph type=\"{kind}\"/>"),
    };
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id=\"1\" name=\"x\"/><p:nvPr>{kind}</p:nvPr></p:nvSpPr>\
         <p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )
}

fn extract(parts: &[(&str, String)]) -> Result<Extraction, ExtractError> {
    extract_alone(Format::Pptx, "a.pptx", &packed(parts))
}

fn texts(extraction: &Extraction) -> Vec<&str> {
    extraction
        .pages
        .iter()
        .map(|page| page.markdown.as_str())
        .collect()
}

#[test]
fn slides_come_as_they_are_shown_with_their_title_first() {
    let mut parts = main_parts(&[2, 1]);
    parts.push((
        "ppt/slides/slide1.xml",
        slide(
            "show=\"0\"",
            &(shape("", "later") + &shape("ftr", "Internal")),
        ),
    ));
    parts.push((
        "ppt/slides/slide2.xml",
        slide(
            "",
            &(shape("", "body")
                + &shape("title", "Plan")
                + &shape("ftr", "Internal")
                + &shape("sldNum", "7")),
        ),
    ));
    let extraction = extract(&parts).unwrap();
    assert_eq!(
        texts(&extraction),
        [
            "# Plan\n\nbody\n\nSlide footer: Internal\n",
            "(hidden slide)\n\nlater\n"
        ]
    );
    let places: Vec<_> = extraction
        .pages
        .iter()
        .map(|page| page.record.locator.clone())
        .collect();
    assert_eq!(
        places,
        [Locator::Slide { number: 1 }, Locator::Slide { number: 2 }]
    );
    assert_eq!(extraction.pages[1].record.doubts, ["the slide is hidden"]);
}

#[test]
fn notes_comments_descriptions_and_groups_are_kept() {
    let picture = "<p:pic><p:nvPicPr><p:cNvPr descr=\"a mill\"/></p:nvPicPr></p:pic>";
    let group = format!(
        "<p:grpSp><p:nvGrpSpPr><p:cNvPr descr=\"two parts\"/></p:nvGrpSpPr>{}{}</p:grpSp>",
        shape("", "left"),
        shape("", "right")
    );
    let hidden = shape("", "secret").replace("name=\"x\"", "name=\"x\" hidden=\"1\"");
    let mut parts = main_parts(&[1]);
    parts.push((
        "ppt/slides/slide1.xml",
        slide(
            "",
            &format!("{}{picture}{group}{hidden}", shape("title", "Mill")),
        ),
    ));
    parts.push((
        "ppt/slides/_rels/slide1.xml.rels",
        relations(&[
            ("n", "notesSlide", "../notesSlides/notesSlide1.xml"),
            ("c", "comments", "../comments/comment1.xml"),
        ]),
    ));
    parts.push((
        "ppt/notesSlides/notesSlide1.xml",
        format!(
            "<p:notes {NAMESPACES}><p:cSld><p:spTree>{}{}</p:spTree></p:cSld></p:notes>",
            shape("body", "say this"),
            shape("sldNum", "1")
        ),
    ));
    parts.push((
        "ppt/comments/comment1.xml",
        format!(
            "<p:cmLst {NAMESPACES}><p:cm authorId=\"3\"><p:text>why &amp; how?</p:text></p:cm>\
             <p:cm authorId=\"9\"><p:txBody><a:p><a:r><a:t>newer</a:t></a:r></a:p></p:txBody>\
             </p:cm></p:cmLst>"
        ),
    ));
    parts.push((
        "ppt/commentAuthors.xml",
        format!("<p:cmAuthorLst {NAMESPACES}><p:cmAuthor id=\"3\" name=\"Ann\"/></p:cmAuthorLst>"),
    ));
    let extraction = extract(&parts).unwrap();
    assert_eq!(
        texts(&extraction),
        [
            "# Mill\n\na mill\n\nleft\n\nright\n\ntwo parts\n\n(hidden: secret)\n\n## Notes\n\n\
          say this\n\nComment by Ann: why & how?\n\nComment: newer\n"
        ]
    );
}

#[test]
fn tables_charts_and_diagrams_are_text() {
    let cell = |attributes: &str, text: &str| {
        format!(
            "<a:tc {attributes}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"
        )
    };
    let table = format!(
        "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>{}{}</a:tr><a:tr>{}{}</a:tr>\
         <a:tr>{}{}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>",
        cell("", "part"),
        cell("", "price"),
        cell("rowSpan=\"2\"", "valve"),
        cell("", "10"),
        cell("vMerge=\"1\"", ""),
        cell("", "12")
    );
    let framed = |inner: &str| {
        format!(
            "<p:graphicFrame><a:graphic><a:graphicData>{inner}</a:graphicData></a:graphic>\
             </p:graphicFrame>"
        )
    };
    let mut parts = main_parts(&[1]);
    let shapes = table + &framed("<c:chart r:id=\"k\"/>") + &framed("<dgm:relIds r:dm=\"d\"/>");
    parts.push(("ppt/slides/slide1.xml", slide("", &shapes)));
    parts.push((
        "ppt/slides/_rels/slide1.xml.rels",
        relations(&[
            ("k", "chart", "../charts/chart1.xml"),
            ("d", "diagramData", "../diagrams/data1.xml"),
        ]),
    ));
    let values = |tag: &str, of: [&str; 2]| {
        let points: String = of.map(|v| format!("<c:pt><c:v>{v}</c:v></c:pt>")).concat();
        format!("<c:{tag}><c:strCache>{points}</c:strCache></c:{tag}>")
    };
    parts.push((
        "ppt/charts/chart1.xml",
        format!(
            "<c:chartSpace {NAMESPACES}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t>\
             </a:r></a:p></c:rich></c:tx></c:title><c:ser><c:tx><c:v>north</c:v></c:tx>{}{}</c:ser>\
             </c:chart></c:chartSpace>",
            values("cat", ["2023", "2024"]),
            values("val", ["4.5", "6"])
        ),
    ));
    parts.push((
        "ppt/diagrams/data1.xml",
        format!(
            "<dgm:dataModel {NAMESPACES}><dgm:pt><dgm:t><a:p><a:r><a:t>first step</a:t></a:r></a:p>\
             </dgm:t></dgm:pt></dgm:dataModel>"
        ),
    ));
    assert_eq!(
        texts(&extract(&parts).unwrap()),
        [
            "| part | price |\n| --- | --- |\n| valve | 10 |\n| valve | 12 |\n\nSales\n\n\
          |  | north |\n| --- | --- |\n| 2023 | 4.5 |\n| 2024 | 6 |\n\n- first step\n"
        ]
    );
}

#[test]
fn what_is_broken_is_told_and_the_rest_is_read() {
    let mut parts = main_parts(&[1, 2, 3, 4]);
    parts.push(("ppt/slides/slide1.xml", slide("", &shape("title", "One"))));
    let cut = slide("", &(shape("title", "Two") + &shape("", "half")));
    let (cut, _) = cut.split_once("half").unwrap();
    parts.push(("ppt/slides/slide2.xml", format!("{cut}ha")));
    parts.push(("ppt/slides/slide4.xml", format!("<p:sld {NAMESPACES}/>")));
    let extraction = extract(&parts).unwrap();
    assert_eq!(texts(&extraction), ["# One\n", "# Two\n\nha\n", "", ""]);
    assert_eq!(extraction.pages[1].record.doubts, [CUT_OFF]);
    for page in &extraction.pages[2..] {
        assert_eq!(page.record.method, ReadMethod::Missing);
        assert!(page.record.error.is_some());
    }

    // Without the archive's directory and the list of slides.
    let bytes = packed(&parts[2..]);
    let directory = bytes.windows(4).position(|at| at == b"PK\x01\x02").unwrap();
    let extraction = extract_alone(Format::Pptx, "a.pptx", &bytes[..directory]).unwrap();
    assert_eq!(texts(&extraction), ["# One\n", "# Two\n\nha\n", ""]);

    let nothing = extract(&main_parts(&[1])).unwrap_err();
    assert!(nothing.to_string().contains("no slide"), "{nothing}");
}
