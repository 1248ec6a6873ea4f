//! Text gathered into pages, which break between blocks and between rows.

use shared::contract::Locator;

use super::super::rows::{push_row, push_rule};
use super::super::{ExtractedPage, only_page};

/// Rows of a page. Small enough for a place in it to be found by eye.
const ROWS: usize = 100;
/// Bytes after which a page ends with the block at hand.
const BYTES: usize = 32 * 1024;

/// The pages of a document, and the one being filled.
#[derive(Default)]
pub(in super::super) struct Pages {
    done: Vec<ExtractedPage>,
    body: String,
    /// The first heading of the page being filled.
    heading: Option<String>,
    /// Whether nothing has come after the last heading.
    ends_in_heading: bool,
    in_table: bool,
    /// Rows and records on the page.
    rows: usize,
}

impl Pages {
    /// Adds a heading; `level` counts from 1.
    pub(in super::super) fn heading(&mut self, level: usize, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return;
        }
        if !self.ends_in_heading {
            self.break_if_full();
        }
        self.gap();
        self.body.push_str(&"#".repeat(level.clamp(1, 6)));
        self.body.push(' ');
        self.body.push_str(&text);
        self.body.push('\n');
        self.heading.get_or_insert(text);
        self.ends_in_heading = true;
    }

    /// Adds a part of the text; an empty one is nothing.
    pub(in super::super) fn block(&mut self, text: &str) {
        let text = text.trim_end();
        if text.trim().is_empty() {
            return;
        }
        if !self.ends_in_heading {
            self.break_if_full();
        }
        self.gap();
        self.body.push_str(text.trim_start_matches('\n'));
        self.body.push('\n');
        self.ends_in_heading = false;
    }

    /// Adds one of many like parts.
    pub(in super::super) fn record(&mut self, text: &str) {
        self.block(text);
        self.rows += 1;
    }

    /// Adds a row of a table; each page of the table begins with its header.
    pub(in super::super) fn row(&mut self, columns: &[String], cells: &[&str]) {
        if self.in_table {
            self.break_if_full();
        }
        if !self.in_table {
            self.gap();
            push_row(&mut self.body, columns.iter().map(String::as_str), 0);
            push_rule(&mut self.body, columns.len());
            self.in_table = true;
            self.ends_in_heading = false;
        }
        push_row(&mut self.body, cells.iter().copied(), 0);
        self.rows += 1;
    }

    /// Ends the table at hand.
    pub(in super::super) fn end_table(&mut self) {
        self.in_table = false;
    }

    fn gap(&mut self) {
        if !self.body.is_empty() {
            self.body.push('\n');
        }
    }

    fn break_if_full(&mut self) {
        if self.body.len() >= BYTES || self.rows >= ROWS {
            self.break_page();
        }
    }

    fn break_page(&mut self) {
        let mut page = only_page(
            std::mem::take(&mut self.body),
            self.heading.take(),
            Vec::new(),
        );
        if let Locator::Block { number } = &mut page.record.locator {
            *number = u32::try_from(self.done.len() + 1).unwrap_or(u32::MAX);
        }
        self.done.push(page);
        self.rows = 0;
        self.in_table = false;
        self.ends_in_heading = false;
    }

    /// Whether nothing has been added.
    pub(in super::super) fn is_empty(&self) -> bool {
        self.done.is_empty() && self.body.is_empty()
    }

    /// All pages, at least one; `doubts` concern the first.
    pub(in super::super) fn finish(mut self, doubts: Vec<String>) -> Vec<ExtractedPage> {
        if self.done.is_empty() || !self.body.is_empty() {
            self.break_page();
        }
        if let Some(first) = self.done.first_mut() {
            first.record.doubts.extend(doubts);
        }
        self.done
    }
}
