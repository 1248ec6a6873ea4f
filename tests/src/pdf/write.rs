//! Placed lines to PDF objects.

use anyhow::{Context, Result};
use pdf_writer::types::NumberingStyle;
use pdf_writer::writers::PageLabel;
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

use super::Source;
use super::font::{FIRST, Face, LAST, win_ansi};
use super::layout::{Line, MARGIN, PAGE};

const CATALOG: Ref = Ref::new(1);
const TREE: Ref = Ref::new(2);
const INFO: Ref = Ref::new(3);
const REGULAR: Ref = Ref::new(4);
const BOLD: Ref = Ref::new(5);
const FRONT_LABEL: Ref = Ref::new(6);
const MAIN_LABEL: Ref = Ref::new(7);
/// Pages take two objects each from here on.
const FIRST_PAGE: i32 = 8;

pub(super) fn pdf(source: &Source, pages: &[Vec<Line>]) -> Result<Vec<u8>> {
    let count = i32::try_from(pages.len())?;
    let front = i32::try_from(source.front)?;
    let page_ref = |index: i32| Ref::new(FIRST_PAGE + 2 * index);
    let mut pdf = Pdf::new();

    let mut catalog = pdf.catalog(CATALOG);
    catalog.pages(TREE);
    if front > 0 {
        catalog
            .page_labels()
            .nums()
            .insert(0, FRONT_LABEL)
            .insert(front, MAIN_LABEL);
    }
    catalog.finish();
    if front > 0 {
        pdf.indirect(FRONT_LABEL)
            .start::<PageLabel>()
            .style(NumberingStyle::LowerRoman);
        pdf.indirect(MAIN_LABEL)
            .start::<PageLabel>()
            .style(NumberingStyle::Arabic);
    }
    let mut info = pdf.document_info(INFO);
    info.title(TextStr(&source.title));
    if !source.author.is_empty() {
        info.author(TextStr(&source.author));
    }
    info.finish();
    pdf.pages(TREE).kids((0..count).map(page_ref)).count(count);
    font(&mut pdf, REGULAR, Face::Regular);
    font(&mut pdf, BOLD, Face::Bold);

    for (index, lines) in (0..count).zip(pages) {
        let content = Ref::new(page_ref(index).get() + 1);
        let mut page = pdf.page(page_ref(index));
        page.media_box(Rect::new(0.0, 0.0, PAGE.0, PAGE.1))
            .parent(TREE)
            .contents(content);
        let mut resources = page.resources();
        let mut fonts = resources.fonts();
        fonts.pair(Name(Face::Regular.resource()), REGULAR);
        fonts.pair(Name(Face::Bold.resource()), BOLD);
        fonts.finish();
        resources.finish();
        page.finish();

        let mut text = Content::new();
        for line in lines {
            show(&mut text, line)?;
        }
        if !source.footer.is_empty() {
            let number = if index < front {
                roman(index + 1)
            } else {
                (index + 1 - front).to_string()
            };
            let text_line = format!("{}, page {number}", source.footer);
            let (x, y, size, face) = (MARGIN, 46.0, 8.5, Face::Regular);
            show(
                &mut text,
                &Line {
                    x,
                    y,
                    size,
                    face,
                    text: text_line,
                },
            )?;
        }
        pdf.stream(content, &text.finish());
    }
    Ok(pdf.finish())
}

fn show(content: &mut Content, line: &Line) -> Result<()> {
    let bytes = win_ansi(&line.text)
        .with_context(|| format!("`{}` has a character that Helvetica lacks", line.text))?;
    content.begin_text();
    content.set_font(Name(line.face.resource()), line.size);
    content.next_line(line.x, line.y);
    content.show(Str(&bytes));
    content.end_text();
    Ok(())
}

fn font(pdf: &mut Pdf, id: Ref, face: Face) {
    pdf.type1_font(id)
        .base_font(Name(face.base_font()))
        .encoding_predefined(Name(b"WinAnsiEncoding"))
        .first_char(FIRST)
        .last_char(LAST)
        .widths(face.widths().map(f32::from));
}

/// Small roman numbers up to 10, which no front matter here exceeds.
fn roman(number: i32) -> String {
    const ROMAN: [&str; 10] = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"];
    let known = usize::try_from(number - 1)
        .ok()
        .and_then(|index| ROMAN.get(index));
    known.map_or_else(|| number.to_string(), |text| (*text).to_owned())
}
