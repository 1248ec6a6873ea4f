//! Tables: those that hold data become Markdown tables, those that only place things fall apart
//! into what they place.

use anydoc::model::{Block, Cell, CellSlot, Table};

use super::super::super::rows::{push_row, push_rule};
use super::{Renderer, marker};

/// A longer text is not written again for each row and column that its cell reaches over.
const REPEATED_BYTES: usize = 64;

impl Renderer<'_> {
    pub(super) fn table(&mut self, table: &Table) -> String {
        if only_places(table) {
            let cells: Vec<String> = cells(table)
                .map(|cell| self.blocks(&cell.blocks))
                .filter(|text| !text.is_empty())
                .collect();
            return cells.join("\n\n");
        }
        let mut rows = self.rows(table);
        rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        let columns = rows
            .iter()
            .filter_map(|row| row.iter().rposition(|cell| !cell.is_empty()))
            .max()
            .map_or(0, |last| last + 1);
        if columns == 0 {
            return String::new();
        }
        let mut out = String::new();
        if rows.len() > 1 && is_one_cell(table) {
            // A heading over all columns is no header.
            let caption = rows.remove(0).into_iter().next().unwrap_or_default();
            out.push_str(&caption);
            out.push_str("\n\n");
        }
        for (index, row) in rows.iter().enumerate() {
            push_row(
                &mut out,
                row.iter().take(columns).map(String::as_str),
                columns,
            );
            if index == 0 {
                push_rule(&mut out, columns);
            }
        }
        out.truncate(out.trim_end().len());
        out
    }

    /// The text of all cells; what a cell reaches over is filled with its text.
    fn rows(&mut self, table: &Table) -> Vec<Vec<String>> {
        let mut rows: Vec<Vec<String>> = Vec::new();
        for slots in &table.grid {
            let mut row: Vec<String> = Vec::new();
            for slot in slots {
                let text = match slot {
                    CellSlot::Origin(cell) => self.cell(cell),
                    CellSlot::Covered {
                        origin_row,
                        origin_col,
                    } => {
                        let above = rows.get(*origin_row).unwrap_or(&row);
                        repeated(above.get(*origin_col))
                    }
                };
                row.push(text);
            }
            rows.push(row);
        }
        rows
    }

    fn cell(&mut self, cell: &Cell) -> String {
        let mut parts = Vec::new();
        for block in &cell.blocks {
            self.push_in_cell(block, &mut parts);
        }
        parts.join(" ")
    }

    /// A block as a part of a line.
    fn push_in_cell(&mut self, block: &Block, parts: &mut Vec<String>) {
        let text = match block {
            Block::Heading { content, .. } | Block::Paragraph(content) => self.in_a_line(content),
            Block::List(list) => {
                for (item, number) in list.items.iter().zip(list.start..) {
                    let mut inner = Vec::new();
                    for block in &item.blocks {
                        self.push_in_cell(block, &mut inner);
                    }
                    if !inner.is_empty() {
                        let marker = marker(list.marker, number, item.marker_label.as_deref());
                        parts.push(format!("{marker}{}", inner.join(" ")));
                    }
                }
                return;
            }
            Block::Table(table) => {
                let rows = self.rows(table).into_iter();
                let rows = rows.map(|mut row| {
                    row.retain(|cell| !cell.is_empty());
                    row.join(" / ")
                });
                let rows: Vec<String> = rows.filter(|row| !row.is_empty()).collect();
                rows.join("; ")
            }
            Block::BlockQuote(blocks) => {
                for block in blocks {
                    self.push_in_cell(block, parts);
                }
                return;
            }
            Block::CodeBlock { text, .. } => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Block::Math(tex) => format!("${}$", tex.trim()),
            Block::Rule => return,
        };
        if !text.is_empty() {
            parts.push(text);
        }
    }
}

/// The text of a cell for another place that it reaches over.
fn repeated(text: Option<&String>) -> String {
    text.filter(|text| text.len() <= REPEATED_BYTES)
        .cloned()
        .unwrap_or_default()
}

fn cells(table: &Table) -> impl Iterator<Item = &Cell> {
    table.grid.iter().flatten().filter_map(|slot| match slot {
        CellSlot::Origin(cell) => Some(cell),
        CellSlot::Covered { .. } => None,
    })
}

/// Whether the table is there to place things, not to relate them: it has one column, or the tables
/// within it are larger than itself.
fn only_places(table: &Table) -> bool {
    let is_wide = |row: &Vec<CellSlot>| {
        let origins = row
            .iter()
            .filter(|slot| matches!(slot, CellSlot::Origin(_)));
        origins.count() > 1
    };
    if !table.grid.iter().any(is_wide) {
        return true;
    }
    let within: usize = cells(table)
        .flat_map(|cell| &cell.blocks)
        .map(|block| match block {
            Block::Table(inner) => cells(inner).count(),
            _ => 0,
        })
        .sum();
    within > cells(table).count()
}

/// Whether the first row is one cell over several columns.
fn is_one_cell(table: &Table) -> bool {
    let Some((CellSlot::Origin(cell), rest)) = table.grid.first().and_then(|row| row.split_first())
    else {
        return false;
    };
    let is_covered = |slot: &CellSlot| matches!(slot, CellSlot::Covered { .. });
    cell.row_span == 1 && !cell.is_empty() && !rest.is_empty() && rest.iter().all(is_covered)
}
