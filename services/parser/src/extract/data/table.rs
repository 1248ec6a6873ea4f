//! Lists of like records as tables.

use super::Value;
use super::outline::one_line;
use super::pages::Pages;

/// Columns of a table that can still be read.
const MOST_COLUMNS: usize = 30;
/// Longer texts are not read well in a cell.
const MOST_CELL_BYTES: usize = 400;
/// Records within records that become columns, such as `address.city`.
const MOST_FLATTENED: usize = 3;

/// A header and rows.
pub(super) struct Table<'a> {
    columns: Vec<String>,
    rows: Vec<Vec<(usize, Cell<'a>)>>,
}

enum Cell<'a> {
    Plain(&'a str),
    Joined(String),
}

impl Cell<'_> {
    fn text(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Joined(text) => text,
        }
    }
}

impl<'a> Table<'a> {
    /// `value` as a table, if it is one: two and more records with mostly the same members, or
    /// rows of as many cells.
    pub(super) fn of(value: &'a Value) -> Option<Self> {
        let mut table = Self {
            columns: Vec::new(),
            rows: Vec::new(),
        };
        match value {
            Value::List(items) if items.len() >= 2 => {
                if items.iter().all(|item| matches!(item, Value::List(_))) {
                    return table.matrix(items);
                }
                for item in items {
                    table.push(None, item)?;
                }
            }
            Value::Record(members) if members.len() >= 3 => {
                // The names are what the rows are about.
                table.columns.push(String::new());
                for (name, item) in members {
                    table.push(Some(name), item)?;
                }
            }
            _ => return None,
        }
        let cells: usize = table.rows.iter().map(Vec::len).sum();
        // Two thirds of the cells are filled.
        (cells > 0 && cells * 3 >= table.columns.len() * table.rows.len() * 2).then_some(table)
    }

    fn push(&mut self, name: Option<&'a String>, item: &'a Value) -> Option<()> {
        let Value::Record(members) = item else {
            return None;
        };
        let mut row = Vec::new();
        if let Some(name) = name {
            row.push((0, Cell::Plain(name)));
        }
        self.flatten("", members, 1, &mut row)?;
        self.rows.push(row);
        Some(())
    }

    fn flatten(
        &mut self,
        prefix: &str,
        members: &'a [(String, Value)],
        depth: usize,
        row: &mut Vec<(usize, Cell<'a>)>,
    ) -> Option<()> {
        for (key, value) in members {
            let cell = match value {
                Value::Record(members) if depth < MOST_FLATTENED => {
                    self.flatten(&format!("{prefix}{key}."), members, depth + 1, row)?;
                    continue;
                }
                Value::Record(_) => return None,
                Value::Scalar(text) => Cell::Plain(text),
                Value::List(items) => Cell::Joined(one_line(items)?),
            };
            if cell.text().len() > MOST_CELL_BYTES {
                return None;
            }
            let column = self.column(&format!("{prefix}{key}"))?;
            // A member that stands twice does not fit.
            if row.iter().any(|(taken, _)| *taken == column) {
                return None;
            }
            row.push((column, cell));
        }
        Some(())
    }

    fn column(&mut self, name: &str) -> Option<usize> {
        if let Some(at) = self.columns.iter().position(|column| column == name) {
            return Some(at);
        }
        self.columns.push(name.to_owned());
        (self.columns.len() <= MOST_COLUMNS).then(|| self.columns.len() - 1)
    }

    /// Rows without names; the first one heads them if it alone has no numbers.
    fn matrix(mut self, items: &'a [Value]) -> Option<Self> {
        let columns = items.first()?.items().len();
        if !(2..=MOST_COLUMNS).contains(&columns) {
            return None;
        }
        let mut rows: Vec<Vec<&str>> = Vec::with_capacity(items.len());
        for item in items {
            let cells: Option<Vec<&str>> = item.items().iter().map(Value::text).collect();
            let cells = cells.filter(|cells| cells.len() == columns)?;
            if cells.iter().any(|cell| cell.len() > MOST_CELL_BYTES) {
                return None;
            }
            rows.push(cells);
        }
        let has_number = |row: &[&str]| row.iter().any(|cell| cell.trim().parse::<f64>().is_ok());
        let (first, rest) = rows.split_first()?;
        let is_named = !has_number(first) && rest.iter().any(|row| has_number(row));
        if is_named {
            self.columns = first.iter().map(|&name| name.to_owned()).collect();
            rows.remove(0);
        } else {
            self.columns = vec![String::new(); columns];
        }
        let cells = |row: Vec<&'a str>| row.into_iter().map(Cell::Plain).enumerate().collect();
        self.rows = rows.into_iter().map(cells).collect();
        Some(self)
    }

    pub(super) fn write(&self, pages: &mut Pages) {
        let mut texts = vec![""; self.columns.len()];
        for row in &self.rows {
            texts.fill("");
            for (column, cell) in row {
                if let Some(slot) = texts.get_mut(*column) {
                    *slot = cell.text();
                }
            }
            pages.row(&self.columns, &texts);
        }
        pages.end_table();
    }
}
