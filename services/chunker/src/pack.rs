//! Packing units into chunks of near equal size.

use std::collections::VecDeque;
use std::ops::Range;

use crate::ChunkError;
use crate::document::Document;
use crate::room::{Room, Rooms};
use crate::tokens::TokenCounter;
use crate::unit::{MOST_BYTES, Unit};

/// The units of a chunk to be: never empty, and one after the other in the document.
pub(crate) type Draft = Vec<Unit>;

/// Bytes of the document that `units` cover.
pub(crate) fn range(units: &[Unit]) -> Range<usize> {
    match (units.first(), units.last()) {
        (Some(first), Some(last)) => first.range.start..last.range.end,
        _ => 0..0,
    }
}

/// Packs all units of a document. Chunks end where a section or a page does, except that small
/// ones of one place are put together.
pub(crate) fn pack(
    document: &Document,
    counter: &TokenCounter,
    rooms: &mut Rooms<'_>,
    units: Vec<Unit>,
) -> Result<Vec<Draft>, ChunkError> {
    let mut drafts = Vec::new();
    let mut segment = Segment::default();
    for unit in units {
        if segment.ends_before(&unit) {
            segment.pack(document, counter, rooms, &mut drafts)?;
        }
        segment.push(unit);
    }
    segment.pack(document, counter, rooms, &mut drafts)?;
    let joined = join_small(rooms, drafts, Towards::Next)?;
    join_small(rooms, joined, Towards::Before)
}

/// Units without a page border or the start of a section between them, except among the
/// headings it begins with: those wait for text.
#[derive(Default)]
struct Segment {
    units: VecDeque<Unit>,
    tokens: u32,
}

impl Segment {
    fn push(&mut self, unit: Unit) {
        self.tokens = self.tokens.saturating_add(unit.tokens);
        self.units.push_back(unit);
    }

    fn ends_before(&self, unit: &Unit) -> bool {
        self.units.back().is_some_and(|last| {
            let text_ends = !last.heading && (unit.heading || unit.page != last.page);
            text_ends || unit.place != last.place
        })
    }

    /// Moves all units into drafts.
    fn pack(
        &mut self,
        document: &Document,
        counter: &TokenCounter,
        rooms: &mut Rooms<'_>,
        drafts: &mut Vec<Draft>,
    ) -> Result<(), ChunkError> {
        let mut begun = false;
        while !self.units.is_empty() {
            let room = rooms.of(&self.units)?;
            // Text that fits as a whole is not cut to make room for an overlap.
            let limit = if begun { room.text() } else { room.left };
            begun = true;
            let take = if self.fits(limit) {
                self.units.len()
            } else {
                self.cut(document, counter, &room, rooms.overlap())?
            };
            let draft: Draft = self.units.drain(..take.max(1)).collect();
            let taken: u32 = draft.iter().map(|unit| unit.tokens).sum();
            self.tokens = self.tokens.saturating_sub(taken);
            drafts.push(draft);
        }
        self.tokens = 0;
        Ok(())
    }

    fn fits(&self, limit: u32) -> bool {
        let bytes = match (self.units.front(), self.units.back()) {
            (Some(first), Some(last)) => last.range.end - first.range.start,
            _ => 0,
        };
        self.tokens <= limit && bytes <= MOST_BYTES
    }

    /// How many units the next chunk takes, when not all fit. The rest is shared evenly over as
    /// few chunks as can hold it; among the cuts near that size one between blocks is preferred,
    /// and a unit is split only when no cut leaves a chunk of a fair size.
    fn cut(
        &mut self,
        document: &Document,
        counter: &TokenCounter,
        room: &Room,
        overlap: u32,
    ) -> Result<usize, ChunkError> {
        let full = room.text();
        let later = room.left.saturating_sub(overlap).max(1);
        let more = self.tokens.saturating_sub(full).div_ceil(later).max(1);
        let target = self.tokens / (more + 1);
        let first_byte = self.units.front().map_or(0, |unit| unit.range.start);
        let (mut sum, mut fitting, mut has_text) = (0, 0, false);
        let mut best: Option<(u32, usize)> = None;
        for (index, unit) in self.units.iter().enumerate() {
            if sum + unit.tokens > full || unit.range.end - first_byte > MOST_BYTES {
                break;
            }
            sum += unit.tokens;
            fitting = index + 1;
            has_text |= !unit.heading;
            let Some(next) = self.units.get(fitting) else {
                break;
            };
            if !has_text || sum < full / 4 {
                continue;
            }
            let within = if next.opens_block { 0 } else { target / 4 };
            let spills = if self.tokens - sum > more * later {
                room.left
            } else {
                0
            };
            let cost = sum.abs_diff(target) + within + spills;
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, fitting));
            }
        }
        if let Some((_, take)) = best {
            return Ok(take);
        }
        let Some(unit) = self.units.get_mut(fitting) else {
            return Ok(fitting);
        };
        // A header is not cut in two while it fits into a chunk.
        let opens_table = unit.opens_table();
        let least = if opens_table { full } else { sum + full / 8 };
        let wanted = target.max(least).min(full) - sum;
        let stays_whole = unit.whole || opens_table || (!unit.over(later) && sum >= full / 8);
        if has_text && stays_whole {
            return Ok(fitting);
        }
        if let Some(rest) = unit.split_off(document, counter, wanted)? {
            self.units.insert(fitting + 1, rest);
        }
        Ok(fitting + 1)
    }
}

/// Where a small draft looks for a neighbour.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Towards {
    Next,
    Before,
}

/// Puts drafts of less than an eighth of the window together with a neighbour, when both fit.
fn join_small(
    rooms: &mut Rooms<'_>,
    drafts: Vec<Draft>,
    towards: Towards,
) -> Result<Vec<Draft>, ChunkError> {
    let small = rooms.overlap();
    let tokens = |draft: &Draft| draft.iter().map(|unit| unit.tokens).sum::<u32>();
    let mut joined: Vec<Draft> = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let Some(last) = joined.last_mut() else {
            joined.push(draft);
            continue;
        };
        let candidate = if towards == Towards::Next {
            &*last
        } else {
            &draft
        };
        let both = tokens(last) + tokens(&draft);
        let bytes = range(last).len() + range(&draft).len();
        let same_place = match (last.last(), draft.first()) {
            (Some(last), Some(first)) => last.place == first.place,
            _ => true,
        };
        let joins = same_place
            && tokens(candidate) < small
            && bytes <= MOST_BYTES
            && both <= rooms.of(last.iter().chain(&draft))?.text();
        if joins {
            last.extend(draft);
        } else {
            joined.push(draft);
        }
    }
    Ok(joined)
}
