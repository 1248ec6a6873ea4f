//! What lies over a sheet: remarks on cells, text boxes, pictures' descriptions, charts' titles.

use std::ops::ControlFlow;

use crate::extract::parts::Package;
use crate::extract::parts::xml::{Step, attribute, walk};
use crate::extract::sheets::grid::{Note, Sheet, cell_of};

/// Remarks, and texts of drawings, of one sheet.
const MOST: usize = 10_000;

/// Adds what belongs to the sheet whose part is `part`.
pub(super) fn add(package: &mut Package<'_>, part: &str, sheet: &mut Sheet) {
    for relation in package.relations(part) {
        match relation.kind.as_str() {
            "comments" => {
                if let Ok(xml) = package.part(&relation.part) {
                    comments(&xml, &mut sheet.notes);
                }
            }
            "drawing" => {
                if let Ok(xml) = package.part(&relation.part) {
                    drawing(&xml, &mut sheet.extras);
                }
                for chart in package.relations(&relation.part) {
                    if chart.kind == "chart"
                        && let Ok(xml) = package.part(&chart.part)
                    {
                        chart_titles(&xml, &mut sheet.extras);
                    }
                }
            }
            _ => {}
        }
    }
}

fn comments(xml: &[u8], notes: &mut Vec<Note>) {
    let mut authors: Vec<String> = Vec::new();
    let mut text = String::new();
    let mut reading = false;
    let mut open: Option<Note> = None;
    walk(xml, |step| {
        match step {
            Step::Open(tag) => match tag.local_name().as_ref() {
                b"author" => {
                    text.clear();
                    reading = true;
                }
                b"comment" => {
                    let at = attribute(tag, "ref").and_then(|at| cell_of(&at));
                    let author = attribute(tag, "authorId").and_then(|id| id.parse().ok());
                    let author = author.and_then(|id: usize| authors.get(id)).cloned();
                    text.clear();
                    open = at.map(|(row, column)| Note {
                        row,
                        column,
                        author,
                        text: String::new(),
                    });
                }
                b"t" => reading = true,
                _ => {}
            },
            Step::Close(b"author") => {
                reading = false;
                authors.push(std::mem::take(&mut text));
            }
            Step::Close(b"t") => reading = false,
            Step::Close(b"comment") => {
                if let Some(mut note) = open.take() {
                    note.text = said(&text, note.author.as_deref());
                    notes.push(note);
                }
            }
            Step::Text(part) if reading => text.push_str(part),
            _ => {}
        }
        if notes.len() < MOST {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
}

/// A remark without what the program put before it: the author's name, or a word to older programs.
fn said(text: &str, author: Option<&str>) -> String {
    let mut text = text.trim();
    if text.starts_with("[Threaded comment]") {
        text = text
            .split_once("Comment:")
            .map_or(text, |(_, said)| said.trim());
    }
    if let Some(author) = author.filter(|author| !author.is_empty())
        && let Some(rest) = text
            .strip_prefix(author)
            .and_then(|rest| rest.strip_prefix(':'))
    {
        text = rest.trim();
    }
    text.to_owned()
}

fn drawing(xml: &[u8], extras: &mut Vec<String>) {
    let mut text = String::new();
    let mut reading = false;
    walk(xml, |step| {
        match step {
            Step::Open(tag) => match tag.local_name().as_ref() {
                b"t" => reading = true,
                b"cNvPr" => {
                    let description = attribute(tag, "descr").filter(|text| says_something(text));
                    extras.extend(description.map(|text| format!("Picture: {text}")));
                }
                _ => {}
            },
            Step::Close(b"t") => reading = false,
            Step::Close(b"p") => text.push(' '),
            Step::Close(b"txBody") => {
                let said = std::mem::take(&mut text);
                if !said.trim().is_empty() {
                    extras.push(format!("Text box: {}", said.trim()));
                }
            }
            Step::Text(part) if reading => text.push_str(part),
            _ => {}
        }
        if extras.len() < MOST {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
}

/// Whether a person wrote the description: programs write `Picture 1`.
fn says_something(description: &str) -> bool {
    let text = description.trim();
    let number = text
        .strip_prefix("Picture ")
        .or_else(|| text.strip_prefix("Image "));
    !text.is_empty() && number.is_none_or(|number| number.parse::<u32>().is_err())
}

/// The texts of a chart's titles; its numbers stand in the cells.
fn chart_titles(xml: &[u8], extras: &mut Vec<String>) {
    let mut text = String::new();
    let (mut titles, mut reading) = (0_u32, false);
    walk(xml, |step| {
        match step {
            Step::Open(tag) => match tag.local_name().as_ref() {
                b"title" => titles += 1,
                b"t" => reading = titles > 0,
                _ => {}
            },
            Step::Close(b"t") => reading = false,
            Step::Close(b"title") => {
                titles = titles.saturating_sub(1);
                let said = std::mem::take(&mut text);
                if !said.trim().is_empty() && extras.len() < MOST {
                    extras.push(format!("Chart: {}", said.trim()));
                }
            }
            Step::Text(part) if reading => text.push_str(part),
            _ => {}
        }
        ControlFlow::Continue(())
    });
}
