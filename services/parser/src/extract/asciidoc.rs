//! AsciiDoc, line by line: headings, lists, tables and listings; macros become their text. Files
//! that it includes are not read.

mod inline;
mod table;

use super::lines::{Written, escape_marks, fenced};
use super::markdown::Names;
use super::{ExtractError, Extraction, Extractor, Input, charset, html, only_page};

use self::inline::Inline;

pub(super) struct AsciidocExtractor;

impl Extractor for AsciidocExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let decoded = charset::decode(input.bytes);
        let mut doubts = decoded.doubts();
        let mut reader = Reader::default();
        reader.read(&decoded.text);
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

/// Words that begin a paragraph or a block to say what it is.
const ADMONITIONS: [&str; 5] = ["NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"];

#[derive(Default)]
struct Reader {
    out: Written,
    inline: Inline,
    /// What the attribute lines above the next block say.
    attributes: Vec<String>,
    /// Lines that frame blocks and wait for their like.
    open: Vec<String>,
    in_paragraph: bool,
    includes: bool,
}

impl Reader {
    fn read(&mut self, text: &str) {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let rest = lines.get(at + 1..).unwrap_or_default();
            at += 1 + self.block(line, rest);
        }
    }

    /// Reads `line` and what of `rest` belongs to it; how many lines of that.
    fn block(&mut self, line: &str, rest: &[&str]) -> usize {
        if line.is_empty() || line == "+" {
            self.in_paragraph = false;
            self.out.gap();
            return 0;
        }
        if let Some(taken) = self.delimited(line, rest) {
            return taken;
        }
        if self.directive(line) {
            return 0;
        }
        if let Some((level, title)) = heading(line) {
            self.heading(level, title);
            return 0;
        }
        if !self.in_paragraph
            && let Some(below) = rest
                .first()
                .filter(|below| !self.open.iter().any(|open| open == *below))
            && let Some(level) = underlined(line, below)
        {
            self.heading(level, line);
            return 1;
        }
        self.text(line);
        0
    }

    fn heading(&mut self, level: usize, title: &str) {
        let title = self.inline.of(title);
        self.out.heading(level, &title);
        self.end_block();
    }

    fn end_block(&mut self) {
        self.in_paragraph = false;
        self.attributes.clear();
    }

    /// A block between two equal lines.
    fn delimited(&mut self, line: &str, rest: &[&str]) -> Option<usize> {
        let mark = line.chars().next()?;
        let is_run = line.len() >= 4 && line.chars().all(|c| c == mark);
        let is_table = matches!(line, "|===" | "!===" | ",===" | ":===");
        let is_fence = line.starts_with("```");
        let is_mark = is_run && "-.=*_+/".contains(mark);
        let is_open = line == "--";
        if ![is_mark, is_table, is_fence, is_open].contains(&true) {
            return None;
        }
        // What frames blocks says nothing by itself.
        if is_open || (is_run && "=*_".contains(mark)) {
            if self.open.last().is_some_and(|open| open == line) {
                self.open.pop();
            } else {
                self.open.push(line.to_owned());
                self.admonish();
            }
            self.out.gap();
            self.end_block();
            return Some(0);
        }
        let close = if is_fence { "```" } else { line };
        let length = rest.iter().position(|below| *below == close);
        let taken = length.map_or(rest.len(), |length| length + 1);
        let body = rest.get(..length.unwrap_or(rest.len())).unwrap_or_default();
        if is_table {
            let rows = table::rows(body, line, &self.attributes);
            let cell = |text: &String| self.inline.of(text);
            let rows: Vec<Vec<String>> = rows
                .iter()
                .map(|row| row.iter().map(cell).collect())
                .collect();
            self.out.table(&rows);
        } else {
            self.verbatim(mark, line, &body.join("\n"));
        }
        self.out.gap();
        self.end_block();
        Some(taken)
    }

    fn verbatim(&mut self, mark: char, line: &str, body: &str) {
        match mark {
            '/' => {}
            '+' => match html::fragment(body) {
                Ok(markdown) => self.out.block(&markdown),
                Err(_) => self.out.block(body),
            },
            _ if body.trim().is_empty() => {}
            _ => {
                let language = line.strip_prefix("```").filter(|name| !name.is_empty());
                let own = || {
                    let source = self
                        .attributes
                        .iter()
                        .find_map(|line| line.strip_prefix("source,"))?;
                    source.split([',', '%']).next().map(str::trim)
                };
                let language = language.or_else(own).unwrap_or_default();
                self.out.block(&fenced(body, language));
            }
        }
    }

    /// Lines that are for the program; `true` when this is one.
    fn directive(&mut self, line: &str) -> bool {
        if line.starts_with("//") || matches!(line, "'''" | "<<<" | "toc::[]") {
            return true;
        }
        if let Some((name, value)) = attribute_entry(line) {
            self.inline.define(name, value);
            return true;
        }
        if let Some(inner) = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'))
        {
            self.attribute_line(inner);
            return true;
        }
        let Some((name, rest)) = line.split_once("::") else {
            return false;
        };
        match name {
            "include" => self.includes = true,
            "ifdef" | "ifndef" | "ifeval" | "endif" | "toc" => {}
            "image" | "video" | "audio" if rest.ends_with(']') => {
                let alt = self.inline.of(&inline::first_value(rest));
                self.out.block(&alt);
                self.end_block();
            }
            _ => return false,
        }
        true
    }

    fn attribute_line(&mut self, inner: &str) {
        if let Some(quoted) = inner.strip_prefix("quote,") {
            let by = quoted.trim().to_owned();
            let by = self.inline.of(&by);
            self.out.block(&format!("{by}:"));
        }
        self.attributes.push(inner.to_owned());
    }

    /// Writes what kind of note the next block is.
    fn admonish(&mut self) {
        let kind = ADMONITIONS
            .iter()
            .find(|kind| self.attributes.iter().any(|line| line == *kind));
        if let Some(kind) = kind {
            self.out.block(&format!("{kind}:"));
        }
    }

    fn text(&mut self, line: &str) {
        let title = line.strip_prefix('.').filter(|title| {
            !self.in_paragraph && title.starts_with(|c: char| !c.is_whitespace() && c != '.')
        });
        if let Some(title) = title {
            let title = self.inline.of(title);
            self.out.block(&title);
            self.out.gap();
            return;
        }
        if let Some((depth, mark, text)) = item(line) {
            let text = self.inline.of(text);
            self.out
                .line(&format!("{}{mark} {text}", "  ".repeat(depth)));
            self.in_paragraph = true;
            return;
        }
        if let Some((depth, term, text)) = described(line) {
            let (term, text) = (self.inline.of(term), self.inline.of(text));
            let line = format!("{}- {term}: {text}", "  ".repeat(depth));
            self.out.line(line.trim_end());
            self.in_paragraph = true;
            return;
        }
        if !self.in_paragraph {
            self.admonish();
            self.attributes.clear();
        }
        let text = self.inline.of(line.strip_suffix(" +").unwrap_or(line));
        self.out.line(&escape_marks(text.trim_start()));
        self.in_paragraph = true;
    }
}

