//! One cell of an OpenDocument sheet: its value, its text, its remark.

use quick_xml::events::BytesStart;

use super::super::grid::{Kind, Sheet};
use super::super::number::{NumberFormat, general};
use super::super::xlsx::iso;
use crate::extract::parts::xml::{attribute, number};

/// Spaces that one element stands for.
const MOST_SPACES: u32 = 16;

/// A cell whose end has not come.
pub(super) struct OpenCell {
    /// How often it stands beside itself.
    pub(super) repeats: u32,
    /// Rows and columns that it covers.
    pub(super) rows: u32,
    pub(super) columns: u32,
    value: Option<Value>,
    text: String,
    note: String,
    author: String,
    /// Open remarks: their text is not the cell's.
    in_note: bool,
    in_author: bool,
    in_date: bool,
    reading: u32,
}

enum Value {
    Number(f64),
    Percent(f64),
    Money(f64, String),
    /// A date or a truth value, ready to be shown.
    Ready(String),
}

impl OpenCell {
    pub(super) fn new(tag: &BytesStart<'_>) -> Self {
        let count = |name| number(tag, name).unwrap_or(1).max(1);
        Self {
            repeats: count("number-columns-repeated"),
            rows: count("number-rows-spanned"),
            columns: count("number-columns-spanned"),
            value: value(tag),
            text: String::new(),
            note: String::new(),
            author: String::new(),
            in_note: false,
            in_author: false,
            in_date: false,
            reading: 0,
        }
    }

    pub(super) fn open(&mut self, name: &[u8], tag: &BytesStart<'_>) {
        match name {
            b"annotation" => self.in_note = true,
            b"creator" => self.in_author = true,
            b"date" => self.in_date = true,
            b"p" | b"h" => {
                self.reading += 1;
                let text = self.current();
                if !text.is_empty() {
                    text.push('\n');
                }
            }
            b"s" => {
                let spaces = number(tag, "c").unwrap_or(1).min(MOST_SPACES);
                (0..spaces).for_each(|_| self.current().push(' '));
            }
            b"tab" | b"line-break" => self.current().push(' '),
            _ => {}
        }
    }

    pub(super) fn close(&mut self, name: &[u8]) {
        match name {
            b"annotation" => self.in_note = false,
            b"creator" => self.in_author = false,
            b"date" => self.in_date = false,
            b"p" | b"h" => self.reading = self.reading.saturating_sub(1),
            _ => {}
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.in_author {
            self.author.push_str(text);
        } else if self.reading > 0 && !self.in_date {
            self.current().push_str(text);
        }
    }

    fn current(&mut self) -> &mut String {
        if self.in_note {
            &mut self.note
        } else {
            &mut self.text
        }
    }

    /// Author and text of the remark on the cell.
    pub(super) fn note(&self) -> Option<(Option<String>, String)> {
        let said = self.note.trim();
        let author = self.author.trim();
        let author = (!author.is_empty()).then(|| author.to_owned());
        (!said.is_empty()).then(|| (author, said.to_owned()))
    }

    /// What the cell shows.
    pub(super) fn shown(&self) -> (Kind, String) {
        match &self.value {
            None => (Kind::Text, self.text.clone()),
            // The cell of a formula that failed: its text says how.
            Some(Value::Number(value)) if *value == 0.0 && self.text.starts_with('#') => {
                (Kind::Value, self.text.clone())
            }
            Some(Value::Number(value)) => (Kind::Value, self.number(*value)),
            Some(Value::Percent(value)) => {
                let decimals = self.text.split(['.', ',']).nth(1).unwrap_or_default();
                let decimals = decimals.chars().take_while(char::is_ascii_digit).count();
                let format = NumberFormat::Percent { decimals };
                (Kind::Value, format.show(*value, false))
            }
            Some(Value::Money(value, currency)) => {
                let format = NumberFormat::Number {
                    decimals: 2,
                    digits: 1,
                    before: String::new(),
                    after: format!(" {currency}"),
                };
                (
                    Kind::Value,
                    format.show(*value, false).trim_end().to_owned(),
                )
            }
            Some(Value::Ready(text)) => (Kind::Value, text.clone()),
        }
    }

    /// A number with the zeros in front that the cell shows, as of part numbers.
    fn number(&self, value: f64) -> String {
        let text = self.text.trim();
        let plain = general(value);
        let only_zeros_more = text.len() > plain.len()
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && text.trim_start_matches('0') == plain;
        if only_zeros_more {
            text.to_owned()
        } else {
            plain
        }
    }
}

fn value(tag: &BytesStart<'_>) -> Option<Value> {
    let float = || attribute(tag, "value").and_then(|value| value.trim().parse().ok());
    match attribute(tag, "value-type")?.as_str() {
        "float" => float().map(Value::Number),
        "percentage" => float().map(Value::Percent),
        "currency" => {
            let currency = attribute(tag, "currency").unwrap_or_default();
            float().map(|value| Value::Money(value, currency))
        }
        "date" => attribute(tag, "date-value").map(|date| Value::Ready(iso(&date))),
        "time" => attribute(tag, "time-value").map(|time| Value::Ready(clock(&time))),
        "boolean" => attribute(tag, "boolean-value")
            .map(|value| Value::Ready(if value == "true" { "TRUE" } else { "FALSE" }.to_owned())),
        _ => None,
    }
}

/// `PT13H30M00S` as hours, minutes and seconds; anything else as it is.
fn clock(time: &str) -> String {
    let parse = || {
        let rest = time.strip_prefix("PT")?;
        let (hours, rest) = rest.split_once('H')?;
        let (minutes, rest) = rest.split_once('M')?;
        let seconds = rest.strip_suffix('S')?.split(['.', ',']).next()?;
        let hours: u32 = hours.parse().ok()?;
        let minutes: u32 = minutes.parse().ok()?;
        let seconds: u32 = seconds.parse().ok()?;
        let tail = if seconds > 0 {
            format!(":{seconds:02}")
        } else {
            String::new()
        };
        Some(format!("{hours:02}:{minutes:02}{tail}"))
    };
    parse().unwrap_or_else(|| time.to_owned())
}

/// Text over the sheet, such as a text box's: the last of the extras is the line being read.
pub(super) fn shape_text(sheet: &mut Sheet, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    match sheet.extras.last_mut() {
        Some(line) if !line.ends_with('\n') => line.push_str(text),
        _ => sheet.extras.push(format!("Text box: {text}")),
    }
}

pub(super) fn end_shape_line(sheet: &mut Sheet) {
    if let Some(line) = sheet.extras.last_mut()
        && !line.ends_with('\n')
    {
        line.push('\n');
    }
}
