//! reStructuredText: headings, lists, tables and listings; directives and roles become their
//! text. Files that it includes are not read.

mod inline;
mod table;

use super::lines::{Written, escape_marks, fenced};
use super::markdown::Names;
use super::{ExtractError, Extraction, Extractor, Input, charset, only_page};

/// Directives within directives.
const MOST_NESTED: u32 = 16;

pub(super) struct RstExtractor;

impl Extractor for RstExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let decoded = charset::decode(input.bytes);
        let mut doubts = decoded.doubts();
        let mut reader = Reader::default();
        let lines: Vec<&str> = decoded.text.lines().map(str::trim_end).collect();
        reader.read(&lines, 0);
        if reader.includes {
            doubts.push("it includes other files, which are not read here".to_owned());
        }
        let markdown = reader.out.finish();
        let names = Names::of(&markdown);
        Ok(Extraction {
            title: names.title,
            pages: vec![only_page(markdown, names.heading, doubts)],
            ..Extraction::default()
        })
    }
}

/// Directives whose body is code.
const CODE: [&str; 7] = [
    "code-block",
    "code",
    "sourcecode",
    "parsed-literal",
    "prompt",
    "ipython",
    "testcode",
];
/// Directives that are for the program alone.
const MACHINERY: [&str; 14] = [
    "contents",
    "toctree",
    "index",
    "meta",
    "highlight",
    "sectnum",
    "tabularcolumns",
    "raw",
    "currentmodule",
    "default-role",
    "role",
    "footer",
    "header",
    "target-notes",
];

#[derive(Default)]
struct Reader {
    out: Written,
    /// The marks of headings in the order of their levels; over and under is another mark.
    marks: Vec<(char, bool)>,
    includes: bool,
    in_paragraph: bool,
}

impl Reader {
    fn read(&mut self, lines: &[&str], depth: u32) {
        let mut at = 0;
        while let Some(rest) = lines.get(at..).filter(|rest| !rest.is_empty()) {
            at += self.block(rest, depth).max(1);
        }
    }

    /// Reads the block at the beginning of `lines`; how many of them it took.
    fn block(&mut self, lines: &[&str], depth: u32) -> usize {
        let line = lines.first().copied().unwrap_or_default();
        if line.is_empty() {
            self.in_paragraph = false;
            self.out.gap();
            return 1;
        }
        if let Some(taken) = self.heading(lines) {
            return taken;
        }
        if let Some((rows, taken)) = table::read(lines) {
            self.table(&rows);
            return taken;
        }
        if line.starts_with(".. ") || line == ".." {
            return self.explicit(lines, depth);
        }
        if line.trim_start().starts_with(">>> ") && !self.in_paragraph {
            let length = lines
                .iter()
                .position(|line| line.is_empty())
                .unwrap_or(lines.len());
            let body = lines.get(..length).unwrap_or_default();
            self.out
                .block(&fenced(&dedented(body).join("\n"), "python"));
            self.out.gap();
            return length;
        }
        self.text(lines)
    }

