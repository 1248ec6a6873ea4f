//! Workbooks that Excel 2002 and 2003, and many other programs, write as one XML file
//! (XML Spreadsheet 2003), often under the name `.xls`.

use std::ops::ControlFlow;

use quick_xml::events::BytesStart;

use super::grid::{Area, Kind, Sheet};
use super::number::general;
use super::xlsx::iso;
use super::{Book, damaged};
use crate::extract::parts::xml::{Step, attribute, flag, number, walk};
use crate::extract::{ExtractError, charset};

#[derive(Default)]
struct Walker {
    sheet: Option<Sheet>,
    /// The next row and the next cell.
    row: u32,
    column: u32,
    /// Columns that the open cell covers beside its first.
    across: u32,
    /// The type of the value being read.
    kind: Option<String>,
    text: String,
    full: bool,
}

/// Reads a workbook and hands over each sheet as it is read.
pub(super) fn read(bytes: &[u8], book: &mut Book) -> Result<(), ExtractError> {
    let decoded = charset::decode(bytes);
    let mut walker = Walker::default();
    let whole = walk(decoded.text.as_bytes(), |step| {
        match step {
            Step::Open(tag) => walker.open(tag),
            Step::Close(b"Data") => walker.close_data(),
            Step::Close(b"Cell") => walker.column = walker.column.saturating_add(walker.across + 1),
            Step::Close(b"Row") => walker.row = walker.row.saturating_add(1),
            Step::Close(b"Worksheet") => walker.close_sheet(book, None),
            Step::Text(text) if walker.kind.is_some() => walker.text.push_str(text),
            Step::Close(_) | Step::Text(_) => {}
        }
        ControlFlow::Continue(())
    });
    let broken = (!whole).then(|| "the rest of the sheet is damaged".to_owned());
    walker.close_sheet(book, broken);
    if book.is_empty() {
        return Err(damaged("no sheet is in it"));
    }
    Ok(())
}

impl Walker {
    fn open(&mut self, tag: &BytesStart<'_>) {
        let at = |next: u32| {
            number(tag, "Index")
                .and_then(|i| i.checked_sub(1))
                .unwrap_or(next)
        };
        match tag.local_name().as_ref() {
            b"Worksheet" => {
                self.sheet = Some(Sheet {
                    name: attribute(tag, "Name").unwrap_or_default(),
                    ..Sheet::default()
                });
                (self.row, self.full) = (0, false);
            }
            b"Row" => {
                self.row = at(self.row);
                self.column = 0;
                if let Some(sheet) = self.sheet.as_mut().filter(|_| flag(tag, "Hidden")) {
                    sheet.hidden_rows.add(self.row, self.row);
                }
            }
            b"Cell" => {
                self.column = at(self.column);
                self.across = number(tag, "MergeAcross").unwrap_or(0).min(1 << 14);
                let down = number(tag, "MergeDown").unwrap_or(0);
                if let Some(sheet) = self.sheet.as_mut().filter(|_| self.across + down > 0) {
                    sheet.merged.push(Area {
                        rows: (self.row, self.row.saturating_add(down)),
                        columns: (self.column, self.column.saturating_add(self.across)),
                    });
                }
            }
            b"Data" => {
                self.text.clear();
                self.kind = Some(attribute(tag, "Type").unwrap_or_default());
            }
            _ => {}
        }
    }

    fn close_data(&mut self) {
        let (Some(kind), Some(sheet)) = (self.kind.take(), &mut self.sheet) else {
            return;
        };
        let (kind, text) = match kind.as_str() {
            "Number" => (
                Kind::Value,
                self.text
                    .trim()
                    .parse()
                    .map_or_else(|_odd| self.text.clone(), general),
            ),
            "DateTime" => (Kind::Value, iso(&self.text)),
            "Boolean" if self.text.trim() == "1" => (Kind::Value, "TRUE".to_owned()),
            "Boolean" => (Kind::Value, "FALSE".to_owned()),
            "Error" => (Kind::Value, self.text.clone()),
            _ => (Kind::Text, self.text.clone()),
        };
        if !self.full
            && sheet
                .grid
                .push((self.row, self.column), kind, &text)
                .is_err()
        {
            self.full = true;
        }
    }

    fn close_sheet(&mut self, book: &mut Book, error: Option<String>) {
        if let Some(mut sheet) = self.sheet.take() {
            let full = self.full.then(|| super::grid::Full::REASON.to_owned());
            sheet.error = error.or(full);
            book.add(sheet);
        }
    }
}

#[cfg(test)]
mod tests {
    use shared::format::Format;

    use crate::extract::extract_alone;

    #[test]
    fn a_workbook_in_xml_is_read_under_its_old_name() {
        let book = "<?xml version=\"1.0\"?><?mso-application progid=\"Excel.Sheet\"?>\
            <Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\" \
            xmlns:ss=\"urn:schemas-microsoft-com:office:spreadsheet\"><Worksheet ss:Name=\"Stock\"><Table>\
            <Row><Cell><Data ss:Type=\"String\">part &amp; size</Data></Cell>\
            <Cell ss:Index=\"3\"><Data ss:Type=\"String\">since</Data></Cell></Row>\
            <Row ss:Index=\"2\"><Cell><Data ss:Type=\"Number\">0.30000000000000004</Data></Cell>\
            <Cell ss:Index=\"3\"><Data ss:Type=\"DateTime\">2021-01-01T00:00:00.000</Data></Cell></Row>\
            </Table></Worksheet></Workbook>";
        for format in [Format::Xls, Format::Xml] {
            let extraction = extract_alone(format, "stock.xls", book.as_bytes()).unwrap();
            assert_eq!(
                extraction.pages[0].markdown,
                "# Stock\n\n| part & size | since |\n| --- | --- |\n| 0.3 | 2021-01-01 |\n"
            );
        }
        let cut = &book.as_bytes()[..book.len() - 60];
        assert!(extract_alone(Format::Xls, "stock.xls", cut).is_ok());
    }
}
