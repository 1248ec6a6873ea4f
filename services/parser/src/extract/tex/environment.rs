//! What stands between `\begin{…}` and `\end{…}`.

use super::super::lines::{Written, fenced};
use super::Writer;
use super::source::Source;

/// Environments whose text stands as it is.
const VERBATIM: [&str; 6] = [
    "verbatim",
    "Verbatim",
    "lstlisting",
    "minted",
    "alltt",
    "filecontents",
];
const FORMULAS: [&str; 9] = [
    "equation",
    "align",
    "gather",
    "multline",
    "eqnarray",
    "displaymath",
    "math",
    "flalign",
    "alignat",
];
const TABLES: [&str; 6] = [
    "tabular",
    "tabularx",
    "tabulary",
    "longtable",
    "supertabular",
    "tabu",
];
/// Bytes that are searched for ends that are not there.
const MOST_SEARCHED_BYTES: usize = 100 << 20;
/// Columns of a table that is still read as one.
const MOST_COLUMNS: usize = 64;
const DRAWINGS: [&str; 3] = ["tikzpicture", "pgfpicture", "picture"];
/// Environments that are named in the text, as print names them.
const STATEMENTS: [(&str, &str); 10] = [
    ("theorem", "Theorem"),
    ("lemma", "Lemma"),
    ("proposition", "Proposition"),
    ("corollary", "Corollary"),
    ("definition", "Definition"),
    ("proof", "Proof"),
    ("example", "Example"),
    ("remark", "Remark"),
    ("exercise", "Exercise"),
    ("conjecture", "Conjecture"),
];

impl Writer {
    /// Reads an environment whose `\begin` is read.
    pub(super) fn begin(&mut self, source: &mut Source<'_>) {
        let full = source.argument().unwrap_or_default().trim();
        let name = full.trim_end_matches('*');
        let is_verbatim = VERBATIM.contains(&name);
        if self.searched > MOST_SEARCHED_BYTES {
            return;
        }
        let Some(body) = body(source, full, is_verbatim) else {
            // It does not end: what follows is read as if it had not begun.
            self.searched += source.len();
            return;
        };
        if is_verbatim {
            self.verbatim(name, body);
        } else if FORMULAS.contains(&name) {
            self.paragraph(&format!("$$\n{}\n$$", body.trim()));
        } else if TABLES.contains(&name) {
            self.table(full, body);
        } else if name == "comment" {
            // Not part of the text.
        } else if DRAWINGS.contains(&name) {
            self.doubts.push("a drawing is left out".to_owned());
        } else if matches!(name, "itemize" | "enumerate" | "description" | "list") {
            self.list(name == "enumerate", body);
        } else {
            self.other(name, body);
        }
    }

    fn verbatim(&mut self, name: &str, body: &str) {
        let mut inner = Source::new(body);
        inner.options();
        let language = match name {
            "minted" => inner.argument().unwrap_or_default(),
            _ => "",
        };
        let text = inner.take_rest().trim_matches('\n');
        if !text.trim().is_empty() {
            self.paragraph(&fenced(text, language));
        }
    }

    fn list(&mut self, is_numbered: bool, body: &str) {
        let mut inner = Source::new(body);
        inner.options();
        if self.lists.is_empty() {
            self.end_paragraph();
        }
        self.lists.push(is_numbered);
        self.read(inner.take_rest());
        self.lists.pop();
        if self.lists.is_empty() {
            self.end_paragraph();
        }
    }

    fn other(&mut self, name: &str, body: &str) {
        let mut inner = Source::new(body);
        self.end_paragraph();
        if let Some((_, label)) = STATEMENTS.iter().find(|(known, _)| *known == name) {
            let about = inner.option().map(|about| self.inline(about));
            let about = about.map(|about| format!(" ({about})"));
            self.push_str(&format!("{label}{}. ", about.unwrap_or_default()));
        }
        match name {
            "abstract" => self.heading(2, "Abstract"),
            "thebibliography" => {
                inner.argument();
                self.heading(2, "References");
            }
            "minipage" | "multicols" | "wrapfigure" | "adjustbox" => {
                inner.options();
                inner.argument();
                if name == "wrapfigure" {
                    inner.argument();
                }
            }
            _ => inner.options(),
        }
        self.read(inner.take_rest());
        self.end_paragraph();
    }

