//! The records of one sheet.

use std::collections::HashMap;

use super::super::grid::{Area, Full, Kind, Note, Sheet};
use super::super::number::NumberFormat;
use super::Globals;
use super::records::{Record, Records, kind};
use super::strings::Data;

/// Merged areas and objects of a sheet; there is no use in more.
const MOST: usize = 100_000;
/// A drawn object that is a text box.
const TEXT_BOX: u16 = 6;

/// What is known of the objects over the sheet.
#[derive(Default)]
struct Objects {
    /// Number and type of the last one.
    last: Option<(u16, u16)>,
    /// What remarks say, by the number of their object.
    texts: HashMap<u16, String>,
    /// Remarks: place, object, author.
    notes: Vec<((u32, u32), u16, Option<String>)>,
}

/// Reads the sheet that begins at `records`. The error says what is missing.
pub(super) fn read(
    mut records: Records<'_>,
    globals: &Globals,
    sheet: &mut Sheet,
) -> Result<(), String> {
    if records.next().is_none_or(|record| record.kind != kind::BOF) {
        return Err("the sheet is not where the workbook says".to_owned());
    }
    let mut reader = Reader {
        globals,
        sheet,
        objects: Objects::default(),
        formula_at: None,
        damaged: 0,
    };
    let mut nested = 0_u32;
    let mut ended = false;
    while let Some(record) = records.next() {
        match record.kind {
            // A chart within the sheet has records of its own.
            kind::BOF => nested += 1,
            kind::EOF if nested == 0 => {
                ended = true;
                break;
            }
            kind::EOF => nested -= 1,
            _ if nested > 0 => {}
            kind::TXO => reader.text(&record, records.continued()),
            _ => reader
                .record(&record)
                .map_err(|Full| Full::REASON.to_owned())?,
        }
    }
    let damaged = reader.damaged;
    reader.finish();
    if damaged > 0 {
        sheet.doubts.push(format!(
            "{damaged} cells of the sheet are damaged and left out"
        ));
    }
    if ended {
        Ok(())
    } else {
        Err("the rest of the sheet is cut off".to_owned())
    }
}

struct Reader<'a> {
    globals: &'a Globals,
    sheet: &'a mut Sheet,
    objects: Objects,
    /// The cell whose formula gave a text, which comes next.
    formula_at: Option<(u32, u32)>,
    damaged: u32,
}

