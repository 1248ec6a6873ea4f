//! Excel workbooks of 1995 to 2003 ([MS-XLS]). Read here and not by `calamine`, which sets memory
//! aside for what a file declares, gives up the whole file for one bad record, and leaves out
//! percentages, what is hidden, and remarks.

mod records;
mod sheet;
mod strings;

use std::collections::HashMap;

use super::grid::Sheet;
use super::number::NumberFormat;
use super::{Book, damaged};
use crate::extract::{ExtractError, ole};

use self::records::{Record, Records, kind};
use self::strings::{Data, Writing, encoding_of};

/// A list of sheets is no longer than this.
const MOST_SHEETS: usize = 10_000;
/// Version numbers of a workbook's first record.
const SINCE_1997: u16 = 0x0600;
const SINCE_1993: u16 = 0x0500;

/// What the sheets of a workbook share.
struct Globals {
    writing: Writing,
    is_1904: bool,
    texts: Vec<String>,
    /// The number format of a cell, by its style.
    styles: Vec<NumberFormat>,
    sheets: Vec<Listed>,
}

struct Listed {
    name: String,
    hidden: bool,
    /// Whether it has cells, and is not one chart or a program.
    cells: bool,
    /// Where its records begin.
    at: usize,
}

/// Whether the workbook of this compound file is locked by a password.
pub(in crate::extract) fn is_locked(stream: &[u8]) -> bool {
    let globals = Records::from(stream, 0).take_while(|record| record.kind != kind::EOF);
    globals
        .map(|record| record.kind)
        .any(|kind| kind == kind::FILE_PASS)
}

/// Reads a workbook and hands over each sheet as it is read.
pub(super) fn read(bytes: &[u8], book: &mut Book) -> Result<(), ExtractError> {
    let mut file = ole::Compound::open(bytes)?;
    let stream = file.first_stream(&["/Workbook", "/Book"])?;
    if is_locked(&stream) {
        return Err(ExtractError::PasswordNeeded);
    }
    let globals = Globals::read(&stream)?;
    if globals.sheets.is_empty() {
        return Err(damaged("its list of sheets cannot be read"));
    }
    for listed in &globals.sheets {
        let mut sheet = Sheet {
            name: listed.name.clone(),
            hidden: listed.hidden,
            ..Sheet::default()
        };
        if listed.cells {
            let records = Records::from(&stream, listed.at);
            sheet.error = sheet::read(records, &globals, &mut sheet).err();
        }
        book.add(sheet);
    }
    Ok(())
}

impl Globals {
    fn read(stream: &[u8]) -> Result<Self, ExtractError> {
        let mut records = Records::from(stream, 0);
        let first = records.next().filter(|record| record.kind == kind::BOF);
        let unicode = match first.and_then(|record| record.u16(0)) {
            Some(SINCE_1997) => true,
            Some(SINCE_1993) => false,
            _ => {
                return Err(damaged(
                    "it does not begin as a workbook of Excel 95 to 2003",
                ));
            }
        };
        let mut globals = Self {
            writing: Writing::new(unicode),
            is_1904: false,
            texts: Vec::new(),
            styles: Vec::new(),
            sheets: Vec::new(),
        };
        let mut formats: HashMap<u16, NumberFormat> = HashMap::new();
        let mut styles = Vec::new();
        while let Some(record) = records.next() {
            match record.kind {
                kind::EOF => break,
                kind::CODE_PAGE => {
                    globals.writing.encoding = encoding_of(record.u16(0).unwrap_or_default());
                }
                kind::DATE_1904 => globals.is_1904 = record.u16(0) == Some(1),
                kind::FORMAT => formats.extend(globals.format(&record)),
                kind::XF => styles.push(record.u16(2).unwrap_or_default()),
                kind::BOUND_SHEET if globals.sheets.len() < MOST_SHEETS => {
                    globals.sheets.extend(globals.listed(&record));
                }
                kind::SST => {
                    let mut parts = vec![record.data];
                    parts.extend(records.continued());
                    globals.texts = texts(parts);
                }
                _ => {}
            }
        }
        let format = |id: &u16| formats.get(id).cloned();
        globals.styles = styles
            .iter()
            .map(|id| format(id).unwrap_or_else(|| NumberFormat::builtin((*id).into())))
            .collect();
        Ok(globals)
    }

    fn format(&self, record: &Record<'_>) -> Option<(u16, NumberFormat)> {
        let code = record.data.get(2..)?;
        let code = if self.writing.unicode {
            self.writing.text(code)?
        } else {
            self.writing.short_text(code)?
        };
        Some((record.u16(0)?, NumberFormat::of(&code)))
    }

    fn listed(&self, record: &Record<'_>) -> Option<Listed> {
        let name = self.writing.short_text(record.data.get(6..)?)?;
        Some(Listed {
            name,
            hidden: record.data.get(4)? & 3 != 0,
            cells: *record.data.get(5)? <= 1,
            at: usize::try_from(record.u32(0)?).ok()?,
        })
    }
}

/// The texts that cells name by number. Their count is what the file says, which is not believed.
fn texts(parts: Vec<&[u8]>) -> Vec<String> {
    let mut data = Data::new(parts);
    let mut texts = Vec::new();
    if data.skip(8).is_some() {
        while let Some(text) = data.rich_text() {
            texts.push(text);
        }
    }
    texts
}
