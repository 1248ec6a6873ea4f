//! From a sheet's cells to pages: where one table ends and the next begins, which row is its
//! header, and what stands outside.

mod tables;

use super::grid::{Area, Cell, Grid, Note, Sheet, column_letters};
use crate::extract::ExtractedPage;
use crate::extract::rows::Pages;
use shared::contract::{Locator, PageRecord, ReadMethod};

use self::tables::{Piece, Table, pieces};

/// A merged value is repeated in so many rows and columns.
const MOST_FILLED: (u32, u32) = (1_000, 64);
/// Cells of a sheet that repeat a value.
const MOST_REPEATS: usize = 200_000;
/// Cells that are looked at for that: areas may lie over one another.
const MOST_LOOKS: usize = 2_000_000;
/// A longer text is not repeated.
const MOST_REPEATED_BYTES: usize = 200;

/// The pages of a sheet, at least one.
pub(super) fn pages(mut sheet: Sheet) -> Vec<ExtractedPage> {
    sheet.grid.sort();
    fill(&mut sheet.grid, &sheet.merged);
    sheet.notes.sort_by_key(|note| (note.row, note.column));
    let heading = if sheet.hidden {
        sheet
            .doubts
            .push("the sheet is hidden in the workbook".to_owned());
        format!("{} (hidden sheet)", sheet.name)
    } else {
        sheet.name.clone()
    };
    let mut doubts = sheet.doubts.clone();
    doubts.extend(hidden_doubt(&sheet));
    let nothing = sheet.grid.len() == 0 && sheet.notes.is_empty() && sheet.extras.is_empty();
    let mut done = Vec::new();
    if !(nothing && sheet.error.is_some()) {
        let mut writer = Writer {
            pages: Pages::new(&sheet.name, doubts).under(&heading),
            sheet: &sheet,
            notes: &sheet.notes,
        };
        writer.write();
        done = writer.pages.finish();
    }
    if let Some(error) = sheet.error {
        let last = sheet.grid.cells().last().map_or(0, |cell| cell.row + 1);
        done.push(missing(&sheet.name, last + 1, error));
    }
    done
}

/// A sheet, or the rest of it from row `from`, that could not be read.
fn missing(name: &str, from: u32, error: String) -> ExtractedPage {
    ExtractedPage {
        record: PageRecord {
            number: 1,
            locator: Locator::Sheet {
                name: name.to_owned(),
                rows: (from, from),
            },
            method: ReadMethod::Missing,
            characters: 0,
            doubts: Vec::new(),
            error: Some(error),
        },
        markdown: String::new(),
    }
}

/// Repeats the value of merged cells in each of them.
fn fill(grid: &mut Grid, merged: &[Area]) {
    let Some(last_row) = grid.cells().last().map(|cell| cell.row) else {
        return;
    };
    let last_column = grid
        .cells()
        .iter()
        .map(|cell| cell.column)
        .max()
        .unwrap_or(0);
    let (mut repeats, mut looks) = (Vec::new(), 0_usize);
    for area in merged {
        let (row, column) = (area.rows.0, area.columns.0);
        let Some(cell) = grid.at(row, column) else {
            continue;
        };
        if grid.text(&cell).len() > MOST_REPEATED_BYTES {
            continue;
        }
        let rows = row..=area
            .rows
            .1
            .min(last_row)
            .min(row.saturating_add(MOST_FILLED.0));
        for row in rows {
            let wide = area.columns.1.saturating_sub(column).min(MOST_FILLED.1);
            looks += usize::try_from(wide).unwrap_or(usize::MAX) + 1;
            let columns = column
                ..=area
                    .columns
                    .1
                    .min(last_column)
                    .min(column.saturating_add(MOST_FILLED.1));
            let free = columns.filter(|column| grid.at(row, *column).is_none());
            repeats.extend(free.map(|column| (cell, (row, column))));
        }
        if repeats.len() > MOST_REPEATS || looks > MOST_LOOKS {
            break;
        }
    }
    for (cell, at) in repeats {
        grid.repeat(cell, at);
    }
    grid.sort();
}

fn hidden_doubt(sheet: &Sheet) -> Option<String> {
    let cells = sheet.grid.cells();
    let rows = cells
        .iter()
        .any(|cell| sheet.hidden_rows.contains(cell.row));
    let columns = cells
        .iter()
        .any(|cell| sheet.hidden_columns.contains(cell.column));
    let what = match (rows, columns) {
        (true, true) => "rows and columns",
        (true, false) => "rows",
        (false, true) => "columns",
        (false, false) => return None,
    };
    Some(format!("some {what} are hidden in the sheet"))
}