    fn table(&mut self, rows: &[Vec<String>]) {
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(|cell| inline::of(cell)).collect())
            .collect();
        self.out.table(&rows);
        self.in_paragraph = false;
    }

    /// A title with a line below it, and perhaps one above.
    fn heading(&mut self, lines: &[&str]) -> Option<usize> {
        let (first, second) = (*lines.first()?, *lines.get(1)?);
        if let Some(mark) = rule(first)
            && lines.get(2).copied().and_then(rule) == Some(mark)
            && !second.trim().is_empty()
            && first.chars().count() >= second.trim().chars().count()
        {
            self.push_heading((mark, true), second.trim());
            return Some(3);
        }
        let mark = rule(second)?;
        let is_title = !first.starts_with(' ') && rule(first).is_none() && !self.in_paragraph;
        if !is_title || second.chars().count() + 1 < first.chars().count() {
            // A line by itself parts sections; it says nothing.
            return None;
        }
        self.push_heading((mark, false), first);
        Some(2)
    }

    fn push_heading(&mut self, mark: (char, bool), title: &str) {
        let known = self.marks.iter().position(|known| *known == mark);
        let level = known.unwrap_or(self.marks.len()) + 1;
        if known.is_none() {
            self.marks.push(mark);
        }
        self.out.heading(level, &inline::of(title));
        self.in_paragraph = false;
    }

    /// A directive, a comment, a target, a footnote.
    fn explicit(&mut self, lines: &[&str], depth: u32) -> usize {
        self.in_paragraph = false;
        let line = lines.first().copied().unwrap_or_default();
        let rest = lines.get(1..).unwrap_or_default();
        let length = indented(rest);
        let taken = length + 1;
        let body = dedented(rest.get(..length).unwrap_or_default());
        let line = line.trim_start_matches("..").trim();
        if let Some((name, arguments)) = directive(line) {
            self.directive(name, arguments, &body, depth);
        } else if let Some(note) = line.strip_prefix('[') {
            let text = std::iter::once(format!("[{note}").as_str())
                .chain(body.iter().copied())
                .collect::<Vec<_>>()
                .join(" ");
            self.out.block(&inline::of(&text));
        }
        self.out.gap();
        taken
    }

    fn directive(&mut self, name: &str, arguments: &str, body: &[&str], depth: u32) {
        let options = body
            .iter()
            .take_while(|line| line.starts_with(':') && line.len() > 1)
            .count();
        let (options, content) = body.split_at(options);
        let option = |wanted: &str| {
            let field = |line: &&str| {
                line.strip_prefix(wanted)
                    .map(|value| value.trim().to_owned())
            };
            options.iter().find_map(field)
        };
        match name {
            name if MACHINERY.contains(&name) => {}
            name if CODE.contains(&name) => {
                let text = content.join("\n");
                let text = text.trim_matches('\n');
                if !text.trim().is_empty() {
                    self.out.block(&fenced(text, arguments));
                }
            }
            "math" => {
                let text = format!("{arguments}\n{}", content.join("\n"));
                self.out.block(&format!("$$\n{}\n$$", text.trim()));
            }
            "include" | "literalinclude" => self.includes = true,
            "image" | "figure" => {
                self.out.block(&option(":alt:").unwrap_or_default());
                self.nested(content, depth);
            }
            "list-table" => {
                self.out.block(&inline::of(arguments));
                self.table(&table::of_list(content));
            }
            "csv-table" => {
                self.out.block(&inline::of(arguments));
                let header = option(":header:").unwrap_or_default();
                self.table(&table::of_csv(&header, content));
            }
            "table" => {
                self.out.block(&inline::of(arguments));
                self.nested(content, depth);
            }
            name => {
                let label = LABELS.iter().find(|(known, _)| *known == name);
                let label = label.map_or(name, |(_, label)| *label);
                let first = format!("{label}: {}", inline::of(arguments));
                self.out.block(first.trim_end());
                self.nested(content, depth);
            }
        }
    }

    fn nested(&mut self, lines: &[&str], depth: u32) {
        self.out.gap();
        self.in_paragraph = false;
        if depth < MOST_NESTED {
            self.read(&dedented(lines), depth + 1);
        } else {
            self.out.block(&escape_marks(&lines.join("\n")));
        }
        self.in_paragraph = false;
    }

    fn text(&mut self, lines: &[&str]) -> usize {
        let line = lines.first().copied().unwrap_or_default();
        // A line of marks between paragraphs.
        if rule(line).is_some_and(|_| line.len() >= 4) && !self.in_paragraph {
            return 1;
        }
        let indent = line.len() - line.trim_start().len();
        let is_literal = line.ends_with("::");
        let shown = match line.strip_suffix("::") {
            Some("") => "",
            Some(text) if text.ends_with(char::is_whitespace) => text.trim_end(),
            Some(_) => line.strip_suffix(':').unwrap_or(line),
            None => line,
        };
        let below = lines.get(1).copied().unwrap_or_default();
        let is_deeper = below.len() - below.trim_start().len() > indent && !below.is_empty();
        let trimmed = shown.trim_start();
        let depth = (indent / 2).min(8);
        if let Some(text) = trimmed.strip_prefix("| ") {
            self.out.line(&inline::of(text));
        } else if let Some((mark, text)) = item(trimmed) {
            let text = inline::of(text);
            self.out
                .line(&format!("{}{mark} {text}", "  ".repeat(depth)));
        } else if let Some((name, value)) = field(trimmed) {
            self.out.line(&format!(
                "{}- {name}: {}",
                "  ".repeat(depth),
                inline::of(value)
            ));
        } else if is_deeper && !self.in_paragraph && !is_literal {
            // A term with what is said about it.
            self.out
                .line(&format!("{}- {}:", "  ".repeat(depth), inline::of(trimmed)));
        } else if !trimmed.is_empty() {
            let indent = if self.in_paragraph { indent.min(8) } else { 0 };
            let text = escape_marks(&inline::of(trimmed));
            self.out.line(&format!("{}{text}", " ".repeat(indent)));
        }
        self.in_paragraph = true;
        if !is_literal {
            return 1;
        }
        self.literal(lines, indent)
    }

    /// The indented text that a `::` announces.
    fn literal(&mut self, lines: &[&str], indent: usize) -> usize {
        let rest = lines.get(1..).unwrap_or_default();
        let first = rest.iter().find(|line| !line.is_empty());
        let is_deeper = first.is_some_and(|line| line.len() - line.trim_start().len() > indent);
        self.in_paragraph = false;
        if !is_deeper || rest.first().is_some_and(|line| !line.is_empty()) {
            return 1;
        }
        let within =
            |line: &&&str| line.is_empty() || line.len() - line.trim_start().len() > indent;
        let length = rest.iter().take_while(within).count();
        let body = dedented(rest.get(..length).unwrap_or_default()).join("\n");
        self.out.block(&fenced(body.trim_matches('\n'), ""));
        self.out.gap();
        length + 1
    }
}

