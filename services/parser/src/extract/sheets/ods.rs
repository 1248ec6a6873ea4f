//! OpenDocument spreadsheets (ODF 1.3, part 3, 9.1). Read here and not by `calamine`, which spreads
//! repeated rows out in memory and leaves out what is merged, hidden, remarked, and percentages.

mod cell;

use std::collections::HashMap;
use std::ops::ControlFlow;

use quick_xml::events::BytesStart;

use super::grid::{Area, Full, Note, Sheet};
use super::{Book, damaged};
use crate::extract::ExtractError;
use crate::extract::parts::xml::{Step, attribute, number, walk};
use crate::extract::parts::{MOST_SHEET_BYTES, Package, PartError};

use self::cell::OpenCell;

/// Rows and columns beyond these do not exist.
const MOST_ROWS: u32 = 1_048_576;
const MOST_COLUMNS: u32 = 16_384;
/// A filled row, and a filled cell, is repeated so often; more is the work of a format, not of a
/// person.
const MOST_ROW_REPEATS: u32 = 1_000;
const MOST_CELL_REPEATS: u32 = 64;

/// Reads a workbook and hands over each sheet as it is read.
pub(super) fn read(bytes: &[u8], book: &mut Book) -> Result<(), ExtractError> {
    let mut package = Package::open(bytes)?;
    if is_locked(&mut package) {
        return Err(ExtractError::PasswordNeeded);
    }
    let content = package
        .part_up_to("content.xml", MOST_SHEET_BYTES)
        .map_err(|error| match error {
            PartError::TooLarge => ExtractError::TooLarge {
                what: "its sheets unpack to more than 256 MB".to_owned(),
            },
            error => damaged(&format!("its sheets: {}", error.reason())),
        })?;
    let mut walker = Walker::new(book);
    let whole = walk(&content, |step| walker.step(&step));
    walker.finish(whole);
    book.title = title(&mut package);
    Ok(())
}

