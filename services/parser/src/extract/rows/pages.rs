//! Rows gathered into pages: runs of rows with the table's header repeated on each.

use shared::contract::{Locator, PageRecord, ReadMethod};

use super::{push_row, push_rule};
use crate::extract::{ExtractedPage, count_characters};

/// Rows of a page, if they are short. Small enough for a place in it to be found by eye.
const ROWS: u32 = 100;
/// Bytes after which a page ends even before it has its rows.
const BYTES: usize = 32 * 1024;

/// The pages of a sheet, and the one being filled.
pub(in crate::extract) struct Pages {
    sheet: String,
    heading: Option<String>,
    doubts: Vec<String>,
    done: Vec<ExtractedPage>,
    table: Option<Table>,
    /// What the page holds so far, but for the open table.
    body: String,
    /// Lines that go below the page's tables.
    notes: String,
    /// First and last row of the page being filled, and how many it has.
    first: u32,
    last: u32,
    rows: u32,
}

/// A table whose end has not come.
struct Table {
    header: Vec<String>,
    /// Bytes of the header.
    width: usize,
    /// Whether it stands on a page already.
    shown: bool,
    /// The rows on the page being filled.
    rows: String,
    columns: usize,
}

impl Pages {
    /// The pages of `sheet`, each with these doubts.
    pub(in crate::extract) fn new(sheet: &str, doubts: Vec<String>) -> Self {
        Self {
            sheet: sheet.to_owned(),
            heading: None,
            doubts,
            done: Vec::new(),
            table: None,
            body: String::new(),
            notes: String::new(),
            first: 0,
            last: 0,
            rows: 0,
        }
    }

    /// The same, each page under this heading.
    #[must_use]
    pub(in crate::extract) fn under(mut self, heading: &str) -> Self {
        self.heading = Some(one_line(heading));
        self
    }

    /// Whether a table is open.
    pub(in crate::extract) fn in_table(&self) -> bool {
        self.table.is_some()
    }

    /// Row `number` is text outside a table.
    pub(in crate::extract) fn line(&mut self, number: u32, text: &str) {
        self.end_table();
        self.begin(number);
        self.rows += 1;
        self.body.push_str(&one_line(text));
        self.body.push_str("\n\n");
    }

    /// Row `number` is the header of a new table.
    pub(in crate::extract) fn header(&mut self, number: u32, header: Vec<String>) {
        self.end_table();
        self.begin(number);
        self.table = Some(Table {
            width: header.iter().map(String::len).sum(),
            header,
            shown: false,
            rows: String::new(),
            columns: 0,
        });
    }

    /// Row `number` belongs to the open table; without one, it is left out.
    pub(in crate::extract) fn row<'a, I>(&mut self, number: u32, cells: I)
    where
        I: IntoIterator<Item = &'a str>,
    {
        self.begin(number);
        let Some(table) = &mut self.table else {
            return;
        };
        let mut count = 0;
        push_row(
            &mut table.rows,
            cells.into_iter().inspect(|_| count += 1),
            0,
        );
        table.columns = table.columns.max(count);
        self.rows += 1;
    }

    /// What comes next is no part of the open table.
    pub(in crate::extract) fn end_table(&mut self) {
        self.flush_table();
        self.table = None;
    }

    /// A line below the tables of the page.
    pub(in crate::extract) fn note(&mut self, text: &str) {
        self.notes.push_str(&one_line(text));
        self.notes.push_str("\n\n");
    }

    /// All pages, at least one.
    pub(in crate::extract) fn finish(mut self) -> Vec<ExtractedPage> {
        self.end_table();
        if self.first > 0 || !self.notes.is_empty() || self.done.is_empty() {
            self.close();
        }
        self.done
    }

    /// Row `number` comes next; a page that is full ends before it.
    fn begin(&mut self, number: u32) {
        let (open, width) = (self.table.as_ref()).map_or((0, 0), |t| (t.rows.len(), t.width));
        let bytes = open + self.body.len();
        // A header is repeated only over as many bytes as it has itself.
        if (self.rows >= ROWS && bytes >= width) || bytes >= BYTES.max(width) {
            self.flush_table();
            self.close();
        }
        if self.first == 0 {
            self.first = number;
        }
        self.last = number;
    }

    /// Puts what the open table has onto the page.
    fn flush_table(&mut self) {
        let Some(table) = &mut self.table else {
            return;
        };
        if table.rows.is_empty() && table.shown {
            return;
        }
        let columns = table.columns.max(table.header.len());
        push_row(
            &mut self.body,
            table.header.iter().map(String::as_str),
            columns,
        );
        push_rule(&mut self.body, columns);
        self.body.push_str(&table.rows);
        self.body.push('\n');
        table.rows.clear();
        (table.shown, table.columns) = (true, 0);
    }

    fn close(&mut self) {
        let mut markdown = String::with_capacity(self.body.len() + self.notes.len() + 64);
        if let Some(heading) = &self.heading {
            markdown.push_str("# ");
            markdown.push_str(heading);
            markdown.push_str("\n\n");
        }
        markdown.push_str(&self.body);
        markdown.push_str(&self.notes);
        markdown.truncate(markdown.trim_end().len());
        if !markdown.is_empty() {
            markdown.push('\n');
        }
        let number = u32::try_from(self.done.len()).unwrap_or(u32::MAX);
        self.done.push(ExtractedPage {
            record: PageRecord {
                number: number.saturating_add(1),
                locator: Locator::Sheet {
                    name: self.sheet.clone(),
                    rows: (self.first.max(1), self.last.max(1)),
                },
                method: ReadMethod::Native,
                characters: count_characters(&markdown),
                doubts: self.doubts.clone(),
                error: None,
            },
            markdown,
        });
        self.body.clear();
        self.notes.clear();
        (self.first, self.last, self.rows) = (0, 0, 0);
    }
}

/// `text` with its white space as single spaces.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}
