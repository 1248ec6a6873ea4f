//! What commands print on standard output.

use std::fmt::Display;
use std::io::{self, Write};

use console::Style;
use serde::Serialize;

/// Prints `text` as a line.
///
/// # Errors
/// When standard output is closed.
pub fn line(text: impl Display) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{text}")
}

/// Prints `text` without ending the line, at once.
///
/// # Errors
/// When standard output is closed.
pub fn piece(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints `value` as JSON over several lines.
///
/// # Errors
/// When standard output is closed.
pub fn json(value: &impl Serialize) -> io::Result<()> {
    line(serde_json::to_string_pretty(value)?)
}

/// Prints `value` as JSON on one line.
///
/// # Errors
/// When standard output is closed.
pub fn json_line(value: &impl Serialize) -> io::Result<()> {
    line(serde_json::to_string(value)?)
}

/// A style for standard output that knows of `NO_COLOR` and terminals.
pub fn style() -> Style {
    Style::new().for_stdout()
}

/// Prints rows with their cells aligned; the last cell of a row is left as long as it is.
///
/// # Errors
/// When standard output is closed.
pub fn table(rows: &[Vec<String>]) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells
            .map(|cell| console::measure_text_width(cell))
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let last = row.len().saturating_sub(1);
        let cells = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                if column == last {
                    cell.clone()
                } else {
                    console::pad_str(cell, *width, console::Alignment::Left, None).into_owned()
                }
            });
        line(cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

/// Text of a document or a model, which must not be able to drive the terminal: without control
/// characters but line breaks and tabs, and without those that change the direction of writing.
pub fn text(text: &str) -> String {
    text.chars()
        .filter(|c| !is_hidden(*c) || matches!(c, '\n' | '\t'))
        .collect()
}

/// A name, path or label on one line; what [`text`] leaves out is shown as `\u{202e}`, so that two
/// names that differ also look different.
pub fn name(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    for c in name.chars() {
        if is_hidden(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Control characters, the line separators, and the bidirectional formatting characters of
/// Unicode Standard Annex 9.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// `1 document`, `2 documents`, `1,234 documents`.
pub fn count(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(n), if n == 1 { "" } else { "s" })
}

/// `1,234,567`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_printed_drives_the_terminal_or_turns_the_line_around() {
        assert_eq!(text("a\u{1b}]0;x\u{7}b\r\n\tc\u{9b}"), "a]0;xb\n\tc");
        assert_eq!(text("a\u{202e}fdp.exe\u{2069}"), "afdp.exe");
        assert_eq!(name("two\nlines\u{202e}fdp"), "two\\u{a}lines\\u{202e}fdp");
        assert_eq!(name("Prüfung – الملف 文件.pdf"), "Prüfung – الملف 文件.pdf");
    }

    #[test]
    fn numbers_are_easy_to_read() {
        for (n, expect) in [
            (0, "0 pages"),
            (1, "1 page"),
            (999, "999 pages"),
            (1000, "1,000 pages"),
            (1_234_567, "1,234,567 pages"),
        ] {
            assert_eq!(count(n, "page"), expect);
        }
    }
}
