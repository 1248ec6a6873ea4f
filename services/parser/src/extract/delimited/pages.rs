//! Rows gathered into pages.

use csv::StringRecord;
use shared::contract::{Locator, PageRecord, ReadMethod};

use super::super::rows::{push_row, push_rule};
use super::super::{ExtractedPage, count_characters};

/// Rows of a page, if they are short. Small enough for a place in it to be found by eye.
const ROWS: u32 = 100;
/// Bytes after which a page ends even before it has its rows.
const BYTES: usize = 32 * 1024;
/// Lines above the header, such as a title; more of them are a table's rows.
const MOST_LINES_ABOVE: usize = 10;

/// The pages of a sheet, and the one being filled.
pub(super) struct Pages {
    sheet: String,
    doubts: Vec<String>,
    done: Vec<ExtractedPage>,
    /// Text above the header.
    above: Vec<String>,
    header: Option<Vec<String>>,
    body: String,
    /// First and last row of the page being filled, and how many it has.
    first: u32,
    last: u32,
    rows: u32,
    columns: usize,
}

impl Pages {
    pub(super) fn new(sheet: &str, doubts: Vec<String>) -> Self {
        Self {
            sheet: sheet.to_owned(),
            doubts,
            done: Vec::new(),
            above: Vec::new(),
            header: None,
            body: String::new(),
            first: 0,
            last: 0,
            rows: 0,
            columns: 0,
        }
    }

    /// Adds row `number` of the sheet.
    pub(super) fn push(&mut self, number: u32, record: &StringRecord) {
        let filled = record.iter().filter(|cell| !cell.trim().is_empty());
        let count = filled.clone().count();
        if count == 0 {
            return;
        }
        if self.first == 0 {
            self.first = number;
        }
        self.last = number;
        if self.header.is_none() {
            let is_title = count == 1 && record.len() > 1 && self.above.len() < MOST_LINES_ABOVE;
            if is_title {
                self.above.extend(filled.map(str::to_owned));
            } else {
                self.header = Some(record.iter().map(str::to_owned).collect());
            }
            return;
        }
        push_row(&mut self.body, record, 0);
        self.columns = self.columns.max(record.len());
        self.rows += 1;
        if self.rows >= ROWS || self.body.len() >= BYTES {
            self.close();
        }
    }

    /// All pages, at least one.
    pub(super) fn finish(mut self) -> Vec<ExtractedPage> {
        if self.rows > 0 || self.done.is_empty() {
            self.close();
        }
        self.done
    }

    fn close(&mut self) {
        let mut markdown = String::with_capacity(self.body.len() + 256);
        for line in self.above.drain(..) {
            let words: Vec<&str> = line.split_whitespace().collect();
            markdown.push_str(&words.join(" "));
            markdown.push_str("\n\n");
        }
        if let Some(header) = &self.header {
            let columns = self.columns.max(header.len());
            push_row(&mut markdown, header.iter().map(String::as_str), columns);
            push_rule(&mut markdown, columns);
        }
        markdown.push_str(&self.body);
        let number = u32::try_from(self.done.len()).unwrap_or(u32::MAX);
        self.done.push(ExtractedPage {
            record: PageRecord {
                number: number.saturating_add(1),
                locator: Locator::Sheet {
                    name: self.sheet.clone(),
                    rows: (self.first, self.last),
                },
                method: ReadMethod::Native,
                characters: count_characters(&markdown),
                doubts: self.doubts.clone(),
                error: None,
            },
            markdown,
        });
        self.body.clear();
        (self.first, self.last, self.rows, self.columns) = (0, 0, 0, 0);
    }
}