impl Reader<'_> {
    fn record(&mut self, record: &Record<'_>) -> Result<(), Full> {
        match record.kind {
            kind::ROW => self.row(record),
            kind::COL_INFO => self.columns(record),
            kind::MERGE_CELLS => self.merged(record),
            kind::OBJ => self.object(record),
            kind::NOTE => self.note(record),
            kind::NUMBER | kind::RK | kind::MUL_RK | kind::FORMULA | kind::STRING => {
                return self.value(record);
            }
            kind::LABEL_SST | kind::LABEL | kind::R_STRING | kind::BOOL_ERR => {
                return self.label(record);
            }
            _ => {}
        }
        Ok(())
    }

    fn value(&mut self, record: &Record<'_>) -> Result<(), Full> {
        let Some(at) = record.place() else {
            self.damaged += 1;
            return Ok(());
        };
        match record.kind {
            kind::NUMBER => self.number(at, record.u16(4), record.f64(6)),
            kind::RK => self.number(at, record.u16(4), record.u32(6).map(unpacked)),
            kind::MUL_RK => {
                let count = record.data.len().saturating_sub(6) / 6;
                for (index, column) in (0..count).zip(at.1..) {
                    let value = record.u32(6 + index * 6).map(unpacked);
                    self.number((at.0, column), record.u16(4 + index * 6), value)?;
                }
                Ok(())
            }
            kind::STRING => {
                let text = self.globals.writing.text(record.data);
                match self.formula_at.take() {
                    Some(at) => self.text_cell(at, text),
                    None => Ok(()),
                }
            }
            _ => self.formula(at, record),
        }
    }

    fn formula(&mut self, at: (u32, u32), record: &Record<'_>) -> Result<(), Full> {
        self.formula_at = None;
        if record.u16(12) != Some(0xffff) {
            return self.number(at, record.u16(4), record.f64(6));
        }
        let value = record.data.get(8).copied().unwrap_or_default();
        match record.data.get(6) {
            Some(0) => {
                self.formula_at = Some(at);
                Ok(())
            }
            Some(1) => self.sheet.grid.push(at, Kind::Value, truth(value)),
            Some(2) => self.sheet.grid.push(at, Kind::Value, error_name(value)),
            _ => Ok(()),
        }
    }

    fn label(&mut self, record: &Record<'_>) -> Result<(), Full> {
        let Some(at) = record.place() else {
            self.damaged += 1;
            return Ok(());
        };
        match record.kind {
            kind::LABEL_SST => {
                let index = record.u32(6).and_then(|index| usize::try_from(index).ok());
                let globals = self.globals;
                match index.and_then(|index| globals.texts.get(index)) {
                    Some(text) => self.sheet.grid.push(at, Kind::Text, text),
                    None => self.text_cell(at, None),
                }
            }
            kind::BOOL_ERR => match record.data.get(6..8) {
                Some([value, 0]) => self.sheet.grid.push(at, Kind::Value, truth(*value)),
                Some([code, _]) => self.sheet.grid.push(at, Kind::Value, error_name(*code)),
                _ => self.text_cell(at, None),
            },
            _ => {
                let text = record.data.get(6..);
                let text = text.and_then(|text| self.globals.writing.text(text));
                self.text_cell(at, text)
            }
        }
    }

    fn text_cell(&mut self, at: (u32, u32), text: Option<String>) -> Result<(), Full> {
        let Some(text) = text else {
            self.damaged += 1;
            return Ok(());
        };
        self.sheet.grid.push(at, Kind::Text, &text)
    }

    fn number(
        &mut self,
        at: (u32, u32),
        style: Option<u16>,
        value: Option<f64>,
    ) -> Result<(), Full> {
        let Some(value) = value else {
            self.damaged += 1;
            return Ok(());
        };
        let format = style.and_then(|style| self.globals.styles.get(usize::from(style)));
        let text = format
            .unwrap_or(&NumberFormat::General)
            .show(value, self.globals.is_1904);
        self.sheet.grid.push(at, Kind::Value, &text)
    }

    fn row(&mut self, record: &Record<'_>) {
        if let (Some(row), Some(flags)) = (record.u16(0), record.u16(12))
            && flags & 0x20 != 0
        {
            self.sheet.hidden_rows.add(row.into(), row.into());
        }
    }

    fn columns(&mut self, record: &Record<'_>) {
        if let (Some((first, last)), Some(flags)) = (record.place(), record.u16(8))
            && flags & 1 != 0
        {
            self.sheet.hidden_columns.add(first, last);
        }
    }

    fn merged(&mut self, record: &Record<'_>) {
        let count = usize::from(record.u16(0).unwrap_or_default());
        for index in 0..count.min(MOST.saturating_sub(self.sheet.merged.len())) {
            let at = 2 + index * 8;
            let ends = [0, 2, 4, 6].map(|step| record.u16(at + step).map(u32::from));
            if let [Some(first), Some(last), Some(left), Some(right)] = ends {
                self.sheet.merged.push(Area {
                    rows: (first, last),
                    columns: (left, right),
                });
            }
        }
    }

    /// The first part of an object says its type and number ([MS-XLS] 2.5.143).
    fn object(&mut self, record: &Record<'_>) {
        self.objects.last = record.u16(6).zip(record.u16(4));
    }

    /// The text of the last object.
    fn text(&mut self, record: &Record<'_>, continued: Vec<&[u8]>) {
        let count = usize::from(record.u16(10).unwrap_or_default());
        let Some((number, object)) = self.objects.last.take() else {
            return;
        };
        if count == 0 || self.objects.texts.len() >= MOST {
            return;
        }
        let mut data = Data::new(continued);
        let flags = data.byte().unwrap_or_default();
        let Some(text) = data.characters(count, flags & 1 != 0) else {
            return;
        };
        if object == TEXT_BOX {
            self.sheet.extras.push(format!("Text box: {}", text.trim()));
        } else {
            self.objects.texts.insert(number, text);
        }
    }

    fn note(&mut self, record: &Record<'_>) {
        if let (Some(at), Some(object)) = (record.place(), record.u16(6))
            && self.globals.writing.unicode
            && self.objects.notes.len() < MOST
        {
            let author = record
                .data
                .get(8..)
                .and_then(|text| self.globals.writing.text(text));
            self.objects.notes.push((at, object, author));
        }
    }

    fn finish(self) {
        let Objects {
            mut texts, notes, ..
        } = self.objects;
        for ((row, column), object, author) in notes {
            let Some(text) = texts.remove(&object) else {
                continue;
            };
            let own = author
                .as_deref()
                .map(|author| format!("{author}:"))
                .unwrap_or_default();
            let said = text.trim();
            let said = said.strip_prefix(&own).unwrap_or(said).trim();
            self.sheet.notes.push(Note {
                row,
                column,
                author,
                text: said.to_owned(),
            });
        }
    }
}

/// A number in 30 bits: a whole one, or the upper bits of a fraction, perhaps times a hundred.
fn unpacked(packed: u32) -> f64 {
    let bits = packed & !3;
    let value = if packed & 2 != 0 {
        f64::from(bits.cast_signed() >> 2)
    } else {
        f64::from_bits(u64::from(bits) << 32)
    };
    if packed & 1 != 0 {
        value / 100.0
    } else {
        value
    }
}

fn truth(value: u8) -> &'static str {
    if value == 0 { "FALSE" } else { "TRUE" }
}

fn error_name(code: u8) -> &'static str {
    match code {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x0f => "#VALUE!",
        0x17 => "#REF!",
        0x1d => "#NAME?",
        0x24 => "#NUM!",
        0x2a => "#N/A",
        _ => "#ERROR!",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_numbers() {
        #[track_caller]
        fn check(packed: u32, expect: f64) {
            assert!((unpacked(packed) - expect).abs() < 1e-9, "{packed:x}");
        }
        check(1 << 2 | 2, 1.0);
        check((-5_i32).cast_unsigned() << 2 | 2, -5.0);
        check(1234 << 2 | 3, 12.34);
        check(0x3ff0_0000, 1.0);
        check(0x405e_c000 | 1, 1.23);
    }
}
