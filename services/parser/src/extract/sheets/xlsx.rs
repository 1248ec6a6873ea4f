//! Workbooks of Office Open XML. `calamine` reads cells, texts and number formats; what it leaves
//! out of a sheet — what is hidden and merged, remarks, text boxes — is read beside it.

mod extras;
mod marks;

use std::io::Cursor;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{DataRef, Reader as _, Style, Xlsx, XlsxError};

use super::grid::{Full, Grid, Kind, Sheet};
use super::number::NumberFormat;
use super::{Book, damaged};
use crate::extract::ExtractError;
use crate::extract::office::relations::Relation;
use crate::extract::parts::xml::{Step, attribute, walk};
use crate::extract::parts::{MOST_SHEET_BYTES, Package};

/// A sheet of the workbook.
struct Listed {
    name: String,
    hidden: bool,
    /// Its part, and the last word of the link's type.
    part: Option<Relation>,
}

type Calamine<'a> = Xlsx<Cursor<&'a [u8]>>;

/// Reads a workbook and hands over each sheet as it is read.
pub(super) fn read(bytes: &[u8], book: &mut Book) -> Result<(), ExtractError> {
    let mut package = Package::open(bytes)?;
    let workbook = workbook_part(&mut package);
    let listed = sheets(&mut package, &workbook)?;
    book.title = title(&mut package);
    let mut cells = check_texts(&mut package, &workbook).and_then(|()| open(bytes));
    for entry in listed {
        let mut sheet = Sheet {
            name: entry.name,
            hidden: entry.hidden,
            ..Sheet::default()
        };
        let part = entry.part.unwrap_or(Relation {
            id: String::new(),
            kind: "worksheet".to_owned(),
            part: String::new(),
        });
        let outcome = match part.kind.as_str() {
            "worksheet" => read_sheet(&mut package, &part, cells.as_mut(), &mut sheet),
            // A sheet that is one chart, or a form.
            _ => Ok(()),
        };
        sheet.error = outcome.err();
        extras::add(&mut package, &part.part, &mut sheet);
        book.add(sheet);
    }
    match cells {
        Err(reason) if book.is_empty() => Err(damaged(&reason)),
        _ => Ok(()),
    }
}

/// A workbook as the library has it, and the number formats of its cells, by style.
struct Cells<'a> {
    workbook: Calamine<'a>,
    formats: Option<Vec<NumberFormat>>,
}

fn read_sheet(
    package: &mut Package<'_>,
    part: &Relation,
    cells: Result<&mut Cells<'_>, &mut String>,
    sheet: &mut Sheet,
) -> Result<(), String> {
    let xml = package
        .part_up_to(&part.part, MOST_SHEET_BYTES)
        .map_err(|error| format!("the sheet is not read: {}", error.reason()))?;
    marks::add(&xml, sheet);
    drop(xml);
    let workbook = cells.map_err(|reason| format!("the sheet is not read: {reason}"))?;
    // The library may panic on what it does not expect; other sheets go on.
    let grid = &mut sheet.grid;
    let name = &sheet.name;
    catch_unwind(AssertUnwindSafe(|| read_cells(workbook, name, grid)))
        .unwrap_or_else(|_panic| Err("the reader failed on the sheet".to_owned()))
}

fn read_cells(cells: &mut Cells<'_>, name: &str, grid: &mut Grid) -> Result<(), String> {
    let Cells { workbook, formats } = cells;
    let is_1904 = workbook.has_1904_epoch();
    let broken = |_error: XlsxError| "the rest of the sheet is damaged".to_owned();
    let mut cells = workbook
        .worksheet_cells_reader(name)
        .map_err(|_error| "the sheet is damaged".to_owned())?;
    let formats = formats.get_or_insert_with(|| cells.styles().iter().map(format_of).collect());
    while let Some((cell, style)) = cells.next_cell_with_style_id().map_err(broken)? {
        let general = NumberFormat::General;
        let format = formats.get(style).unwrap_or(&general);
        push(
            grid,
            cell.get_position(),
            cell.get_value(),
            (format, is_1904),
        )
        .map_err(|Full| Full::REASON.to_owned())?;
    }
    Ok(())
}

fn format_of(style: &Style) -> NumberFormat {
    let Some(format) = &style.number_format else {
        return NumberFormat::General;
    };
    match (NumberFormat::of(&format.format_code), format.format_id) {
        (NumberFormat::General, Some(id)) if id < 164 => NumberFormat::builtin(id),
        (format, _) => format,
    }
}

