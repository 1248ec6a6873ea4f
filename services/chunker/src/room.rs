//! How the window is shared between heading path, overlap and text.

use std::collections::HashMap;

use crate::ChunkError;
use crate::tokens::Budget;
use crate::unit::Unit;

/// Tokens left for text at least, whatever the headings say.
const LEAST_TEXT: u32 = 64;
const LABEL: &str = "Section: ";
const BETWEEN: &str = " > ";

/// The line put before a chunk's text, and what it leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Room {
    /// Index of the section whose headings stand above the chunk's first text.
    pub(crate) section: usize,
    /// `Section: A > B`, or empty.
    pub(crate) prefix: String,
    /// Tokens for overlap and text.
    pub(crate) left: u32,
    /// Tokens of `left` kept for the overlap.
    pub(crate) overlap: u32,
}

impl Room {
    /// Tokens for text.
    pub(crate) fn text(&self) -> u32 {
        self.left.saturating_sub(self.overlap)
    }
}

/// Shares out the window, chunk by chunk.
pub(crate) struct Rooms<'a> {
    budget: &'a Budget,
    sections: &'a [Vec<String>],
    /// Prefixes made, by section and limit: the chunks of a section mostly share one.
    made: HashMap<(usize, u32), (String, u32)>,
}

impl<'a> Rooms<'a> {
    pub(crate) fn new(budget: &'a Budget, sections: &'a [Vec<String>]) -> Self {
        Self {
            budget,
            sections,
            made: HashMap::new(),
        }
    }

    /// Tokens of overlap at most: an eighth of the window.
    pub(crate) fn overlap(&self) -> u32 {
        self.budget.window / 8
    }

    /// The room of a chunk that begins with `units`. Its heading path is that of its first text.
    /// Headings in the chunk itself and an overlap take nothing from the text's least share.
    pub(crate) fn of<'u>(
        &mut self,
        units: impl IntoIterator<Item = &'u Unit>,
    ) -> Result<Room, ChunkError> {
        let (mut headings, mut begins_section, mut section) = (0, false, 0);
        let mut units = units.into_iter().peekable();
        let repeated = units.peek().and_then(|unit| unit.repeats());
        for unit in units {
            section = unit.section;
            if !unit.heading && !unit.whole {
                break;
            }
            headings += unit.tokens;
            if unit.whole {
                break;
            }
            begins_section = true;
        }
        let overlap = match repeated {
            _ if begins_section => 0,
            Some(header) => header.tokens.max(self.overlap()),
            None => self.overlap(),
        };
        let all = self
            .budget
            .window
            .saturating_sub(self.budget.tokenizer.special());
        let limit = all.saturating_sub(LEAST_TEXT + headings + overlap);
        let (prefix, tokens) = self.prefix(section, limit)?;
        Ok(Room {
            section,
            prefix,
            left: all - tokens,
            overlap,
        })
    }

    /// The section's path within `limit` tokens: outer headings are left out first, then the end
    /// of the innermost.
    fn prefix(&mut self, section: usize, limit: u32) -> Result<(String, u32), ChunkError> {
        if let Some(made) = self.made.get(&(section, limit)) {
            return Ok(made.clone());
        }
        let path = self.sections.get(section).map_or(&[][..], Vec::as_slice);
        let made = self.shorten(path, limit)?;
        self.made.insert((section, limit), made.clone());
        Ok(made)
    }

    fn shorten(&self, path: &[String], limit: u32) -> Result<(String, u32), ChunkError> {
        let counter = &self.budget.tokenizer;
        for from in 0..path.len() {
            let inner = path.get(from..).unwrap_or_default();
            let prefix = format!("{LABEL}{}", inner.join(BETWEEN));
            let tokens = counter.estimate(&prefix)?;
            if tokens <= limit {
                return Ok((prefix, tokens));
            }
        }
        let innermost = path.last().map_or("", String::as_str);
        let mut tokens = counter.estimate(LABEL)?;
        let mut end = 0;
        for atom in counter.atoms(innermost) {
            let atom = atom?;
            if tokens + atom.tokens > limit {
                break;
            }
            tokens += atom.tokens;
            end = atom.range.end;
        }
        let kept = innermost.get(..end).unwrap_or_default().trim_end();
        if kept.is_empty() {
            return Ok((String::new(), 0));
        }
        Ok((format!("{LABEL}{kept}"), tokens))
    }
}
