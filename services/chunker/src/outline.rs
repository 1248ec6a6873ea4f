//! The blocks of a document and the headings above them.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser};

use crate::document::{Border, Document, Page};
use crate::fence::{Fence, Fences};

/// Longer headings, in bytes, are paragraphs that happen to start with `#`.
const LONGEST_HEADING: usize = 300;
/// A paragraph of more lines with `---` below is no heading but text above a rule.
const HEADING_LINES: usize = 3;
/// Front matter is looked for in this many lines.
const FRONT_MATTER_LINES: usize = 100;

/// What a block is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// A heading of its section.
    Heading,
    /// Running text: falls into sentences.
    Prose,
    /// Code or front matter: falls into lines.
    Rows,
    /// Falls into rows, the first of which stays with the header.
    Table,
}

/// A block. It lies in one page; what is between blocks is white space and rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// Bytes of the document, from its first to one past its last line.
    pub(crate) range: Range<usize>,
    pub(crate) kind: BlockKind,
    /// Index in [`Outline::sections`].
    pub(crate) section: usize,
}

/// A document's blocks, in order.
pub(crate) struct Outline {
    pub(crate) blocks: Vec<Block>,
    /// The heading path of each section, outermost heading first. Section 0 is what comes before
    /// the first heading; every heading and every place begins another.
    pub(crate) sections: Vec<Vec<String>>,
}

impl Outline {
    /// Reads `document` line by line. Blocks end with their page; headings and open code fences
    /// reach over the pages of a place.
    pub(crate) fn of(document: &Document) -> Self {
        let mut reader = Reader {
            document,
            fences: Fences::of(document.text()),
            outline: Self {
                blocks: Vec::new(),
                sections: vec![Vec::new()],
            },
            stack: Vec::new(),
            open: None,
            fence: None,
        };
        for (index, page) in document.pages().iter().enumerate() {
            reader.page(page, index == 0);
        }
        reader.outline
    }
}

/// A block whose end is not known yet.
struct Open {
    start: usize,
    end: usize,
    shape: Shape,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A plain paragraph of so many lines, which an underline turns into a heading.
    Paragraph {
        lines: usize,
    },
    /// A list item or quotation.
    Item,
    Table,
    Code,
}

struct Reader<'a> {
    document: &'a Document,
    fences: Fences,
    outline: Outline,
    stack: Vec<(usize, String)>,
    open: Option<Open>,
    fence: Option<Fence>,
}

