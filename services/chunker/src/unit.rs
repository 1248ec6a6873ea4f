//! Units: headings, sentences and lines, the pieces that chunks are packed from.

use std::ops::Range;

use crate::ChunkError;
use crate::document::Document;
use crate::outline::{Block, BlockKind, Outline};
use crate::sentence::sentences;
use crate::table::{Header, header_length};
use crate::tokens::{Budget, TokenCounter};

/// Most bytes in a chunk. Only text that tokenizers skip gets there, such as long runs of white
/// space; the limit keeps every chunk well inside one message of the bus.
pub(crate) const MOST_BYTES: usize = 32 * 1024;

/// A piece of the document that is kept whole when it fits. All units, in order, cover the whole
/// document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Bytes of the document.
    pub(crate) range: Range<usize>,
    /// Estimated tokens.
    pub(crate) tokens: u32,
    /// Whether it is a heading, to be kept with the text below.
    pub(crate) heading: bool,
    /// Whether it ends with the last headings of the document, not to be parted from the words
    /// before them.
    pub(crate) whole: bool,
    /// Whether a block starts here, the better place to cut.
    pub(crate) opens_block: bool,
    /// Index in [`Outline::sections`].
    pub(crate) section: usize,
    /// Index of the page it begins on.
    pub(crate) page: usize,
    /// The place of that page.
    pub(crate) place: usize,
    /// The header of the table it is of; the unit that has it begins the table.
    pub(crate) header: Option<Header>,
}

/// Cuts `document` into units; none when it has no text.
pub(crate) fn units(
    document: &Document,
    outline: &Outline,
    budget: &Budget,
) -> Result<Vec<Unit>, ChunkError> {
    let mut units = starts(document, outline);
    cover(document, &mut units);
    join_sentences(document, outline, &mut units);
    for unit in &mut units {
        unit.tokens = budget
            .tokenizer
            .estimate(document.slice(unit.range.clone()))?;
    }
    measure_headers(document, budget, &mut units)?;
    let mut settled = Vec::with_capacity(units.len());
    for mut place in parted(units) {
        demote_lists_of_headings(&mut place, budget.window / 4);
        attach_last_headings(document, budget, &mut place)?;
        settled.append(&mut place);
    }
    Ok(settled)
}

/// `units` place by place.
fn parted(units: Vec<Unit>) -> Vec<Vec<Unit>> {
    let mut places: Vec<Vec<Unit>> = Vec::new();
    for unit in units {
        match places.last_mut() {
            Some(place) if place.last().is_some_and(|last| last.place == unit.place) => {
                place.push(unit);
            }
            _ => places.push(vec![unit]),
        }
    }
    places
}

/// Counts the headers of tables, and drops those over [`Budget::most_header`]: repeated, they
/// would leave no room for rows.
fn measure_headers(
    document: &Document,
    budget: &Budget,
    units: &mut [Unit],
) -> Result<(), ChunkError> {
    let mut measured: Option<Header> = None;
    for unit in units {
        let Some(header) = &mut unit.header else {
            continue;
        };
        if measured.is_none_or(|before| before.start != header.start) {
            header.tokens = budget.tokenizer.estimate(document.slice(header.range()))?;
            measured = Some(*header);
        }
        unit.header = measured.filter(|header| header.tokens <= budget.most_header());
    }
    Ok(())
}

/// One unit per heading, sentence and line.
fn starts(document: &Document, outline: &Outline) -> Vec<Unit> {
    let mut units = Vec::new();
    for block in &outline.blocks {
        let text = document.slice(block.range.clone());
        let pieces = match block.kind {
            BlockKind::Heading => std::iter::once(0..text.len()).collect(),
            BlockKind::Prose => sentences(text),
            BlockKind::Rows => lines(text),
            BlockKind::Table => rows(text),
        };
        let page = document.page_at(block.range.start);
        let place = document.pages().get(page).map_or(0, |page| page.place);
        let header = header_of(block, text);
        units.extend(pieces.into_iter().map(|piece| Unit {
            range: block.range.start + piece.start..block.range.start + piece.end,
            tokens: 0,
            heading: block.kind == BlockKind::Heading,
            whole: false,
            opens_block: piece.start == 0,
            section: block.section,
            page,
            place,
            header,
        }));
    }
    units
}

fn header_of(block: &Block, text: &str) -> Option<Header> {
    let length = header_length(text).filter(|_| block.kind == BlockKind::Table)?;
    Some(Header {
        start: block.range.start,
        end: block.range.start + length,
        tokens: 0,
    })
}

/// Ranges of a table's rows; the first goes with the header.
fn rows(text: &str) -> Vec<Range<usize>> {
    let mut rows = lines(text);
    if header_length(text).is_some() {
        let of_first = rows.len().min(3);
        let end = rows
            .drain(..of_first)
            .next_back()
            .map_or(0, |last| last.end);
        rows.insert(0, 0..end);
    }
    rows
}

/// Ranges of the lines that have text, each with the blank lines after it.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        match found.last_mut() {
            Some(last) if line.trim().is_empty() => last.end = range.end,
            _ => found.push(range),
        }
    }
    found
}

