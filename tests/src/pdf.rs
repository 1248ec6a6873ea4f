//! A small typesetter: text with `#`, `##`, `-`, `| cells |` and `---` becomes a PDF.
//!
//! It makes the sample files and the generated corpora. The same text gives the same bytes on
//! every machine: no date, no random file id, no compression.

pub mod font;
mod layout;
mod write;

use anyhow::{Result, bail};

use self::layout::Layout;

/// What a PDF is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// The document's title.
    pub title: String,
    /// Its author; may be empty.
    pub author: String,
    /// Printed at the foot of every page before the page number; may be empty.
    pub footer: String,
    /// Pages before page 1, which carry roman numbers.
    pub front: u32,
    /// The text.
    pub body: String,
}

impl Source {
    /// Reads `name: value` lines up to the first empty line, then the body.
    ///
    /// # Errors
    /// An unknown name, or no empty line after the head.
    pub fn parse(text: &str) -> Result<Self> {
        let Some((head, body)) = text.split_once("\n\n") else {
            bail!("the source of a PDF has a head, an empty line and a body");
        };
        let mut source = Self {
            body: body.to_owned(),
            ..Self::default()
        };
        for line in head.lines() {
            match line.split_once(": ") {
                Some(("title", value)) => value.clone_into(&mut source.title),
                Some(("author", value)) => value.clone_into(&mut source.author),
                Some(("footer", value)) => value.clone_into(&mut source.footer),
                Some(("front", value)) => source.front = value.parse()?,
                _ => bail!("`{line}` is not a head line: title, author, footer or front"),
            }
        }
        Ok(source)
    }

    /// The PDF.
    ///
    /// # Errors
    /// A character that the standard fonts lack.
    pub fn typeset(&self) -> Result<Vec<u8>> {
        let mut layout = Layout::new();
        for block in blocks(&self.body) {
            layout.place(&block);
        }
        write::pdf(self, &layout.finish())
    }
}

/// A piece of the body.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Block {
    Heading { level: u8, text: String },
    Paragraph(String),
    Item(String),
    Table(Vec<Vec<String>>),
    PageBreak,
}

/// The blocks of `body`: lines of a paragraph are joined, rows of a table kept together.
fn blocks(body: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for line in body.lines().chain([""]) {
        let line = line.trim_end();
        let block = if line == "---" {
            Some(Block::PageBreak)
        } else if let Some(text) = line.strip_prefix("## ") {
            Some(Block::Heading {
                level: 2,
                text: text.to_owned(),
            })
        } else if let Some(text) = line.strip_prefix("# ") {
            Some(Block::Heading {
                level: 1,
                text: text.to_owned(),
            })
        } else {
            line.strip_prefix("- ")
                .map(|text| Block::Item(text.to_owned()))
        };
        if block.is_none() && !line.is_empty() {
            open.push(line);
            continue;
        }
        if !open.is_empty() {
            blocks.push(close(&open));
            open.clear();
        }
        blocks.extend(block);
    }
    blocks
}

fn close(lines: &[&str]) -> Block {
    if lines.iter().all(|line| line.starts_with('|')) {
        let row = |line: &&str| {
            line.trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect()
        };
        Block::Table(lines.iter().map(row).collect())
    } else {
        Block::Paragraph(lines.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_is_cut_into_blocks() {
        let found = blocks("# A\none\ntwo\n\n- x\n- y\n---\n| a | b |\n| 1 | 2 |");
        let expect = vec![
            Block::Heading {
                level: 1,
                text: "A".into(),
            },
            Block::Paragraph("one two".into()),
            Block::Item("x".into()),
            Block::Item("y".into()),
            Block::PageBreak,
            Block::Table(vec![
                vec!["a".into(), "b".into()],
                vec!["1".into(), "2".into()],
            ]),
        ];
        assert_eq!(found, expect);
    }

    #[test]
    fn a_page_break_and_a_full_page_begin_new_pages() {
        let source = |body: String| Source {
            title: "T".into(),
            body,
            ..Source::default()
        };
        let pages = |source: Source| {
            let bytes = source.typeset().unwrap();
            bytes
                .windows(12)
                .filter(|window| window == b"/Type /Page\n")
                .count()
        };
        assert_eq!(pages(source("one\n---\ntwo".into())), 2);
        // 18 words of 25 points to a line, 46 lines to a page.
        assert_eq!(pages(source("word ".repeat(3000))), 4);
    }

    #[test]
    fn a_character_that_the_font_lacks_is_an_error() {
        let source = Source {
            title: "T".into(),
            body: "snow ☃".into(),
            ..Source::default()
        };
        assert!(source.typeset().unwrap_err().to_string().contains('☃'));
    }
}