/// `== Title`: level and title.
fn heading(line: &str) -> Option<(usize, &str)> {
    let mark = line.chars().next().filter(|c| matches!(c, '=' | '#'))?;
    let title = line.trim_start_matches(mark);
    let level = line.len() - title.len();
    (level <= 6 && title.starts_with(' ')).then(|| (level, title.trim()))
}

/// The level of a title with a line of about its length below it.
fn underlined(title: &str, below: &str) -> Option<usize> {
    let mark = below.chars().next()?;
    let level = "=-~^+".find(mark)? + 1;
    let (length, wanted) = (below.chars().count(), title.chars().count());
    let fits = length >= 4 && length.abs_diff(wanted) <= 1 && below.chars().all(|c| c == mark);
    let is_title = title.starts_with(char::is_alphanumeric);
    (fits && is_title).then_some(level)
}

/// `:name: value`.
fn attribute_entry(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix(':')?.split_once(':')?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '!');
    let fits = !name.is_empty() && name.chars().all(is_name);
    (fits && (value.is_empty() || value.starts_with(' '))).then(|| (name, value.trim()))
}

/// A list item: depth, mark and text.
fn item(line: &str) -> Option<(usize, &'static str, &str)> {
    let line = line.trim_start();
    let (marks, text) = line.split_once(' ')?;
    let numbered = marks
        .strip_suffix('.')
        .is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()));
    if numbered {
        return Some((0, "1.", text));
    }
    let mark = marks
        .chars()
        .next()
        .filter(|c| matches!(c, '*' | '.' | '-'))?;
    let is_run = marks.chars().all(|c| c == mark) && marks.len() <= 6;
    let fits = is_run && (mark != '-' || marks.len() == 1);
    fits.then(|| {
        (
            marks.len() - 1,
            if mark == '.' { "1." } else { "-" },
            text.trim(),
        )
    })
}

/// `term:: text`.
fn described(line: &str) -> Option<(usize, &str, &str)> {
    let at = line.find("::")?;
    let (term, rest) = line.split_at(at);
    let text = rest.trim_start_matches(':');
    let depth = rest.len() - text.len() - 2;
    let fits = !term.is_empty() && depth <= 2 && (text.is_empty() || text.starts_with(' '));
    fits.then(|| (depth, term.trim(), text.trim()))
}

#[cfg(test)]
mod tests;
