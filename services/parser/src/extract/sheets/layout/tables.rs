//! Where tables begin and end.

use super::super::grid::{Cell, Kind};

/// A column of texts that is shorter is a few lines, not a table.
const LEAST_LIST: usize = 12;
/// Rows of a header, one below the other.
const MOST_HEADER_ROWS: usize = 3;

/// What follows one another on a sheet.
pub(super) enum Piece<'a> {
    /// A row outside of tables.
    Line(&'a [Cell]),
    Table(Table<'a>),
}

/// A header and what stands below it.
pub(super) struct Table<'a> {
    pub(super) header: Vec<&'a [Cell]>,
    pub(super) rows: Vec<&'a [Cell]>,
}

impl Table<'_> {
    /// The columns that hold anything, in order.
    pub(super) fn columns(&self) -> Vec<u32> {
        let rows = self.header.iter().chain(&self.rows);
        let mut columns: Vec<u32> = Vec::new();
        for cell in rows.flat_map(|row| row.iter()) {
            if let Err(place) = columns.binary_search(&cell.column) {
                columns.insert(place, cell.column);
            }
        }
        columns
    }

    fn spans(&self, row: &[Cell]) -> bool {
        let all = || self.header.iter().chain(self.rows.last());
        let first = all()
            .filter_map(|row| row.first())
            .map(|cell| cell.column)
            .min();
        let last = all()
            .filter_map(|row| row.last())
            .map(|cell| cell.column)
            .max();
        row.first().map(|cell| cell.column) >= first && row.last().map(|cell| cell.column) <= last
    }
}

/// The pieces of a sheet's cells, which are in reading order.
pub(super) fn pieces(cells: &[Cell]) -> Vec<Piece<'_>> {
    let rows: Vec<&[Cell]> = cells.chunk_by(|a, b| a.row == b.row).collect();
    let mut pieces = Vec::new();
    for block in rows.chunk_by(|a, b| follows(a, b)) {
        add_block(block, &mut pieces);
    }
    pieces
}

fn follows(above: &[Cell], below: &[Cell]) -> bool {
    let row = |row: &[Cell]| row.first().map_or(0, |cell| cell.row);
    row(above).saturating_add(1) >= row(below)
}

/// Adds rows between two empty ones.
fn add_block<'a>(mut block: &[&'a [Cell]], pieces: &mut Vec<Piece<'a>>) {
    if block.len() >= LEAST_LIST && is_one_column(block) && !is_prose(block) {
        return add_table(block, pieces);
    }
    // An empty row within a table ends it only before what is a table by itself.
    if let Some(Piece::Table(table)) = pieces.last_mut()
        && continues(table, block)
    {
        table.rows.extend(block);
        return;
    }
    while let Some((row, rest)) = block.split_first() {
        if texts(row) > 1 {
            break;
        }
        pieces.push(Piece::Line(row));
        block = rest;
    }
    if !block.is_empty() {
        add_table(block, pieces);
    }
}

fn add_table<'a>(block: &[&'a [Cell]], pieces: &mut Vec<Piece<'a>>) {
    let (header, rows) = block.split_at(header_rows(block).min(block.len()));
    pieces.push(Piece::Table(Table {
        header: header.to_vec(),
        rows: rows.to_vec(),
    }));
}

/// How many of the first rows say what the columns are.
fn header_rows(block: &[&[Cell]]) -> usize {
    let starts = |row: Option<&&[Cell]>| row.and_then(|row| row.first()).map(|cell| cell.column);
    let only_values = |row: &&[Cell]| row.iter().all(|cell| cell.kind == Kind::Value);
    // Years may be columns, but then what they are of stands before them.
    if block.first().is_some_and(only_values)
        && (block.len() == 1 || starts(block.get(1)) >= starts(block.first()))
    {
        return 0;
    }
    let mut count = 1;
    while count < MOST_HEADER_ROWS
        && let (Some(above), Some(row)) = (block.get(count - 1), block.get(count))
        && block.len() > count + 1
        && is_header(row)
        && (is_spanning(above) || is_finer(row, above))
    {
        count += 1;
    }
    count
}

/// Whether `row` parts the columns that `above` names: it has more names, and none in the column
/// where each row has its own.
fn is_finer(row: &[Cell], above: &[Cell]) -> bool {
    let first = |row: &[Cell]| row.first().map(|cell| cell.column);
    first(row) > first(above) && texts(row) > texts(above)
}

/// Whether `block` goes on with `table`: it has its columns, and no header of its own.
fn continues(table: &Table<'_>, block: &[&[Cell]]) -> bool {
    let Some(first) = block.first() else {
        return true;
    };
    let own = block.len() > 1 && is_header(first);
    texts(first) > 1 && !own && block.iter().all(|row| table.spans(row))
}

/// Whether a row says what its columns are: with texts, or with years behind a text.
fn is_header(row: &[Cell]) -> bool {
    texts(row) > 1 && row.iter().all(|cell| cell.kind == Kind::Text)
}

/// Whether a value stands over several columns.
fn is_spanning(row: &[Cell]) -> bool {
    row.windows(2)
        .any(|pair| matches!(pair, [a, b] if a.same_text(b)))
}

/// Different texts of a row.
fn texts(row: &[Cell]) -> usize {
    let changes = row
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if !a.same_text(b)));
    changes.count() + usize::from(!row.is_empty())
}

fn is_one_column(block: &[&[Cell]]) -> bool {
    let columns = || {
        block
            .iter()
            .filter_map(|row| row.first())
            .map(|cell| cell.column)
    };
    block.iter().all(|row| row.len() == 1) && columns().min() == columns().max()
}

/// Whether lines are sentences rather than entries of a list.
fn is_prose(block: &[&[Cell]]) -> bool {
    let long = block
        .iter()
        .filter_map(|row| row.first())
        .filter(|cell| cell.bytes() > 80);
    long.count() * 3 > block.len()
}
