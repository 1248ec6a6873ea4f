//! The model as Markdown, without what only a program follows: no link targets, no anchors, no
//! emphasis that would cut words apart.

mod inline;
mod table;

use std::collections::BTreeMap;

use anydoc::model::{Block, Document, List, MarkerKind, Note};

use super::super::charset;
use super::marks;

/// A block of the document's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::extract) struct Piece {
    /// Its level, for a heading.
    pub(in crate::extract) heading: Option<u8>,
    /// Its Markdown; it ends with a line end.
    pub(in crate::extract) markdown: String,
}

/// Writes blocks, and each note after the block that refers to it first.
pub(in crate::extract) struct Renderer<'a> {
    notes: BTreeMap<&'a str, &'a Note>,
    /// Notes by their numbers, in the order in which they are referred to.
    numbers: BTreeMap<String, usize>,
    /// The notes in that order.
    order: Vec<String>,
    /// How many of those are written.
    written: usize,
    /// Whether hidden text was met.
    pub(in crate::extract) has_hidden: bool,
}

impl<'a> Renderer<'a> {
    /// For the blocks of `document`.
    pub(in crate::extract) fn new(document: &'a Document) -> Self {
        let mut notes = BTreeMap::new();
        for note in &document.notes {
            notes.entry(note.id.as_str()).or_insert(note);
        }
        Self {
            notes,
            numbers: BTreeMap::new(),
            order: Vec::new(),
            written: 0,
            has_hidden: false,
        }
    }

    /// All of `document`.
    pub(in crate::extract) fn document(&mut self, document: &Document) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        for block in &document.blocks {
            pieces.extend(self.pieces(block));
        }
        pieces.extend(self.other_notes());
        pieces
    }

    /// One block, and the notes that it is the first to refer to.
    pub(in crate::extract) fn pieces(&mut self, block: &Block) -> Vec<Piece> {
        let before = self.numbers.len();
        let Some(markdown) = self.block(block) else {
            return Vec::new();
        };
        let heading = match block {
            Block::Heading { level, .. } => Some((*level).clamp(1, 6)),
            _ => None,
        };
        let mut pieces = vec![Piece {
            heading,
            markdown: self.finished(&markdown),
        }];
        if self.numbers.len() > before {
            pieces.extend(self.new_notes());
        }
        pieces
    }

    /// Notes that nothing refers to.
    pub(in crate::extract) fn other_notes(&mut self) -> Vec<Piece> {
        let left: Vec<String> = self
            .notes
            .keys()
            .filter(|id| !self.numbers.contains_key(**id))
            .map(|id| (*id).to_owned())
            .collect();
        for id in left {
            self.number_of(&id);
        }
        self.new_notes()
    }

    /// Without signs and control characters, ending with a line end.
    fn finished(&mut self, markdown: &str) -> String {
        self.has_hidden |= markdown.contains(marks::HIDE);
        let mut out = charset::clean(&marks::shown(markdown));
        out.truncate(out.trim_end().len());
        out.push('\n');
        out
    }

    fn new_notes(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        // A note may refer to another one.
        while let Some(id) = self.order.get(self.written).cloned() {
            self.written += 1;
            let number = self.written;
            let note = self.notes.get(id.as_str()).copied();
            let body = note.map(|note| self.blocks(&note.blocks));
            let Some(body) = body.filter(|body| !body.is_empty()) else {
                continue;
            };
            let markdown = format!("[^{number}]: {}", indented(&body, 4));
            pieces.push(Piece {
                heading: None,
                markdown: self.finished(&markdown),
            });
        }
        pieces
    }

    /// The number of the note `id`; `None` if there is no such note.
    fn number_of(&mut self, id: &str) -> Option<usize> {
        self.notes.get(id)?;
        if let Some(number) = self.numbers.get(id) {
            return Some(*number);
        }
        self.order.push(id.to_owned());
        self.numbers.insert(id.to_owned(), self.order.len());
        Some(self.order.len())
    }

    fn blocks(&mut self, blocks: &[Block]) -> String {
        let parts: Vec<String> = blocks
            .iter()
            .filter_map(|block| self.block(block))
            .collect();
        parts.join("\n\n")
    }

    fn block(&mut self, block: &Block) -> Option<String> {
        let text = match block {
            Block::Heading { level, content, .. } => {
                let level = usize::from((*level).clamp(1, 6));
                let text = self.in_a_line(content);
                if text.is_empty() {
                    return None;
                }
                format!("{} {text}", "#".repeat(level))
            }
            Block::Paragraph(content) => self.paragraph(content),
            Block::List(list) => self.list(list),
            Block::Table(table) => self.table(table),
            Block::BlockQuote(blocks) => quoted(&self.blocks(blocks)),
            Block::CodeBlock { lang, text } => fenced(lang.as_deref(), text),
            Block::Rule => "---".to_owned(),
            Block::Math(tex) if tex.trim().is_empty() => String::new(),
            Block::Math(tex) => format!("$$\n{}\n$$", tex.trim()),
        };
        (!text.trim().is_empty()).then_some(text)
    }

    fn list(&mut self, list: &List) -> String {
        let mut items = Vec::new();
        let mut is_loose = false;
        for (item, number) in list.items.iter().zip(list.start..) {
            let body = self.blocks(&item.blocks);
            if body.is_empty() {
                continue;
            }
            let marker = marker(list.marker, number, item.marker_label.as_deref());
            let has_paragraphs =
                |block: &&Block| matches!(block, Block::Paragraph(_) | Block::Table(_));
            is_loose |= item.blocks.iter().filter(has_paragraphs).count() > 1;
            let body = if is_loose {
                body
            } else {
                body.replace("\n\n", "\n")
            };
            let width = if marker.starts_with('-') {
                2
            } else {
                marker.chars().count()
            };
            items.push(format!("{marker}{}", indented(&body, width)));
        }
        items.join(if is_loose { "\n\n" } else { "\n" })
    }
}

/// What stands before an item, with the space behind it.
fn marker(kind: MarkerKind, number: u64, label: Option<&str>) -> String {
    match (label.map(str::trim).filter(|label| !label.is_empty()), kind) {
        (Some(label), _) => format!("- {label} "),
        (None, MarkerKind::Bullet) => "- ".to_owned(),
        (None, MarkerKind::Decimal) => format!("{number}. "),
        (None, kind) => format!("- {} ", kind.label(number)),
    }
}

/// `body` with all lines but the first moved to the right.
fn indented(body: &str, by: usize) -> String {
    let mut lines = body.lines();
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        out.push('\n');
        if !line.is_empty() {
            out.push_str(&" ".repeat(by));
            out.push_str(line);
        }
    }
    out
}

fn quoted(body: &str) -> String {
    let lines: Vec<String> = body
        .lines()
        .map(|line| format!("> {line}").trim_end().to_owned())
        .collect();
    lines.join("\n")
}

fn fenced(language: Option<&str>, text: &str) -> String {
    let longest = text
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let text = text.trim_end_matches('\n');
    format!("{fence}{}\n{text}\n{fence}", language.unwrap_or_default())
}

#[cfg(test)]
mod tests;
