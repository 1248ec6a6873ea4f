//! What a sheet holds, before it is laid out. Cells are kept apart from their text and only where
//! there is text, so that a sheet of a million rows with one cell costs one cell.

use std::ops::Range;

/// Cells of a sheet; beyond, the rest is left out and said so.
const MOST_CELLS: usize = 4_000_000;
/// Bytes of a sheet's text.
const MOST_BYTES: usize = 96 << 20;

/// One sheet.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub(super) name: String,
    /// Not shown by the program unless asked.
    pub(super) hidden: bool,
    pub(super) grid: Grid,
    /// Cells that show one value together.
    pub(super) merged: Vec<Area>,
    pub(super) hidden_rows: Spans,
    pub(super) hidden_columns: Spans,
    pub(super) notes: Vec<Note>,
    /// Lines for the end of the sheet: what its text boxes and charts say.
    pub(super) extras: Vec<String>,
    /// What may be wrong.
    pub(super) doubts: Vec<String>,
    /// Why the sheet, or the rest of it, could not be read.
    pub(super) error: Option<String>,
}

/// A remark on a cell.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Note {
    /// Counted from 0, as all rows and columns here.
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) author: Option<String>,
    pub(super) text: String,
}

/// A rectangle of cells; both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) rows: (u32, u32),
    pub(super) columns: (u32, u32),
}

impl Area {
    /// The rectangle of a reference such as `B2:C3` or `B2`.
    pub(super) fn parse(reference: &str) -> Option<Self> {
        let (from, to) = reference.split_once(':').unwrap_or((reference, reference));
        let ((row, column), (last_row, last_column)) = (cell_of(from)?, cell_of(to)?);
        Some(Self {
            rows: (row, last_row),
            columns: (column, last_column),
        })
    }
}

/// Row and column of a reference such as `$B$2`, counted from 0.
pub(super) fn cell_of(reference: &str) -> Option<(u32, u32)> {
    let (mut column, mut row) = (0_u32, 0_u32);
    for c in reference.chars().filter(|c| *c != '$') {
        if let Some(digit) = c.to_digit(10) {
            row = row.checked_mul(10)?.checked_add(digit)?;
        } else if c.is_ascii_alphabetic() && row == 0 {
            let letter = c.to_ascii_uppercase().to_digit(36)?.checked_sub(9)?;
            column = column.checked_mul(26)?.checked_add(letter)?;
        } else {
            return None;
        }
    }
    Some((row.checked_sub(1)?, column.checked_sub(1)?))
}

/// The letters of a column: 0 is `A`, 27 is `AB`.
pub(super) fn column_letters(column: u32) -> String {
    let mut letters = Vec::new();
    let mut left = column.saturating_add(1);
    while left > 0 {
        let digit = (left - 1) % 26;
        letters.push(
            char::from_digit(digit + 10, 36)
                .unwrap_or('?')
                .to_ascii_uppercase(),
        );
        left = (left - 1) / 26;
    }
    letters.iter().rev().collect()
}

/// Runs of rows or columns; both ends belong to them.
#[derive(Debug, Default)]
pub(super) struct Spans(Vec<(u32, u32)>);

impl Spans {
    /// Adds a run; runs come in order.
    pub(super) fn add(&mut self, first: u32, last: u32) {
        match self.0.last_mut() {
            Some((from, to)) if first >= *from && first <= to.saturating_add(1) => {
                *to = last.max(*to);
            }
            _ => self.0.push((first, last)),
        }
    }

    pub(super) fn contains(&self, index: u32) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= index);
        after > 0
            && self
                .0
                .get(after - 1)
                .is_some_and(|(_, last)| index <= *last)
    }
}

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// A number, a date, a truth value.
    Value,
}

/// A cell with text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) kind: Kind,
    start: u32,
    end: u32,
}

impl Cell {
    /// Bytes of its text.
    pub(super) fn bytes(&self) -> u32 {
        self.end - self.start
    }

