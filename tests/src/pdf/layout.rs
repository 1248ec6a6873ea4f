//! Where every line stands: A4, one column, a new page when the column is full.

use super::Block;
use super::font::Face;

/// Points of an A4 page.
pub(super) const PAGE: (f32, f32) = (595.0, 842.0);
pub(super) const MARGIN: f32 = 68.0;
const TOP: f32 = 780.0;
const BOTTOM: f32 = 80.0;
const BODY_SIZE: f32 = 10.5;
const BODY_LEADING: f32 = 15.0;

/// A line of text in its place, in points from the lower left corner.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) size: f32,
    pub(super) face: Face,
    pub(super) text: String,
}

#[derive(Debug)]
pub(super) struct Layout {
    pages: Vec<Vec<Line>>,
    current: Vec<Line>,
    y: f32,
}

impl Layout {
    pub(super) fn new() -> Self {
        Self {
            pages: Vec::new(),
            current: Vec::new(),
            y: TOP,
        }
    }

    pub(super) fn place(&mut self, block: &Block) {
        match block {
            Block::PageBreak => self.turn_page(),
            Block::Heading { level: 1, text } => {
                self.wrapped(
                    text,
                    Style {
                        size: 19.0,
                        leading: 25.0,
                        ..Style::HEADING
                    },
                );
            }
            Block::Heading { text, .. } => {
                self.wrapped(
                    text,
                    Style {
                        size: 13.0,
                        leading: 18.0,
                        ..Style::HEADING
                    },
                );
            }
            Block::Paragraph(text) => self.wrapped(text, Style::BODY),
            Block::Item(text) => {
                let style = Style {
                    indent: 14.0,
                    below: 2.0,
                    ..Style::BODY
                };
                self.wrapped(&format!("• {text}"), style);
            }
            Block::Table(rows) => self.table(rows),
        }
    }

    pub(super) fn finish(mut self) -> Vec<Vec<Line>> {
        if !self.current.is_empty() || self.pages.is_empty() {
            self.turn_page();
        }
        self.pages
    }

    fn turn_page(&mut self) {
        self.pages.push(std::mem::take(&mut self.current));
        self.y = TOP;
    }

    /// Moves down by `leading`, to a new page when the column is full.
    fn advance(&mut self, leading: f32) {
        if self.y - leading < BOTTOM {
            self.turn_page();
        }
        self.y -= leading;
    }

    fn wrapped(&mut self, text: &str, style: Style) {
        if !self.current.is_empty() {
            self.y -= style.above;
        }
        let room = PAGE.0 - 2.0 * MARGIN - style.indent;
        for text in wrap(text, style.face, style.size, room) {
            self.advance(style.leading);
            let (x, y) = (MARGIN + style.indent, self.y);
            self.current.push(Line {
                x,
                y,
                size: style.size,
                face: style.face,
                text,
            });
        }
        self.y -= style.below;
    }

    /// Columns share the room in proportion to their longest cell; the first row is bold.
    fn table(&mut self, rows: &[Vec<String>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let longest = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells
                .map(|cell| Face::Bold.width(cell, BODY_SIZE))
                .fold(24.0, f32::max)
        };
        let widths: Vec<f32> = (0..columns).map(longest).collect();
        let gap = 18.0;
        let room = PAGE.0 - 2.0 * MARGIN - gap * columns.saturating_sub(1) as f32;
        let scale = (room / widths.iter().sum::<f32>()).min(1.0);
        for (number, row) in rows.iter().enumerate() {
            let face = if number == 0 {
                Face::Bold
            } else {
                Face::Regular
            };
            self.advance(BODY_LEADING + 3.0);
            let mut x = MARGIN;
            for (cell, width) in row.iter().zip(&widths) {
                let (y, size, text) = (self.y, BODY_SIZE * scale.max(0.8), cell.clone());
                self.current.push(Line {
                    x,
                    y,
                    size,
                    face,
                    text,
                });
                x += width * scale + gap;
            }
        }
        self.y -= Style::BODY.below;
    }
}

#[derive(Debug, Clone, Copy)]
struct Style {
    face: Face,
    size: f32,
    leading: f32,
    indent: f32,
    above: f32,
    below: f32,
}

impl Style {
    const HEADING: Self = Self {
        face: Face::Bold,
        size: 13.0,
        leading: 18.0,
        indent: 0.0,
        above: 8.0,
        below: 5.0,
    };
    const BODY: Self = Self {
        face: Face::Regular,
        size: BODY_SIZE,
        leading: BODY_LEADING,
        indent: 0.0,
        above: 0.0,
        below: 7.0,
    };
}

/// `text` in lines no wider than `room` points, broken at spaces.
fn wrap(text: &str, face: Face, size: f32, room: f32) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = if line.is_empty() {
            word.to_owned()
        } else {
            format!("{line} {word}")
        };
        if !line.is_empty() && face.width(&longer, size) > room {
            lines.push(std::mem::replace(&mut line, word.to_owned()));
        } else {
            line = longer;
        }
    }
    lines.extend((!line.is_empty()).then_some(line));
    lines
}