/// Spreads what lies between units over them: to the unit before, but the head of a page to the
/// first unit of the page. Pages without text go to the unit before them, or else to the first.
fn cover(document: &Document, units: &mut [Unit]) {
    let mut end = document.text().len();
    for unit in units.iter_mut().rev() {
        unit.range.end = end;
        end = unit.range.start;
    }
    for index in 1..units.len() {
        if let Ok([before, unit]) = units.get_disjoint_mut([index - 1, index])
            && before.page != unit.page
            && let Some(page) = document.pages().get(unit.page)
        {
            unit.range.start = page.range.start;
            before.range.end = page.range.start;
        }
    }
    if let Some(first) = units.first_mut() {
        first.range.start = 0;
    }
}

/// Makes one unit of a sentence that goes on after a page border.
fn join_sentences(document: &Document, outline: &Outline, units: &mut Vec<Unit>) {
    let prose = prose_starts(outline);
    let is_prose = |unit: &Unit| {
        let next = prose.partition_point(|block| block.range.end <= unit.range.start);
        prose
            .get(next)
            .is_some_and(|block| block.range.start < unit.range.end)
    };
    let mut joined: Vec<Unit> = Vec::with_capacity(units.len());
    for unit in units.drain(..) {
        match joined.last_mut() {
            Some(before)
                if before.page != unit.page
                    && before.place == unit.place
                    && before.section == unit.section
                    && is_prose(before)
                    && is_prose(&unit)
                    && goes_on(
                        document.slice(before.range.clone()),
                        document.slice(unit.range.clone()),
                    ) =>
            {
                before.range.end = unit.range.end;
            }
            _ => joined.push(unit),
        }
    }
    *units = joined;
}

fn prose_starts(outline: &Outline) -> Vec<&Block> {
    outline
        .blocks
        .iter()
        .filter(|block| block.kind == BlockKind::Prose)
        .collect()
}

/// Whether `after`, on the next page, continues the sentence `before`.
fn goes_on(before: &str, after: &str) -> bool {
    let spaced = before.ends_with(char::is_whitespace) || after.starts_with(char::is_whitespace);
    let open = before
        .trim_end()
        .ends_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | ';' | '-' | '–' | '—'));
    spaced && open && after.trim_start().starts_with(char::is_lowercase)
}

/// A run of headings with no text between that takes over `limit` tokens is a table of contents:
/// text, as far as packing goes.
fn demote_lists_of_headings(units: &mut [Unit], limit: u32) {
    for run in units.chunk_by_mut(|a, b| a.heading == b.heading) {
        if run.iter().map(|unit| unit.tokens).sum::<u32>() > limit {
            for unit in run {
                unit.heading = false;
            }
        }
    }
}

/// Headings that nothing follows become one unit with the last words before them. In a document
/// of nothing but headings they are its text.
fn attach_last_headings(
    document: &Document,
    budget: &Budget,
    units: &mut Vec<Unit>,
) -> Result<(), ChunkError> {
    let Some(last) = units.iter().rposition(|unit| !unit.heading) else {
        for unit in units {
            unit.heading = false;
        }
        return Ok(());
    };
    let headings = units.split_off(last + 1);
    let Some(end) = headings.last() else {
        return Ok(());
    };
    let Some(mut text) = units.pop() else {
        return Ok(());
    };
    let few = budget.window / 8;
    while text.tokens > few {
        let head = text.tokens - few;
        let Some(rest) = text.split_off(document, &budget.tokenizer, head)? else {
            break;
        };
        units.push(std::mem::replace(&mut text, rest));
    }
    text.range.end = end.range.end;
    text.tokens += headings.iter().map(|heading| heading.tokens).sum::<u32>();
    text.whole = true;
    units.push(text);
    Ok(())
}

impl Unit {
    /// Cuts off a head of at most `tokens` tokens and [`MOST_BYTES`] bytes, best at a line's end.
    /// Gives back the rest; `None` when all of it is the head. The head has at least one word,
    /// whatever its size.
    pub(crate) fn split_off(
        &mut self,
        document: &Document,
        counter: &TokenCounter,
        tokens: u32,
    ) -> Result<Option<Self>, ChunkError> {
        let text = document.slice(self.range.clone());
        let (mut sum, mut cut) = (0, 0);
        let mut line_end = None;
        for atom in counter.atoms(text) {
            let atom = atom?;
            if cut > 0 && (sum + atom.tokens > tokens || atom.range.end > MOST_BYTES) {
                break;
            }
            sum += atom.tokens;
            cut = atom.range.end;
            if text.get(atom.range).is_some_and(|word| word.contains('\n')) && sum * 4 >= tokens * 3
            {
                line_end = Some((cut, sum));
            }
        }
        if cut == text.len() {
            return Ok(None);
        }
        let (cut, sum) = line_end.unwrap_or((cut, sum));
        let middle = self.range.start + cut;
        let rest = Self {
            range: middle..self.range.end,
            tokens: self.tokens.saturating_sub(sum),
            heading: self.heading,
            whole: self.whole,
            opens_block: false,
            section: self.section,
            page: document.page_at(middle),
            place: self.place,
            header: self.header,
        };
        self.range.end = middle;
        self.tokens = sum;
        Ok(Some(rest))
    }

    /// The header to repeat before it: that of the table it goes on with.
    pub(crate) fn repeats(&self) -> Option<Header> {
        self.header.filter(|header| header.end <= self.range.start)
    }

    /// Whether it has the header of its table.
    pub(crate) fn opens_table(&self) -> bool {
        self.header.is_some() && self.repeats().is_none()
    }

    /// Whether the packer may not put it into one chunk with a budget of `tokens`.
    pub(crate) fn over(&self, tokens: u32) -> bool {
        self.tokens > tokens || self.range.len() > MOST_BYTES
    }
}