    /// Whether both show the same merged value.
    pub(super) fn same_text(&self, other: &Self) -> bool {
        self.start == other.start && self.end == other.end
    }
}

/// The cells of a sheet that hold anything.
#[derive(Debug, Default)]
pub(super) struct Grid {
    text: String,
    cells: Vec<Cell>,
}

/// No more cells are taken.
#[derive(Debug)]
pub(super) struct Full;

impl Full {
    /// What is said of it.
    pub(super) const REASON: &'static str =
        "the rest of the sheet is not read: it has more than 4 million cells or 96 MB of text";
}

impl Grid {
    /// Adds a cell, unless it is blank.
    pub(super) fn push(&mut self, at: (u32, u32), kind: Kind, text: &str) -> Result<(), Full> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        if self.cells.len() >= MOST_CELLS || self.text.len() + text.len() > MOST_BYTES {
            return Err(Full);
        }
        let start = u32::try_from(self.text.len()).map_err(|_too_long| Full)?;
        self.text.push_str(text);
        let end = u32::try_from(self.text.len()).map_err(|_too_long| Full)?;
        self.cells.push(Cell {
            row: at.0,
            column: at.1,
            kind,
            start,
            end,
        });
        Ok(())
    }

    /// Repeats the cells of row `from` in row `to`, further down.
    pub(super) fn repeat_row(&mut self, from: Range<usize>, to: u32) -> Result<(), Full> {
        for index in from {
            if self.cells.len() >= MOST_CELLS {
                return Err(Full);
            }
            if let Some(cell) = self.cells.get(index) {
                self.cells.push(Cell { row: to, ..*cell });
            }
        }
        Ok(())
    }

    /// Shows `cell`'s text at another place too.
    pub(super) fn repeat(&mut self, cell: Cell, at: (u32, u32)) {
        if self.cells.len() < MOST_CELLS {
            self.cells.push(Cell {
                row: at.0,
                column: at.1,
                ..cell
            });
        }
    }

    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    pub(super) fn text(&self, cell: &Cell) -> &str {
        let range = usize::try_from(cell.start)
            .ok()
            .zip(usize::try_from(cell.end).ok());
        range
            .and_then(|(start, end)| self.text.get(start..end))
            .unwrap_or_default()
    }

    /// The cell at a place; the grid is sorted.
    pub(super) fn at(&self, row: u32, column: u32) -> Option<Cell> {
        let found = self
            .cells
            .binary_search_by_key(&(row, column), |cell| (cell.row, cell.column));
        found.ok().and_then(|index| self.cells.get(index).copied())
    }

    /// Puts the cells in reading order; of two at one place the first stays.
    pub(super) fn sort(&mut self) {
        if !self
            .cells
            .is_sorted_by(|a, b| (a.row, a.column) < (b.row, b.column))
        {
            self.cells.sort_by_key(|cell| (cell.row, cell.column));
            self.cells.dedup_by_key(|cell| (cell.row, cell.column));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_and_written() {
        #[track_caller]
        fn check(reference: &str, expect: Option<(u32, u32)>) {
            assert_eq!(cell_of(reference), expect, "{reference}");
        }
        check("A1", Some((0, 0)));
        check("$AB$12", Some((11, 27)));
        check("XFD1048576", Some((1_048_575, 16_383)));
        check("A0", None);
        check("1A", None);
        check("B", None);
        check("A99999999999", None);
        check("", None);
        for column in [0, 25, 26, 701, 702, 16_383] {
            let letters = column_letters(column);
            assert_eq!(
                cell_of(&format!("{letters}1")),
                Some((0, column)),
                "{letters}"
            );
        }
    }

    #[test]
    fn runs_are_joined() {
        let mut spans = Spans::default();
        for (first, last) in [(2, 3), (4, 4), (9, 12)] {
            spans.add(first, last);
        }
        let inside: Vec<u32> = (0..15).filter(|index| spans.contains(*index)).collect();
        assert_eq!(inside, [2, 3, 4, 9, 10, 11, 12]);
    }
}