    fn table(&mut self, name: &str, body: &str) {
        let mut inner = Source::new(body);
        inner.options();
        if matches!(name, "tabular*" | "tabularx" | "tabulary") {
            inner.argument();
            inner.options();
        }
        inner.argument();
        let mut rows: Vec<Vec<String>> = Vec::new();
        for row in split(inner.take_rest(), "\\\\") {
            let mut cells = Vec::new();
            for cell in split(row, "&") {
                self.cell(cell, &mut cells);
            }
            if cells.iter().any(|cell| !cell.is_empty()) && cells.len() <= MOST_COLUMNS {
                rows.push(cells);
            } else if cells.len() > MOST_COLUMNS {
                rows.push(vec![cells.join(" ")]);
            }
        }
        let mut table = Written::default();
        table.table(&rows);
        self.paragraph(&table.finish());
    }

    fn cell(&mut self, cell: &str, cells: &mut Vec<String>) {
        let mut text = cell.trim_start();
        // What only draws lines.
        while let Some(rule) = RULES.iter().find_map(|rule| text.strip_prefix(rule)) {
            let mut source = Source::new(rule);
            source.options();
            if rule.starts_with('{') {
                source.argument();
            } else if rule.starts_with('(') {
                source.until(")");
                source.argument();
            }
            text = source.take_rest().trim_start();
        }
        let spans = text.strip_prefix("\\multicolumn").map(|rest| {
            let mut source = Source::new(rest);
            let columns = source
                .argument()
                .and_then(|columns| columns.trim().parse().ok());
            source.argument();
            let inner = source.argument().unwrap_or_default();
            (columns.unwrap_or(1_usize).clamp(1, MOST_COLUMNS), inner)
        });
        let (columns, text) = spans.unwrap_or((1, text));
        let over_rows = text.trim_start().strip_prefix("\\multirow").map(|rest| {
            let mut source = Source::new(rest);
            source.options();
            source.argument();
            source.options();
            source.argument();
            source.options();
            source.argument().unwrap_or_default()
        });
        let text = self.inline(over_rows.unwrap_or(text));
        cells.push(text);
        cells.extend((1..columns).map(|_| String::new()));
    }
}

const RULES: [&str; 9] = [
    "\\hline",
    "\\toprule",
    "\\midrule",
    "\\bottomrule",
    "\\cline",
    "\\cmidrule",
    "\\endhead",
    "\\endfirsthead",
    "\\endfoot",
];

/// The text up to the `\end` that belongs to the `\begin{name}` before it.
fn body<'a>(source: &mut Source<'a>, name: &str, is_verbatim: bool) -> Option<&'a str> {
    let all = source.clone().take_rest();
    let (begin, end) = (format!("\\begin{{{name}}}"), format!("\\end{{{name}}}"));
    let mut open = 1_usize;
    let mut at = 0;
    loop {
        let rest = all.get(at..)?;
        let close = rest.find(&end)?;
        let before = rest.get(..close)?;
        let opened = if is_verbatim {
            0
        } else {
            before.matches(&begin).count()
        };
        open = open + opened - 1;
        if open == 0 {
            let body = all.get(..at + close);
            *source = Source::new(all.get(at + close + end.len()..)?);
            return body;
        }
        at += close + end.len();
    }
}

/// The parts of `text` between separators that stand in no braces or environment of their own.
fn split<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0_i32);
    let mut skip_to = 0;
    for (at, c) in text.char_indices() {
        if at < skip_to {
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        if depth == 0 && rest.starts_with(separator) {
            parts.push(text.get(from..at).unwrap_or_default());
            from = at + separator.len();
            skip_to = from;
            continue;
        }
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            '\\' if rest.starts_with("\\begin{") => depth += 1,
            '\\' if rest.starts_with("\\end{") => depth -= 1,
            // What follows a backslash is none of these.
            '\\' => skip_to = at + 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            '%' => skip_to = at + rest.find('\n').unwrap_or(rest.len()),
            _ => {}
        }
    }
    parts.push(text.get(from..).unwrap_or_default());
    parts
}