impl Reader<'_> {
    fn page(&mut self, page: &Page, first: bool) {
        self.cross(page.border);
        let text = self.document.slice(page.range.clone());
        let mut at = page.range.start;
        let mut matter = if first { front_matter(text) } else { 0 };
        for line in text.split_inclusive('\n') {
            let range = at..at + line.len();
            at = range.end;
            if matter > 0 {
                matter = matter.saturating_sub(line.len());
                self.extend(range, Shape::Code);
                if matter == 0 {
                    self.close();
                }
            } else {
                self.line(line.trim_end(), range);
            }
        }
        self.close();
        let unclosed = |fence: &Fence| !self.fences.closes_after(fence, page.range.end);
        if self.fence.as_ref().is_some_and(unclosed) {
            self.fence = None;
        }
    }

    /// Another place is another section, and its text begins anew.
    fn cross(&mut self, border: Border) {
        if border == Border::None {
            return;
        }
        self.fence = None;
        if border == Border::Fresh {
            self.stack.clear();
        }
        self.section();
    }

    fn line(&mut self, line: &str, range: Range<usize>) {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        if let Some(fence) = &self.fence {
            let closed = Fence::closing(body).is_some_and(|closing| closing.closes(fence));
            self.extend(range, Shape::Code);
            if closed {
                self.fence = None;
                self.close();
            }
        } else if body.is_empty() {
            self.close();
        } else if let Some(fence) = Fence::opening(body) {
            self.close();
            self.fence = Some(fence);
            self.extend(range, Shape::Code);
        } else if let Some((level, title)) = atx_heading(body).filter(|_| indent <= 3) {
            self.close();
            self.heading(level, title, range);
        } else if let Some(level) = underline(body).filter(|_| indent <= 3) {
            self.underlined(level, range);
        } else if is_rule(body) {
            self.close();
        } else if body.starts_with('|') {
            self.extend(range, Shape::Table);
        } else if starts_item(body) {
            self.close();
            self.extend(range, Shape::Item);
        } else {
            self.extend(range, Shape::Paragraph { lines: 1 });
        }
    }

    /// Adds a line to the open block, or begins one of `shape`.
    fn extend(&mut self, range: Range<usize>, shape: Shape) {
        if let Some(open) = &mut self.open {
            let goes_on = match (&mut open.shape, shape) {
                (Shape::Paragraph { lines }, Shape::Paragraph { .. }) => {
                    *lines += 1;
                    true
                }
                (Shape::Item, Shape::Paragraph { .. }) => true,
                (open, shape) => *open == shape,
            };
            if goes_on {
                open.end = range.end;
                return;
            }
        }
        self.close();
        self.open = Some(Open {
            start: range.start,
            end: range.end,
            shape,
        });
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let kind = match open.shape {
            Shape::Paragraph { .. } | Shape::Item => BlockKind::Prose,
            Shape::Table => BlockKind::Table,
            Shape::Code => BlockKind::Rows,
        };
        self.push(open.start..open.end, kind);
    }

    fn push(&mut self, range: Range<usize>, kind: BlockKind) {
        let section = self.outline.sections.len() - 1;
        self.outline.blocks.push(Block {
            range,
            kind,
            section,
        });
    }

    /// A line of `=` or `-`: the paragraph above becomes a heading; without one it is a rule.
    fn underlined(&mut self, level: usize, range: Range<usize>) {
        let Some(open) = self.open.take_if(
            |open| matches!(open.shape, Shape::Paragraph { lines } if lines <= HEADING_LINES),
        ) else {
            return self.close();
        };
        let title = self.document.slice(open.start..open.end);
        self.heading(level, title, open.start..range.end);
    }

    fn heading(&mut self, level: usize, title: &str, range: Range<usize>) {
        if title.len() > LONGEST_HEADING {
            return self.push(range, BlockKind::Prose);
        }
        self.stack.retain(|(above, _)| *above < level);
        let title = plain_title(title);
        if !title.is_empty() {
            self.stack.push((level, title));
        }
        self.section();
        self.push(range, BlockKind::Heading);
    }

    /// Begins a section under the headings there are.
    fn section(&mut self) {
        let path = self.stack.iter().map(|(_, title)| title.clone()).collect();
        self.outline.sections.push(path);
    }
}

/// Level and title of an ATX heading.
fn atx_heading(body: &str) -> Option<(usize, &str)> {
    let rest = body.trim_start_matches('#');
    let level = body.len() - rest.len();
    let spaced = rest.is_empty() || rest.starts_with([' ', '\t']);
    ((1..=6).contains(&level) && spaced).then(|| (level, rest.trim()))
}

/// Level of a setext underline.
fn underline(body: &str) -> Option<usize> {
    let made_of = |mark: u8| body.bytes().all(|b| b == mark);
    if made_of(b'=') {
        Some(1)
    } else if made_of(b'-') {
        Some(2)
    } else {
        None
    }
}

/// Whether `body` is a rule such as `* * *`.
fn is_rule(body: &str) -> bool {
    let mut marks = body.chars().filter(|c| !c.is_whitespace());
    let Some(mark @ ('*' | '-' | '_')) = marks.next() else {
        return false;
    };
    let mut count = 1;
    marks.all(|c| {
        count += 1;
        c == mark
    }) && count >= 3
}

/// Whether `body` starts a list item or a quotation.
fn starts_item(body: &str) -> bool {
    let rest = body.strip_prefix(['-', '*', '+', '>', '•']).or_else(|| {
        let rest = body.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = body.len() - rest.len();
        (1..=9)
            .contains(&digits)
            .then(|| rest.strip_prefix(['.', ')']))
            .flatten()
    });
    rest.is_some_and(|rest| rest.starts_with([' ', '\t']))
}

/// Length of the front matter that `text` begins with, 0 without one.
fn front_matter(text: &str) -> usize {
    let mut length = 0;
    for (number, line) in text
        .split_inclusive('\n')
        .take(FRONT_MATTER_LINES)
        .enumerate()
    {
        length += line.len();
        match (number, line.trim_end()) {
            (0, "---") => {}
            (0, _) => return 0,
            (_, "---" | "...") => return length,
            _ => {}
        }
    }
    0
}