fn is_locked(package: &mut Package<'_>) -> bool {
    let Ok(manifest) = package.part("META-INF/manifest.xml") else {
        return false;
    };
    let mut locked = false;
    walk(&manifest, |step| match step {
        Step::Open(tag) if tag.local_name().as_ref() == b"encryption-data" => {
            locked = true;
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    locked
}

fn title(package: &mut Package<'_>) -> Option<String> {
    let meta = package.part("meta.xml").ok()?;
    let (mut title, mut within) = (String::new(), false);
    walk(&meta, |step| {
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

/// Where the walk through the content stands.
struct Walker<'a> {
    book: &'a mut Book,
    /// The style being declared, and whether tables of a style are shown.
    style: Option<String>,
    hidden_styles: HashMap<String, bool>,
    sheet: Option<Sheet>,
    /// Tables within cells and deleted content have their own depth.
    nested: u32,
    row: u32,
    column: u32,
    /// Columns that have been declared.
    columns: u32,
    row_repeats: u32,
    /// The row's first cell in the grid.
    row_start: usize,
    cell: Option<OpenCell>,
    full: bool,
}

impl<'a> Walker<'a> {
    fn new(book: &'a mut Book) -> Self {
        Self {
            book,
            style: None,
            hidden_styles: HashMap::new(),
            sheet: None,
            nested: 0,
            row: 0,
            column: 0,
            columns: 0,
            row_repeats: 1,
            row_start: 0,
            cell: None,
            full: false,
        }
    }

    fn step(&mut self, step: &Step<'_>) -> ControlFlow<()> {
        match step {
            Step::Open(tag) => self.open(tag),
            Step::Close(name) => self.close(name),
            Step::Text(text) => {
                if let Some(cell) = &mut self.cell {
                    cell.text(text);
                } else if let Some(sheet) = &mut self.sheet {
                    cell::shape_text(sheet, text);
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn open(&mut self, tag: &BytesStart<'_>) {
        let name = tag.local_name();
        match name.as_ref() {
            b"style" => self.style = attribute(tag, "name"),
            b"table-properties" => {
                if let (Some(style), Some(shown)) = (self.style.clone(), attribute(tag, "display"))
                {
                    self.hidden_styles.insert(style, shown == "false");
                }
            }
            b"table" if self.sheet.is_some() || self.nested > 0 => self.nested += 1,
            // Rows that were deleted, kept for those who reject the change.
            b"tracked-changes" => self.nested += 1,
            _ if self.nested > 0 => {}
            b"table" => self.open_sheet(tag),
            b"table-column" => self.open_column(tag),
            b"table-row" => self.open_row(tag),
            b"table-cell" | b"covered-table-cell" if self.sheet.is_some() => {
                self.cell = Some(OpenCell::new(tag));
            }
            name => {
                if let Some(cell) = &mut self.cell {
                    cell.open(name, tag);
                }
            }
        }
    }

    fn close(&mut self, name: &[u8]) {
        match name {
            b"tracked-changes" => self.nested = self.nested.saturating_sub(1),
            b"table" if self.nested > 0 => self.nested -= 1,
            _ if self.nested > 0 => {}
            b"style" => self.style = None,
            b"table" => self.close_sheet(None),
            b"table-row" => self.close_row(),
            b"table-cell" | b"covered-table-cell" => {
                if let Some(cell) = self.cell.take() {
                    self.close_cell(&cell);
                }
            }
            name => match (&mut self.cell, &mut self.sheet) {
                (Some(cell), _) => cell.close(name),
                (None, Some(sheet)) if name == b"p" => cell::end_shape_line(sheet),
                _ => {}
            },
        }
    }

    fn open_sheet(&mut self, tag: &BytesStart<'_>) {
        let style = attribute(tag, "style-name").unwrap_or_default();
        self.sheet = Some(Sheet {
            name: attribute(tag, "name").unwrap_or_default(),
            hidden: self.hidden_styles.get(&style).copied().unwrap_or(false),
            ..Sheet::default()
        });
        (self.row, self.column, self.columns) = (0, 0, 0);
        self.full = false;
    }

    fn open_column(&mut self, tag: &BytesStart<'_>) {
        let repeats = number(tag, "number-columns-repeated").unwrap_or(1);
        let first = self.columns;
        self.columns = first.saturating_add(repeats).min(MOST_COLUMNS);
        if let Some(sheet) = &mut self.sheet
            && is_hidden(tag)
            && self.columns > first
        {
            sheet.hidden_columns.add(first, self.columns - 1);
        }
    }

    fn open_row(&mut self, tag: &BytesStart<'_>) {
        self.column = 0;
        self.row_repeats = number(tag, "number-rows-repeated").unwrap_or(1).max(1);
        let Some(sheet) = &mut self.sheet else {
            return;
        };
        self.row_start = sheet.grid.len();
        if is_hidden(tag) {
            let last = self.row.saturating_add(self.row_repeats - 1);
            sheet.hidden_rows.add(self.row, last);
        }
    }

    fn close_row(&mut self) {
        let first = self.row;
        self.row = first.saturating_add(self.row_repeats).min(MOST_ROWS);
        let Some(sheet) = &mut self.sheet else {
            return;
        };
        let cells = self.row_start..sheet.grid.len();
        if cells.is_empty() || self.row_repeats == 1 {
            return;
        }
        let last = self.row.min(first.saturating_add(MOST_ROW_REPEATS));
        for row in first + 1..last {
            if sheet.grid.repeat_row(cells.clone(), row).is_err() {
                self.full = true;
                return;
            }
        }
        if last < self.row {
            let doubt = format!(
                "row {} repeats more than 1,000 times; the rest is left out",
                first + 1
            );
            sheet.doubts.push(doubt);
        }
    }

    fn close_cell(&mut self, cell: &OpenCell) {
        let column = self.column;
        self.column = column.saturating_add(cell.repeats).min(MOST_COLUMNS);
        let Some(sheet) = &mut self.sheet else {
            return;
        };
        if self.row >= MOST_ROWS || column >= MOST_COLUMNS || self.full {
            return;
        }
        if let Some((author, text)) = cell.note() {
            sheet.notes.push(Note {
                row: self.row,
                column,
                author,
                text,
            });
        }
        if cell.rows > 1 || cell.columns > 1 {
            sheet.merged.push(Area {
                rows: (self.row, self.row.saturating_add(cell.rows - 1)),
                columns: (column, column.saturating_add(cell.columns - 1)),
            });
        }
        let (kind, text) = cell.shown();
        let last = self.column.min(column.saturating_add(MOST_CELL_REPEATS));
        for column in column..last {
            if let Err(Full) = sheet.grid.push((self.row, column), kind, &text) {
                self.full = true;
                return;
            }
            if text.trim().is_empty() {
                return;
            }
        }
    }

    fn close_sheet(&mut self, error: Option<String>) {
        if let Some(mut sheet) = self.sheet.take() {
            let full = self.full.then(|| Full::REASON.to_owned());
            sheet.error = error.or(full);
            self.book.add(sheet);
        }
    }

    /// The content has ended, be it in the middle of a sheet.
    fn finish(&mut self, whole: bool) {
        if let Some(cell) = self.cell.take() {
            self.close_cell(&cell);
        }
        let broken = "the rest of the sheets is damaged".to_owned();
        if self.sheet.is_some() {
            self.close_sheet(Some(broken));
        } else if !whole && !self.book.is_empty() {
            let sheet = Sheet {
                name: "?".to_owned(),
                error: Some(broken),
                ..Sheet::default()
            };
            self.book.add(sheet);
        }
    }
}

fn is_hidden(tag: &BytesStart<'_>) -> bool {
    let visibility = attribute(tag, "visibility").unwrap_or_default();
    matches!(visibility.as_str(), "collapse" | "filter")
}
