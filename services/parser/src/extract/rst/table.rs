//! Tables of reStructuredText.

/// Rows, and how many lines they took, when `lines` begin with a table.
pub(super) fn read(lines: &[&str]) -> Option<(Vec<Vec<String>>, usize)> {
    grid(lines).or_else(|| simple(lines))
}

/// `+---+---+` with `| a | b |` between.
fn grid(lines: &[&str]) -> Option<(Vec<Vec<String>>, usize)> {
    let border = lines.first()?.trim_start();
    if !border.starts_with("+-") || !is_border(border) {
        return None;
    }
    let begins = |line: &&&str| line.trim_start().starts_with(['+', '|']);
    let length = lines.iter().take_while(begins).count();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row: Vec<String> = Vec::new();
    for line in lines.get(..length)? {
        let line = line.trim_start();
        if is_border(line) {
            if row.iter().any(|cell| !cell.is_empty()) {
                rows.push(std::mem::take(&mut row));
            }
            continue;
        }
        let inner = line
            .trim_start_matches(['|', '+'])
            .trim_end_matches(['|', '+']);
        for (at, cell) in inner.split('|').enumerate() {
            if row.len() <= at {
                row.push(String::new());
            }
            if let Some(slot) = row.get_mut(at)
                && !cell.trim().trim_matches(['-', '+']).is_empty()
            {
                if !slot.is_empty() {
                    slot.push('\n');
                }
                slot.push_str(cell.trim());
            }
        }
    }
    if row.iter().any(|cell| !cell.is_empty()) {
        rows.push(row);
    }
    (!rows.is_empty()).then_some((rows, length))
}

fn is_border(line: &str) -> bool {
    line.starts_with('+') && line.chars().all(|c| matches!(c, '+' | '-' | '='))
}

/// Columns under `====  ===`.
fn simple(lines: &[&str]) -> Option<(Vec<Vec<String>>, usize)> {
    let border = *lines.first()?;
    if !is_rule(border) || !border.trim().contains(' ') {
        return None;
    }
    let columns = columns(border);
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut closed = None;
    for (line, at) in lines.iter().zip(0..).skip(1) {
        if is_rule(line) {
            let is_last = lines.get(at + 1).is_none_or(|below| below.is_empty());
            if is_last {
                closed = Some(at + 1);
                break;
            }
            continue;
        }
        if line.is_empty() {
            continue;
        }
        let cells = cells(line, &columns);
        let goes_on = cells.first().is_some_and(String::is_empty);
        match rows.last_mut().filter(|_| goes_on) {
            Some(row) => {
                for (slot, cell) in row
                    .iter_mut()
                    .zip(cells)
                    .filter(|(_, cell)| !cell.is_empty())
                {
                    slot.push('\n');
                    slot.push_str(&cell);
                }
            }
            None => rows.push(cells),
        }
    }
    closed
        .filter(|_| !rows.is_empty())
        .map(|taken| (rows, taken))
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && line.starts_with('=') && line.chars().all(|c| matches!(c, '=' | ' '))
}

/// Where columns begin, in characters.
fn columns(border: &str) -> Vec<usize> {
    let mut before = ' ';
    let mut starts = Vec::new();
    for (at, c) in border.chars().enumerate() {
        if c == '=' && before == ' ' {
            starts.push(at);
        }
        before = c;
    }
    starts
}

fn cells(line: &str, columns: &[usize]) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    let ends = columns.iter().skip(1).copied().chain([usize::MAX]);
    columns
        .iter()
        .zip(ends)
        .map(|(start, end)| {
            let end = end.min(chars.len());
            let cell = chars.get(*start..end).unwrap_or_default();
            cell.iter().collect::<String>().trim().to_owned()
        })
        .collect()
}

/// A list of lists: `* - a` begins a row, `  - b` a cell.
pub(super) fn of_list(lines: &[&str]) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in lines {
        let trimmed = line.trim();
        if let Some(cell) = trimmed.strip_prefix("* -") {
            rows.push(vec![cell.trim().to_owned()]);
        } else if let (Some(row), Some(cell)) = (rows.last_mut(), trimmed.strip_prefix('-')) {
            row.push(cell.trim().to_owned());
        } else if let Some(cell) = rows.last_mut().and_then(|row| row.last_mut())
            && !trimmed.is_empty()
        {
            cell.push('\n');
            cell.push_str(trimmed);
        }
    }
    rows
}

/// Lines with commas, and a header that stands by itself.
pub(super) fn of_csv(header: &str, lines: &[&str]) -> Vec<Vec<String>> {
    let text = format!("{header}\n{}", lines.join("\n"));
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let records = reader.records().flatten();
    records
        .map(|record| record.iter().map(str::to_owned).collect())
        .collect()
}