/// A heading's words without Markdown's marks.
fn plain_title(title: &str) -> String {
    let line: Vec<&str> = title.split_whitespace().collect();
    let heading = format!("# {}", line.join(" "));
    let mut plain = String::with_capacity(title.len());
    for event in Parser::new_ext(&heading, Options::ENABLE_HEADING_ATTRIBUTES) {
        match event {
            Event::Text(text) | Event::Code(text) => plain.push_str(&text),
            _ => {}
        }
    }
    plain.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use shared::contract::Locator;

    use super::*;
    use crate::PageText;

    /// Reads `pages` and writes each block as `kind section-path: text`.
    fn outline(pages: &[&str]) -> Vec<String> {
        let pages: Vec<PageText> = (1..)
            .zip(pages)
            .map(|(number, text)| PageText {
                number,
                locator: Locator::PdfPage {
                    physical: number,
                    label: None,
                },
                markdown: (*text).to_owned(),
            })
            .collect();
        let document = Document::join(&pages).unwrap();
        let outline = Outline::of(&document);
        let mut lines = Vec::new();
        for block in &outline.blocks {
            let kind = match block.kind {
                BlockKind::Heading => "H",
                BlockKind::Prose => "P",
                BlockKind::Rows | BlockKind::Table => "R",
            };
            let text = document
                .slice(block.range.clone())
                .trim_end()
                .replace('\n', "/");
            lines.push(format!(
                "{kind} {}: {text}",
                outline.sections[block.section].join(" > ")
            ));
        }
        lines
    }

    #[test]
    fn blocks_and_headings_are_found() {
        fn check(pages: &[&str], expect: &[&str]) {
            assert_eq!(outline(pages), expect, "in {pages:?}");
        }
        check(&[""], &[]);
        check(&["\n \n---\n"], &[]);
        check(
            &["# A\ntext\n## B ##\nmore\n# C\nend"],
            &[
                "H A: # A",
                "P A: text",
                "H A > B: ## B ##",
                "P A > B: more",
                "H C: # C",
                "P C: end",
            ],
        );
        check(
            &["Big\n===\ntext\n\nSmall\n---\nmore\n"],
            &[
                "H Big: Big/===",
                "P Big: text",
                "H Big > Small: Small/---",
                "P Big > Small: more",
            ],
        );
        check(&["text\n\n---\n\nmore\n"], &["P : text", "P : more"]);
        check(&["- item\n---\n"], &["P : - item"]);
        check(
            &["```sh\n# not a heading\n```\n# A\n"],
            &["R : ```sh/# not a heading/```", "H A: # A"],
        );
        check(
            &["~~~\n```\n# no\n~~~\nx"],
            &["R : ~~~/```/# no/~~~", "P : x"],
        );
        check(
            &["````\n```\n# no\n````\nx"],
            &["R : ````/```/# no/````", "P : x"],
        );
        check(&["    # indented code\n"], &["P :     # indented code"]);
        check(
            &["#hashtag\n####### seven\n"],
            &["P : #hashtag/####### seven"],
        );
        check(
            &["# **Bold** [link](http://x.y) `code` {#id}\n"],
            &["H Bold link code: # **Bold** [link](http://x.y) `code` {#id}"],
        );
        check(
            &["## 1. Introduction\n"],
            &["H 1. Introduction: ## 1. Introduction"],
        );
        check(
            &["---\ntitle: x\n---\ntext\n"],
            &["R : ---/title: x/---", "P : text"],
        );
        check(
            &["intro\n| a | b |\n|---|---|\n| 1 | 2 |\nafter"],
            &[
                "P : intro",
                "R : | a | b |/|---|---|/| 1 | 2 |",
                "P : after",
            ],
        );
        check(
            &["- one\n- two\n  more\n1. three"],
            &["P : - one", "P : - two/  more", "P : 1. three"],
        );
        // Levels may jump; a heading without words only ends sections.
        check(
            &["### Deep\n## Up\n#\nx"],
            &["H Deep: ### Deep", "H Up: ## Up", "H : #", "P : x"],
        );
    }

    #[test]
    fn headings_and_closed_fences_reach_over_pages() {
        assert_eq!(
            outline(&["# A\n", "text\n", "## B\n", "more\n"]),
            ["H A: # A", "P A: text", "H A > B: ## B", "P A > B: more",]
        );
        assert_eq!(
            outline(&["```\na\n", "# b\n```\n", "# C\n"]),
            ["R : ```/a", "R : # b/```", "H C: # C",]
        );
        // A fence that never closes ends with its page.
        assert_eq!(outline(&["```\na\n", "# B\n"]), ["R : ```/a", "H B: # B"]);
    }

    #[test]
    fn a_very_long_heading_is_a_paragraph() {
        let long = format!("# {}\n", "word ".repeat(100));
        assert!(outline(&[&long])[0].starts_with("P :"));
    }
}
