//! Tables: those that hold data become Markdown tables, those that only place things fall apart
//! into what they place.

use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use htmd::element_handler::{ElementHandler, HandlerResult, Handlers};
use htmd::{Element, Node};

use super::super::rows::{push_row, push_rule};
use super::tree::{attribute, below, one_line, tag, text_below};

/// Columns that one cell may reach over.
const MOST_SPANNED: usize = 64;
/// A longer text is not written again in each row that its cell reaches over.
const REPEATED_BYTES: usize = 64;
/// Cells of a placing row that are read as one line, in bytes.
const LINE_BYTES: usize = 200;

/// Writes tables.
#[derive(Default)]
pub(super) struct TableHandler {
    /// How many tables the one at hand stands in, counting data tables only.
    inside: AtomicUsize,
}

impl ElementHandler for TableHandler {
    fn handle(&self, handlers: &dyn Handlers, element: Element) -> Option<HandlerResult> {
        let table = Table::of(element.node);
        let text = if self.inside.load(Ordering::Relaxed) > 0 {
            table.in_a_line(|cell| content(handlers, cell))
        } else if table.only_places(element.node) {
            table.fallen_apart(|cell| content(handlers, cell))
        } else {
            self.inside.fetch_add(1, Ordering::Relaxed);
            let text = table.as_rows(|cell| content(handlers, cell));
            self.inside.fetch_sub(1, Ordering::Relaxed);
            text
        };
        (!text.is_empty()).then(|| format!("\n\n{text}\n\n").into())
    }
}

fn content(handlers: &dyn Handlers, cell: &Rc<Node>) -> String {
    handlers.walk_children(cell).content.trim().to_owned()
}

/// A table's own parts, without those of the tables in its cells.
struct Table {
    captions: Vec<String>,
    rows: Vec<Row>,
}

struct Row {
    cells: Vec<Rc<Node>>,
    /// Whether it stands in the table's head.
    in_head: bool,
}

impl Table {
    fn of(table: &Rc<Node>) -> Self {
        let mut found = Self {
            captions: Vec::new(),
            rows: Vec::new(),
        };
        for child in table.children.borrow().iter() {
            match tag(child) {
                Some("caption") => found.captions.push(one_line(&text_below(child))),
                Some("tr") => found.push_row(child, false),
                Some("thead") => found.push_rows(child, true),
                Some("tbody" | "tfoot") => found.push_rows(child, false),
                _ => {}
            }
        }
        found.captions.retain(|caption| !caption.is_empty());
        found
    }

    fn push_rows(&mut self, section: &Rc<Node>, in_head: bool) {
        let children = section.children.borrow();
        for row in children.iter().filter(|child| tag(child) == Some("tr")) {
            self.push_row(row, in_head);
        }
    }

    fn push_row(&mut self, row: &Rc<Node>, in_head: bool) {
        let children = row.children.borrow();
        let cells = children
            .iter()
            .filter(|cell| matches!(tag(cell), Some("td" | "th")))
            .map(Rc::clone)
            .collect();
        self.rows.push(Row { cells, in_head });
    }

    /// Whether the table is there to place things, not to relate them.
    fn only_places(&self, table: &Rc<Node>) -> bool {
        let role = attribute(table, "role");
        if matches!(role.as_deref(), Some("presentation" | "none")) {
            return true;
        }
        if self.rows.iter().all(|row| row.cells.len() <= 1) {
            return true;
        }
        let is_named = !self.captions.is_empty()
            || self
                .rows
                .iter()
                .any(|row| row.in_head || row.cells.iter().any(|cell| tag(cell) == Some("th")));
        let is_block =
            |node: Rc<Node>| matches!(tag(&node), Some("table" | "h1" | "h2" | "h3" | "pre"));
        let with_text = |row: &&Row| {
            let is_filled = |cell: &Rc<Node>| !text_below(cell).trim().is_empty();
            row.cells.iter().any(is_filled)
        };
        !is_named && (self.rows.iter().filter(with_text).count() <= 1 || below(table).any(is_block))
    }

    /// Every cell as a part of the text; a row of short cells is one line.
    fn fallen_apart(&self, text_of: impl Fn(&Rc<Node>) -> String) -> String {
        let mut parts = self.captions.clone();
        for row in &self.rows {
            let cells: Vec<String> = row.cells.iter().map(&text_of).collect();
            let cells: Vec<String> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
            let bytes: usize = cells.iter().map(String::len).sum();
            if bytes <= LINE_BYTES && !cells.iter().any(|cell| cell.contains('\n')) {
                parts.push(cells.join(" "));
            } else {
                parts.extend(cells);
            }
        }
        parts.retain(|part| !part.is_empty());
        parts.join("\n\n")
    }