struct Writer<'a> {
    pages: Pages,
    sheet: &'a Sheet,
    /// Those that are still to be written.
    notes: &'a [Note],
}

impl Writer<'_> {
    fn write(&mut self) {
        let sheet = self.sheet;
        for piece in pieces(sheet.grid.cells()) {
            match piece {
                Piece::Line(row) => self.line(row),
                Piece::Table(table) => self.table(&table),
            }
        }
        self.notes_up_to(u32::MAX);
        for extra in &sheet.extras {
            self.pages.note(extra);
        }
    }

    /// A row outside of tables: its distinct texts.
    fn line(&mut self, row: &[Cell]) {
        let Some(first) = row.first() else {
            return;
        };
        let mut texts: Vec<&str> = Vec::new();
        for (index, cell) in row.iter().enumerate() {
            let before = row.get(..index).unwrap_or_default();
            if !before.iter().any(|other| other.same_text(cell)) {
                texts.push(self.sheet.grid.text(cell));
            }
        }
        let mut text = texts.join(" ");
        if self.is_hidden(first.row) {
            text.insert_str(0, "(hidden) ");
        }
        self.pages.line(first.row + 1, &text);
        self.notes_up_to(first.row);
    }

    fn table(&mut self, table: &Table<'_>) {
        let columns = table.columns();
        let first = table
            .header
            .iter()
            .chain(&table.rows)
            .find_map(|row| row.first());
        if let Some(cell) = first {
            let header = columns.iter().map(|column| self.header(table, *column));
            self.pages.header(cell.row + 1, header.collect());
            let last = table.header.last().and_then(|row| row.first());
            if let Some(cell) = last {
                self.notes_up_to(cell.row);
            }
        }
        let mut cells: Vec<&str> = Vec::with_capacity(columns.len());
        for row in &table.rows {
            let Some(first) = row.first() else {
                continue;
            };
            cells.clear();
            let label = row.len() > 1 && row.iter().all(|cell| cell.same_text(first));
            let mut row_cells = row
                .iter()
                .take(if label { 1 } else { row.len() })
                .peekable();
            for column in &columns {
                if row_cells.peek().is_none() {
                    break;
                }
                let cell = row_cells.next_if(|cell| cell.column == *column);
                cells.push(cell.map_or("", |cell| self.sheet.grid.text(cell)));
            }
            self.row(first.row, &cells);
        }
    }

    fn row(&mut self, row: u32, cells: &[&str]) {
        if self.is_hidden(row) {
            let first = format!("(hidden) {}", cells.first().copied().unwrap_or_default());
            let rest = cells.iter().skip(1).copied();
            self.pages
                .row(row + 1, std::iter::once(first.as_str()).chain(rest));
        } else {
            self.pages.row(row + 1, cells.iter().copied());
        }
        self.notes_up_to(row);
    }

    /// The header over `column`; of several header rows, what they say together.
    fn header(&self, table: &Table<'_>, column: u32) -> String {
        let mut text = String::new();
        let mut last: Option<&Cell> = None;
        for row in &table.header {
            let found = row.binary_search_by_key(&column, |cell| cell.column).ok();
            let Some(cell) = found.and_then(|index| row.get(index)) else {
                continue;
            };
            if last.is_some_and(|last| last.same_text(cell)) {
                continue;
            }
            if !text.is_empty() {
                text.push_str(" / ");
            }
            text.push_str(self.sheet.grid.text(cell));
            last = Some(cell);
        }
        if self.sheet.hidden_columns.contains(column) {
            text.push_str(" (hidden)");
        }
        text
    }

    fn is_hidden(&self, row: u32) -> bool {
        self.sheet.hidden_rows.contains(row)
    }

    /// Writes the notes on cells down to `row`.
    fn notes_up_to(&mut self, row: u32) {
        while let Some((note, rest)) = self.notes.split_first() {
            if note.row > row {
                return;
            }
            self.notes = rest;
            let author = note
                .author
                .as_ref()
                .filter(|author| !author.trim().is_empty());
            let by = author
                .map(|author| format!(" by {author}"))
                .unwrap_or_default();
            let place = format!("{}{}", column_letters(note.column), note.row + 1);
            self.pages
                .note(&format!("Note on {place}{by}: {}", note.text));
        }
    }
}

#[cfg(test)]
mod tests;