/// Adds a cell as its format shows it.
pub(super) fn push(
    grid: &mut Grid,
    at: (u32, u32),
    value: &DataRef<'_>,
    (format, is_1904): (&NumberFormat, bool),
) -> Result<(), Full> {
    match value {
        DataRef::Empty => Ok(()),
        DataRef::SharedString(text) => grid.push(at, Kind::Text, text),
        DataRef::String(text) => grid.push(at, Kind::Text, text),
        #[expect(
            clippy::cast_precision_loss,
            reason = "a spreadsheet has no larger numbers"
        )]
        DataRef::Int(value) => grid.push(at, Kind::Value, &format.show(*value as f64, is_1904)),
        DataRef::Float(value) => grid.push(at, Kind::Value, &format.show(*value, is_1904)),
        DataRef::DateTime(moment) => {
            let plain = if moment.is_duration() {
                NumberFormat::Duration
            } else {
                NumberFormat::Date {
                    day: true,
                    time: true,
                }
            };
            let format = if format.is_time() { format } else { &plain };
            grid.push(at, Kind::Value, &format.show(moment.as_f64(), is_1904))
        }
        DataRef::Bool(value) => grid.push(at, Kind::Value, if *value { "TRUE" } else { "FALSE" }),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            grid.push(at, Kind::Value, &iso(text))
        }
        DataRef::Error(error) => grid.push(at, Kind::Value, &error.to_string()),
    }
}

/// `2021-01-01T13:30:00` as we write it: `2021-01-01 13:30`.
pub(super) fn iso(text: &str) -> String {
    let text = text.trim().trim_end_matches('Z');
    let (date, time) = text.split_once('T').unwrap_or((text, ""));
    let time = time.split('.').next().unwrap_or_default();
    let time = time
        .strip_suffix(":00")
        .filter(|time| time.contains(':'))
        .unwrap_or(time);
    if time.is_empty() || time == "00:00" || date.is_empty() {
        date.to_owned()
    } else {
        format!("{date} {time}")
    }
}

fn open(bytes: &[u8]) -> Result<Cells<'_>, String> {
    let opened = catch_unwind(AssertUnwindSafe(|| Xlsx::new(Cursor::new(bytes))));
    match opened {
        Ok(Ok(workbook)) => Ok(Cells {
            workbook,
            formats: None,
        }),
        Ok(Err(XlsxError::Password)) => Err("it is locked by a password".to_owned()),
        Ok(Err(_)) | Err(_) => Err("the parts that all sheets share are damaged".to_owned()),
    }
}

/// The library unpacks these parts without bound, and believes what they declare.
fn check_texts(package: &mut Package<'_>, workbook: &str) -> Result<(), String> {
    let folder = workbook.rsplit_once('/').map_or("", |(folder, _)| folder);
    let texts = format!("{folder}/sharedStrings.xml");
    let texts = texts.trim_start_matches('/');
    if !package.has(texts) {
        return Ok(());
    }
    let xml = package
        .part_up_to(texts, MOST_SHEET_BYTES / 2)
        .map_err(|error| format!("the texts of all sheets: {}", error.reason()))?;
    let mut declared = None;
    walk(&xml, |step| match step {
        Step::Open(tag) => {
            declared = attribute(tag, "uniqueCount");
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    // `<si/>` is the shortest text.
    let possible = xml.len() / 5;
    let declared = declared.and_then(|count| count.trim().parse::<usize>().ok());
    if declared.is_some_and(|count| count > possible) {
        return Err("the texts of all sheets declare more than they hold".to_owned());
    }
    Ok(())
}

fn workbook_part(package: &mut Package<'_>) -> String {
    let relations = package.relations("");
    let main = relations
        .into_iter()
        .find(|relation| relation.kind == "officeDocument");
    main.map_or_else(|| "xl/workbook.xml".to_owned(), |relation| relation.part)
}

fn sheets(package: &mut Package<'_>, workbook: &str) -> Result<Vec<Listed>, ExtractError> {
    let relations = package.relations(workbook);
    let xml = package
        .part(workbook)
        .map_err(|_error| damaged("its list of sheets cannot be read"))?;
    let mut listed: Vec<Listed> = Vec::new();
    walk(&xml, |step| {
        if let Step::Open(tag) = step
            && tag.local_name().as_ref() == b"sheet"
        {
            let id = attribute(tag, "id");
            let part = relations
                .iter()
                .find(|relation| Some(&relation.id) == id.as_ref());
            let state = attribute(tag, "state").unwrap_or_default();
            listed.push(Listed {
                name: attribute(tag, "name").unwrap_or_default(),
                hidden: matches!(state.as_str(), "hidden" | "veryHidden"),
                part: part.cloned(),
            });
        }
        ControlFlow::Continue(())
    });
    if listed.is_empty() {
        return Err(damaged("no sheet is in it"));
    }
    Ok(listed)
}

fn title(package: &mut Package<'_>) -> Option<String> {
    let xml = package.part("docProps/core.xml").ok()?;
    let (mut title, mut within) = (String::new(), false);
    walk(&xml, |step| {
        match step {
            Step::Open(tag) => within = tag.local_name().as_ref() == b"title",
            Step::Close(b"title") => return ControlFlow::Break(()),
            Step::Text(text) if within => title.push_str(text),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    let title = title.trim();
    (!title.is_empty()).then(|| title.to_owned())
}