    /// A table in a cell of another: rows end with semicolons.
    fn in_a_line(&self, text_of: impl Fn(&Rc<Node>) -> String) -> String {
        let rows = self.rows.iter().map(|row| {
            let cells = row.cells.iter().map(&text_of);
            let cells: Vec<String> = cells.filter(|cell| !cell.is_empty()).collect();
            cells.join(", ")
        });
        let rows = self.captions.iter().cloned().chain(rows);
        let rows: Vec<String> = rows.filter(|row| !row.is_empty()).collect();
        rows.join("; ")
    }

    /// A Markdown table, its captions above it.
    fn as_rows(&self, text_of: impl Fn(&Rc<Node>) -> String) -> String {
        let mut grid = self.grid(text_of);
        let heads = self.heads();
        let mut rows: Vec<(bool, Vec<String>)> = heads.into_iter().zip(grid.drain(..)).collect();
        rows.retain(|(_, row)| row.iter().any(|cell| !cell.is_empty()));
        drop_empty_columns(&mut rows);
        let columns = rows.iter().map(|(_, row)| row.len()).max().unwrap_or(0);
        let mut out = String::new();
        for caption in &self.captions {
            out.push_str(caption);
            out.push_str("\n\n");
        }
        for (index, (is_head, row)) in rows.iter().enumerate() {
            if index == 0 && !is_head {
                push_row(&mut out, [], columns);
                push_rule(&mut out, columns);
            }
            push_row(
                &mut out,
                row.iter().map(String::as_str),
                columns.min(row.len().max(1)),
            );
            if index == 0 && *is_head {
                push_rule(&mut out, columns);
            }
        }
        out.trim_end().to_owned()
    }

    /// Whether each row can head the table. Without any heading cell, the first row does.
    fn heads(&self) -> Vec<bool> {
        let is_heading = |cell: &Rc<Node>| tag(cell) == Some("th");
        let bare = !self
            .rows
            .iter()
            .any(|row| row.in_head || row.cells.iter().any(is_heading));
        let head = |row: &Row| {
            bare || row.in_head || (!row.cells.is_empty() && row.cells.iter().all(is_heading))
        };
        self.rows.iter().map(head).collect()
    }

    /// The cells in their columns. A short cell that reaches over several rows is written in each,
    /// so that a row says all by itself.
    fn grid(&self, text_of: impl Fn(&Rc<Node>) -> String) -> Vec<Vec<String>> {
        let mut reaching = Reaching::default();
        let mut grid = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let mut cells = Vec::new();
            for cell in &row.cells {
                reaching.fill(&mut cells);
                let rows_below = span(cell, "rowspan", self.rows.len()).saturating_sub(1);
                let mut text = text_of(cell);
                for _ in 0..span(cell, "colspan", MOST_SPANNED) {
                    reaching.set(cells.len(), rows_below, &text);
                    cells.push(std::mem::take(&mut text));
                }
            }
            reaching.fill(&mut cells);
            grid.push(cells);
        }
        grid
    }
}

/// By column: how many more rows a cell above reaches into, and its text.
#[derive(Default)]
struct Reaching(Vec<(usize, String)>);

impl Reaching {
    /// Notes the cell placed in `column`.
    fn set(&mut self, column: usize, rows: usize, text: &str) {
        if self.0.len() <= column {
            self.0.resize(column + 1, (0, String::new()));
        }
        let again = if text.len() <= REPEATED_BYTES {
            text
        } else {
            ""
        };
        if let Some(slot) = self.0.get_mut(column) {
            *slot = (rows, again.to_owned());
        }
    }

    /// Fills the columns at the end of `cells` that cells above reach into.
    fn fill(&mut self, cells: &mut Vec<String>) {
        while let Some((rows, text)) = self.0.get_mut(cells.len()).filter(|(rows, _)| *rows > 0) {
            *rows -= 1;
            cells.push(text.clone());
        }
    }
}

fn span(cell: &Node, name: &str, most: usize) -> usize {
    let value = attribute(cell, name).and_then(|value| value.trim().parse().ok());
    match value {
        // Down to the end of the table.
        Some(0) if name == "rowspan" => most,
        Some(value) => usize::min(value, most).max(1),
        None => 1,
    }
}

/// Columns that only hold space between others say nothing.
fn drop_empty_columns(rows: &mut [(bool, Vec<String>)]) {
    let mut used = Vec::new();
    for (_, row) in &*rows {
        used.resize(used.len().max(row.len()), false);
        for (used, cell) in used.iter_mut().zip(row) {
            *used |= !cell.is_empty();
        }
    }
    for (_, row) in rows {
        let mut used = used.iter();
        row.retain(|_| used.next().copied().unwrap_or(false));
    }
}
