//! Workbooks of Office Open XML whose parts are binary, read by `calamine`. What is hidden but
//! whole sheets, and remarks, are left out.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{Reader as _, SheetType, SheetVisible, Xlsb, XlsbError};

use super::grid::{Full, Grid, Sheet};
use super::number::NumberFormat;
use super::{Book, damaged, xlsx};
use crate::extract::ExtractError;
use crate::extract::parts::{MOST_SHEET_BYTES, Package};

/// Reads a workbook and hands over each sheet as it is read.
pub(super) fn read(bytes: &[u8], book: &mut Book) -> Result<(), ExtractError> {
    check(bytes)?;
    // The library may panic on what it does not expect.
    let opened = catch_unwind(AssertUnwindSafe(|| Xlsb::new(Cursor::new(bytes))));
    let mut workbook = match opened {
        Ok(Ok(workbook)) => workbook,
        Ok(Err(XlsbError::Password)) => return Err(ExtractError::PasswordNeeded),
        Ok(Err(_)) | Err(_) => return Err(damaged("the parts that all sheets share are damaged")),
    };
    for listed in workbook.sheets_metadata().to_vec() {
        let mut sheet = Sheet {
            name: listed.name,
            hidden: listed.visible != SheetVisible::Visible,
            ..Sheet::default()
        };
        if listed.typ == SheetType::WorkSheet {
            let (name, grid) = (&sheet.name, &mut sheet.grid);
            let read = catch_unwind(AssertUnwindSafe(|| read_cells(&mut workbook, name, grid)));
            sheet.error = read
                .unwrap_or_else(|_panic| Err("the reader failed on the sheet".to_owned()))
                .err();
        }
        book.add(sheet);
    }
    Ok(())
}

/// The library unpacks all parts without bound.
fn check(bytes: &[u8]) -> Result<(), ExtractError> {
    let mut package = Package::open(bytes)?;
    let texts = package.part_up_to("xl/sharedStrings.bin", MOST_SHEET_BYTES / 2);
    if let Err(crate::extract::parts::PartError::TooLarge) = texts {
        return Err(ExtractError::TooLarge {
            what: "its texts unpack to more than the reader takes".to_owned(),
        });
    }
    Ok(())
}

fn read_cells(
    workbook: &mut Xlsb<Cursor<&[u8]>>,
    name: &str,
    grid: &mut Grid,
) -> Result<(), String> {
    let is_1904 = workbook.has_1904_epoch();
    let mut cells = workbook
        .worksheet_cells_reader(name)
        .map_err(|_error| "the sheet is damaged".to_owned())?;
    let mut next = || {
        cells
            .next_cell()
            .map_err(|_error| "the rest of the sheet is damaged".to_owned())
    };
    while let Some(cell) = next()? {
        let general = (&NumberFormat::General, is_1904);
        xlsx::push(grid, cell.get_position(), cell.get_value(), general)
            .map_err(|Full| Full::REASON.to_owned())?;
    }
    Ok(())
}
