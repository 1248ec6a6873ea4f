//! Text that goes into Markdown as it is.

use super::rows::{push_row, push_rule};

/// `text` with a backslash before every `#` that Markdown would take for a heading.
pub(super) fn escape_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let body = line.trim_start_matches(' ');
        let after = body.trim_start_matches('#');
        let is_marked = after.len() < body.len() && after.starts_with(char::is_whitespace);
        if is_marked || (after.is_empty() && !body.is_empty()) {
            out.extend(std::iter::repeat_n(' ', line.len() - body.len()));
            out.push('\\');
            out.push_str(body);
        } else {
            out.push_str(line);
        }
    }
    out
}

/// `text` as a fenced block: its line ends count, and nothing in it is markup.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let text = text.trim_end();
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Markdown put together from blocks and lines.
#[derive(Debug, Default)]
pub(super) struct Written(String);

impl Written {
    /// Adds a part with an empty line before it; an empty part is nothing.
    pub(super) fn block(&mut self, text: &str) {
        let text = text.trim_matches('\n').trim_end();
        if !text.trim().is_empty() {
            self.gap();
            self.line(text);
        }
    }

    /// Adds a line below the one before.
    pub(super) fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    /// Ends a block.
    pub(super) fn gap(&mut self) {
        if !self.0.is_empty() && !self.0.ends_with("\n\n") {
            self.0.push('\n');
        }
    }

    /// Adds a heading.
    pub(super) fn heading(&mut self, level: usize, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            self.block(&format!("{} {text}", "#".repeat(level.clamp(1, 6))));
            self.gap();
        }
    }

    /// Adds a table whose first row is its header.
    pub(super) fn table(&mut self, rows: &[Vec<String>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        if columns == 0 {
            return;
        }
        self.gap();
        for (row, index) in rows.iter().zip(0..) {
            push_row(&mut self.0, row.iter().map(String::as_str), columns);
            if index == 0 {
                push_rule(&mut self.0, columns);
            }
        }
        self.gap();
    }

    /// The whole text.
    pub(super) fn finish(self) -> String {
        let text = self.0.trim_end();
        if text.is_empty() {
            String::new()
        } else {
            format!("{text}\n")
        }
    }
}