/// What directives are called in the text.
const LABELS: [(&str, &str); 13] = [
    ("note", "Note"),
    ("warning", "Warning"),
    ("tip", "Tip"),
    ("hint", "Hint"),
    ("important", "Important"),
    ("caution", "Caution"),
    ("danger", "Danger"),
    ("attention", "Attention"),
    ("seealso", "See also"),
    ("versionadded", "Added in version"),
    ("versionchanged", "Changed in version"),
    ("deprecated", "Deprecated since version"),
    ("admonition", "Note"),
];

/// The mark of a line that is nothing but one mark.
fn rule(line: &str) -> Option<char> {
    let mark = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.len() >= 3 && line.chars().all(|c| c == mark)).then_some(mark)
}

/// `name:: arguments`, perhaps after `|x|`.
fn directive(line: &str) -> Option<(&str, &str)> {
    let line = match line.strip_prefix('|') {
        Some(rest) => rest.split_once('|')?.1.trim_start(),
        None => line,
    };
    let (name, arguments) = line.split_once("::")?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
    let fits = !name.is_empty() && name.chars().all(is_name);
    fits.then(|| (name, arguments.trim()))
}

/// A list item: its mark and text.
fn item(line: &str) -> Option<(&str, &str)> {
    let (mark, text) = line.split_once(' ')?;
    if matches!(mark, "-" | "*" | "+" | "•") {
        return Some(("-", text.trim_start()));
    }
    let number = mark.trim_start_matches('(').strip_suffix(['.', ')'])?;
    let is_number =
        !number.is_empty() && number.len() <= 4 && number.chars().all(|c| c.is_ascii_digit());
    if number == "#" {
        return Some(("1.", text.trim_start()));
    }
    is_number.then(|| (mark, text.trim_start()))
}

/// `:name: value`.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix(':')?.split_once(':')?;
    let fits =
        !name.is_empty() && (value.is_empty() || value.starts_with(' ')) && !name.contains('`');
    fits.then(|| (name, value.trim()))
}

/// How many lines are indented, with the empty ones between them.
fn indented(lines: &[&str]) -> usize {
    let within = |line: &&&str| line.is_empty() || line.starts_with([' ', '\t']);
    let length = lines.iter().take_while(within).count();
    let empty = lines.get(..length).unwrap_or_default();
    length
        - empty
            .iter()
            .rev()
            .take_while(|line| line.is_empty())
            .count()
}

/// `lines` without the space that all of them begin with.
fn dedented<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let filled = lines.iter().filter(|line| !line.is_empty());
    let indent = filled
        .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
        .min();
    let indent = indent.unwrap_or(0);
    lines
        .iter()
        .map(|line| line.get(indent..).unwrap_or_default())
        .collect()
}

#[cfg(test)]
mod tests;
