//! Tables of AsciiDoc.

/// Columns of a table that is still read as one.
const MOST_COLUMNS: usize = 64;

/// The rows between the two lines `mark`, described by the attribute lines above them.
pub(super) fn rows(body: &[&str], mark: &str, attributes: &[String]) -> Vec<Vec<String>> {
    let is_csv = mark == ",===" || attributes.iter().any(|line| line.contains("format=csv"));
    if is_csv {
        let text = body.join("\n");
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(text.as_bytes());
        let records = reader.records().flatten();
        return records
            .map(|record| record.iter().map(str::to_owned).collect())
            .collect();
    }
    let separator = if mark == "!===" { '!' } else { '|' };
    let mut cells: Vec<String> = Vec::new();
    let mut first_line = 0;
    for line in body {
        let before = cells.len();
        push_cells(&mut cells, line, separator);
        if first_line == 0 {
            first_line = cells.len() - before;
        }
    }
    let columns = declared(attributes)
        .unwrap_or(first_line)
        .clamp(1, MOST_COLUMNS);
    let mut cells = cells.into_iter().map(|cell| cell.trim().to_owned());
    let mut rows = Vec::new();
    loop {
        let row: Vec<String> = cells.by_ref().take(columns).collect();
        if row.is_empty() {
            return rows;
        }
        rows.push(row);
    }
}

/// Adds the cells that begin on `line`; what stands before the first belongs to the one above.
fn push_cells(cells: &mut Vec<String>, line: &str, separator: char) {
    let mut parts = line.split(separator).peekable();
    let mut before = parts.next().unwrap_or_default();
    if let Some(last) = cells.last_mut() {
        last.push('\n');
        last.push_str(if parts.peek().is_some() {
            without_form(before)
        } else {
            before
        });
    }
    while let Some(part) = parts.next() {
        if let Some(text) = before.strip_suffix('\\') {
            // An escaped separator is text.
            let last = cells.last_mut();
            if let Some(last) = last {
                if last.ends_with('\\') {
                    last.pop();
                } else if text.is_empty() {
                    last.clear();
                }
                last.push(separator);
                last.push_str(part);
            }
        } else {
            let (columns, again) = form(before);
            let text = if parts.peek().is_some() {
                without_form(part)
            } else {
                part
            };
            for _ in 0..again {
                cells.push(text.to_owned());
            }
            for _ in 1..columns {
                cells.push(String::new());
            }
        }
        before = part;
    }
}

/// What stands before a separator without the form of the next cell, such as `2+`.
fn without_form(text: &str) -> &str {
    let is_form = |c: char| c.is_ascii_digit() || "+*.<>^adehlmsv".contains(c);
    let trimmed = text.trim_end_matches(is_form);
    // Only after a space it is none of the text.
    if trimmed.is_empty() || trimmed.ends_with(' ') {
        trimmed
    } else {
        text
    }
}

/// Columns that a cell reaches over, and how often it is repeated.
fn form(before: &str) -> (usize, usize) {
    let form = before.get(without_form(before).len()..).unwrap_or_default();
    let number = |mark: char| {
        let (number, _) = form.split_once(mark)?;
        number.split('.').next()?.parse::<usize>().ok()
    };
    let (columns, again) = (number('+'), number('*'));
    (
        columns.unwrap_or(1).clamp(1, MOST_COLUMNS),
        again.unwrap_or(1).clamp(1, MOST_COLUMNS),
    )
}

/// The number of columns that `cols=` says.
fn declared(attributes: &[String]) -> Option<usize> {
    let line = attributes.iter().find(|line| line.contains("cols="))?;
    let (_, value) = line.split_once("cols=")?;
    let value = match value.strip_prefix('"') {
        Some(value) => value.split('"').next()?,
        None => value.split([',', ' ']).next()?,
    };
    let count = |part: &str| {
        part.split_once('*')
            .and_then(|(times, _)| times.trim().parse::<usize>().ok())
    };
    let columns = value
        .split([',', ';'])
        .map(|part| count(part).unwrap_or(1).min(MOST_COLUMNS));
    Some(columns.sum())
}
