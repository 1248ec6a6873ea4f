//! Helvetica and Helvetica-Bold: advance widths and the `WinAnsiEncoding` of text.
//!
//! Widths in 1/1000 of the font size, from Adobe's metrics of the 14 standard fonts.

/// A face of the two that the generator sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// Helvetica.
    Regular,
    /// Helvetica-Bold.
    Bold,
}

/// First code of [`Face::widths`].
pub const FIRST: u8 = 32;
/// Last code of [`Face::widths`].
pub const LAST: u8 = 255;

const REGULAR: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

const BOLD: [u16; 95] = [
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667,
    611, 778, 722, 278, 556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556,
    278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
];

impl Face {
    /// The standard font's name.
    pub fn base_font(self) -> &'static [u8] {
        match self {
            Self::Regular => b"Helvetica",
            Self::Bold => b"Helvetica-Bold",
        }
    }

    /// The name under which pages refer to it.
    pub fn resource(self) -> &'static [u8] {
        match self {
            Self::Regular => b"F1",
            Self::Bold => b"F2",
        }
    }

    /// Widths of the codes [`FIRST`] to [`LAST`].
    pub fn widths(self) -> impl Iterator<Item = u16> {
        (FIRST..=LAST).map(move |code| self.advance(code))
    }

    /// Width of a code. Accented letters count as a digit, which is near enough.
    fn advance(self, code: u8) -> u16 {
        let table = match self {
            Self::Regular => &REGULAR,
            Self::Bold => &BOLD,
        };
        let ascii = code
            .checked_sub(FIRST)
            .and_then(|index| table.get(usize::from(index)));
        match (ascii, code, self) {
            (Some(width), ..) => *width,
            (None, 0x85 | 0x97, _) => 1000,
            (None, 0x91 | 0x92, Self::Regular) => 222,
            (None, 0x91 | 0x92, Self::Bold) => 278,
            (None, 0x93 | 0x94, Self::Regular) => 333,
            (None, 0x93 | 0x94, Self::Bold) => 500,
            (None, 0x95, _) => 350,
            (None, ..) => 556,
        }
    }

    /// Width of `text` at `size` points; a character that the font lacks counts as a digit.
    pub fn width(self, text: &str, size: f32) -> f32 {
        let codes = text
            .chars()
            .map(|character| code_of(character).unwrap_or(b'0'));
        let thousandths: u32 = codes.map(|code| u32::from(self.advance(code))).sum();
        thousandths as f32 * size / 1000.0
    }
}

/// `text` in `WinAnsiEncoding`; `None` when a character is not in it.
pub fn win_ansi(text: &str) -> Option<Vec<u8>> {
    text.chars().map(code_of).collect()
}

fn code_of(character: char) -> Option<u8> {
    match character {
        '\u{20}'..='\u{7e}' | '\u{a0}'..='\u{ff}' => u8::try_from(character).ok(),
        '€' => Some(0x80),
        '…' => Some(0x85),
        '‘' => Some(0x91),
        '’' => Some(0x92),
        '“' => Some(0x93),
        '”' => Some(0x94),
        '•' => Some(0x95),
        '–' => Some(0x96),
        '—' => Some(0x97),
        _ => None,
    }
}
