//! Spreadsheets: each sheet is read into a grid of its filled cells and laid out as tables, in
//! pages of about a hundred rows with the header repeated.

mod grid;
mod layout;
mod number;
mod ods;
mod xls;
mod xlsb;
mod xlsx;
mod xml2003;

use shared::contract::ReadMethod;

use super::parts::Package;
use super::{ExtractError, ExtractedPage, Extraction, Extractor, Input, charset, ole};

use self::grid::Sheet;

pub(super) use self::xls::is_locked as xls_is_locked;

/// Reads `xlsx`, `xlsm` and `xlsb`.
pub(super) struct XlsxExtractor;

impl Extractor for XlsxExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let binary = Package::open(input.bytes)?.has("xl/workbook.bin");
        let read = if binary { xlsb::read } else { xlsx::read };
        let mut book = Book::default();
        read(input.bytes, &mut book)?;
        book.finish()
    }
}

/// Reads OpenDocument spreadsheets.
pub(super) struct OdsExtractor;

impl Extractor for OdsExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let mut book = Book::default();
        ods::read(input.bytes, &mut book)?;
        book.finish()
    }
}

/// Reads Excel workbooks of before 2007, which lie in a compound file or are XML.
pub(super) struct XlsExtractor;

impl Extractor for XlsExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let mut book = Book::default();
        if ole::is_sheet_xml(input.bytes) {
            xml2003::read(input.bytes, &mut book)?;
        } else {
            xls::read(input.bytes, &mut book)?;
        }
        book.finish()
    }
}

/// The pages of a workbook's sheets.
#[derive(Default)]
struct Book {
    title: Option<String>,
    pages: Vec<ExtractedPage>,
}

impl Book {
    /// Adds a sheet after the others.
    fn add(&mut self, sheet: Sheet) {
        for mut page in layout::pages(sheet) {
            page.markdown = charset::clean(&page.markdown);
            self.pages.push(page);
        }
    }

    fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    fn finish(self) -> Result<Extraction, ExtractError> {
        let readable = |page: &ExtractedPage| page.record.method != ReadMethod::Missing;
        if !self.pages.iter().any(readable) {
            let first = self.pages.into_iter().next();
            let reason = first.and_then(|page| page.record.error);
            return Err(damaged(reason.as_deref().unwrap_or("no sheet is in it")));
        }
        Ok(Extraction {
            title: self.title,
            pages: self.pages,
            ..Extraction::default()
        })
    }
}

fn damaged(what: &str) -> ExtractError {
    ExtractError::Damaged {
        what: what.to_owned(),
    }
}

#[cfg(test)]
mod tests;
