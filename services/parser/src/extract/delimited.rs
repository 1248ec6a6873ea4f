//! Tables as text, with commas, semicolons, tabs or bars between the cells. A page is a run of
//! rows with the header repeated; it is named by the sheet's rows, because a table has no pages.

mod dialect;

use csv::{ReaderBuilder, StringRecord};

use super::{ExtractError, Extraction, Extractor, Input, charset};

use self::dialect::Dialect;
use super::rows::Pages;

/// A quoted cell of more lines is one whose quotation mark never closes.
const MOST_LINES_IN_A_CELL: usize = 1_000;
/// Lines above the header, such as a title; more of them are a table's rows.
const MOST_LINES_ABOVE: usize = 10;

pub(super) struct DelimitedExtractor;

impl Extractor for DelimitedExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let decoded = charset::decode(input.bytes);
        let dialect = Dialect::of(input.name, &decoded.text);
        let doubts = decoded.doubts();
        let mut notes = Vec::new();
        let read = read(input.name, &decoded.text, dialect, &doubts);
        let pages = match read {
            Ok(pages) => pages,
            Err(Stop::Unclosed) => {
                notes.push(
                    "a quotation mark never closes; quotation marks are read as text".to_owned(),
                );
                let unquoted = Dialect {
                    quoting: false,
                    ..dialect
                };
                self::read(input.name, &decoded.text, unquoted, &doubts).map_err(Stop::refusal)?
            }
            Err(stop) => return Err(stop.refusal()),
        };
        Ok(Extraction {
            pages: pages.finish(),
            notes,
            ..Extraction::default()
        })
    }
}

/// Why a way of reading does not work.
enum Stop {
    Unclosed,
    Damaged(csv::Error),
}

impl Stop {
    fn refusal(self) -> ExtractError {
        let what = match self {
            Self::Unclosed => "a cell never ends".to_owned(),
            // Its text may name a place, never a cell.
            Self::Damaged(error) => error.to_string(),
        };
        ExtractError::Damaged { what }
    }
}

/// All rows of `text` as pages.
fn read(name: &str, text: &str, dialect: Dialect, doubts: &[String]) -> Result<Pages, Stop> {
    let text = text.get(dialect.skip..).unwrap_or_default();
    let mut reader = dialect.reader().from_reader(text.as_bytes());
    let mut pages = Pages::new(sheet_name(name), doubts.to_vec());
    let mut record = StringRecord::new();
    let mut row = dialect.rows_skipped();
    let (mut start, mut above) = (0, 0);
    while reader.read_record(&mut record).map_err(Stop::Damaged)? {
        // Empty lines are rows to those who open the file, but not to the reader.
        let blank = text.as_bytes().get(start..).unwrap_or_default();
        let blank = blank.iter().take_while(|byte| **byte == b'\n').count();
        row += 1 + u32::try_from(blank).unwrap_or(u32::MAX);
        start = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
        let endless = |cell: &str| cell.matches('\n').nth(MOST_LINES_IN_A_CELL).is_some();
        if dialect.quoting && record.iter().any(endless) {
            return Err(Stop::Unclosed);
        }
        push(&mut pages, &mut above, (row, &record));
    }
    Ok(pages)
}

/// Adds a row; `above` counts the lines above the header.
fn push(pages: &mut Pages, above: &mut usize, (row, record): (u32, &StringRecord)) {
    let mut filled = record.iter().filter(|cell| !cell.trim().is_empty());
    let (Some(cell), second) = (filled.next(), filled.next()) else {
        return;
    };
    if pages.in_table() {
        pages.row(row, record);
    } else if second.is_none() && record.len() > 1 && *above < MOST_LINES_ABOVE {
        *above += 1;
        pages.line(row, cell);
    } else {
        pages.header(row, record.iter().map(str::to_owned).collect());
    }
}

/// The file's name without its folder and extension.
fn sheet_name(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    match file.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => file,
    }
}

impl Dialect {
    fn reader(self) -> ReaderBuilder {
        let mut builder = ReaderBuilder::new();
        builder
            .delimiter(self.delimiter)
            .quoting(self.quoting)
            .has_headers(false)
            .flexible(true);
        builder
    }
}

#[cfg(test)]
mod tests;
