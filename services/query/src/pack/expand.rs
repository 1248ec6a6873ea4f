//! Reading around the hits of an answer.

use std::collections::HashMap;

use shared::contract::{ChunkId, Decision, Filter, Hit, NeighbourList, Neighbours, Passage, Span};

use super::passage::passage_of_run;
use super::{Packed, below, passage_of, take_within};
use crate::candidate::Candidate;
use crate::prompt::{cost, tokens};

/// Chunks asked for on either side of a hit.
const REACH: u32 = 3;
/// Hits read around at most: a prompt holds no more.
const MOST: usize = 20;

/// How much text an answer reads, in tokens as [`tokens`] estimates them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    /// Of one passage with what stands around its hit; 0 leaves hits as they are.
    pub(crate) passage: u32,
    /// Of all passages together.
    pub(crate) all: u32,
}

/// What stands around the chunks asked for.
#[derive(Debug, Default)]
pub(crate) struct Surroundings(HashMap<ChunkId, Vec<Hit>>);

impl Surroundings {
    /// The answer to `asked`.
    pub(crate) fn of(asked: &Neighbours, list: NeighbourList) -> Self {
        Self(asked.chunks.iter().cloned().zip(list.runs).collect())
    }
}

/// What to ask about `candidates` of which `k` are to be passages: more than k, because hits that
/// become one passage make room for others.
pub(crate) fn wanted(candidates: &[Candidate], k: usize, filter: &Filter) -> Neighbours {
    let most = k.saturating_mul(2).min(MOST);
    let chunks = candidates.iter().take(most);
    Neighbours {
        chunks: chunks.map(|one| one.hit.chunk_id.clone()).collect(),
        before: REACH,
        after: REACH,
        filter: filter.clone(),
    }
}

/// `k` passages of `candidates` with what stands around them. A hit that stands in a passage, or
/// can be reached from one within its budget, becomes part of it, and the next candidate takes its
/// place; then each passage, best first, gets what follows and precedes it, as far as that is of
/// the same section and on the same pages. The room of `budget` is first for hits, then for what
/// surrounds them.
pub(crate) fn expand(
    candidates: &[Candidate],
    k: usize,
    around: &Surroundings,
    budget: Budget,
) -> Packed {
    if budget.passage == 0 || around.0.is_empty() {
        return take_within(candidates, k, budget.all);
    }
    let mut packing = Packing::new(around, budget);
    for (rank, candidate) in (1..).zip(candidates) {
        packing.place(candidate, rank, k);
    }
    packing.widen();
    packing.packed(candidates)
}

/// A passage that grows.
struct Growing<'a> {
    candidate: &'a Candidate,
    /// In reading order.
    run: Vec<Hit>,
    /// Hits of other candidates among them make it a passage that cannot be read tighter.
    first_hit: usize,
    last_hit: usize,
    tokens: u32,
}

struct Packing<'a> {
    around: &'a Surroundings,
    budget: Budget,
    growing: Vec<Growing<'a>>,
    decisions: Vec<Decision>,
    used: u32,
    no_room: u32,
}

impl<'a> Packing<'a> {
    fn new(around: &'a Surroundings, budget: Budget) -> Self {
        Self {
            around,
            budget,
            growing: Vec::new(),
            decisions: Vec::new(),
            used: 0,
            no_room: 0,
        }
    }

    fn place(&mut self, candidate: &'a Candidate, rank: u32, k: usize) {
        if let Some(of) = &candidate.same_as {
            let of = of.clone();
            self.decisions.push(Decision::Duplicate { of });
            return;
        }
        let decision = match self.join(candidate) {
            Some(position) => Decision::Merged { position },
            None if self.growing.len() + self.no_room as usize >= k => below(rank, k),
            None => self.begin(candidate),
        };
        self.decisions.push(decision);
    }

    fn begin(&mut self, candidate: &'a Candidate) -> Decision {
        let position = u32::try_from(self.growing.len() + 1).unwrap_or(u32::MAX);
        let cost = cost(position as usize, &passage_of(candidate));
        let is_full = self.used.saturating_add(cost) > self.budget.all && position > 1;
        // Once one does not fit, none after it does: a better one is not passed over.
        if self.no_room > 0 || is_full {
            self.no_room += 1;
            return super::no_room(self.budget.all);
        }
        self.used = self.used.saturating_add(cost);
        self.growing.push(Growing {
            candidate,
            run: vec![candidate.hit.clone()],
            first_hit: 0,
            last_hit: 0,
            tokens: tokens(&candidate.hit.text),
        });
        Decision::Packed { position }
    }

    /// Makes the candidate part of a passage that holds it, or from which it can be reached; the
    /// passage's position.
    fn join(&mut self, candidate: &Candidate) -> Option<u32> {
        let id = &candidate.hit.chunk_id;
        for (position, growing) in (1..).zip(&mut self.growing) {
            if growing.run.iter().any(|chunk| chunk.chunk_id == *id) {
                return Some(position);
            }
            let Some(run) = self.around.bridge(growing, &candidate.hit) else {
                continue;
            };
            let total: u32 = run.iter().map(|chunk| tokens(&chunk.text)).sum();
            let more = total.saturating_sub(growing.tokens);
            let fits =
                total <= self.budget.passage && self.used.saturating_add(more) <= self.budget.all;
            if fits {
                self.used += more;
                growing.run = run;
                growing.tokens = total;
                growing.last_hit = growing.run.len() - 1;
                return Some(position);
            }
        }
        None
    }

    /// Gives each passage, best first, what stands around it.
    fn widen(&mut self) {
        for at in 0..self.growing.len() {
            let mut open = [true, true];
            while open.contains(&true) {
                for (after, open) in [true, false].into_iter().zip(&mut open) {
                    *open = *open && self.step(at, after);
                }
            }
        }
    }

    /// Gives passage `at` one chunk more; `false` when there is none, or no room for it.
    fn step(&mut self, at: usize, after: bool) -> bool {
        let around = self.around;
        let next = self
            .growing
            .get(at)
            .and_then(|growing| around.next(growing, after))
            .filter(|next| self.position(&next.chunk_id).is_none());
        let (Some(next), Some(growing)) = (next, self.growing.get_mut(at)) else {
            return false;
        };
        let cost = tokens(&next.text);
        let fits = growing.tokens + cost <= self.budget.passage
            && self.used.saturating_add(cost) <= self.budget.all;
        if fits {
            self.used += cost;
            growing.take(next.clone(), after, cost);
        }
        fits
    }

    /// The passage that holds a chunk, from 1.
    fn position(&self, id: &ChunkId) -> Option<u32> {
        let holds = |growing: &Growing<'_>| growing.run.iter().any(|chunk| chunk.chunk_id == *id);
        let mut numbered = (1..).zip(&self.growing);
        numbered
            .find(|(_, growing)| holds(growing))
            .map(|(position, _)| position)
    }

    fn packed(self, candidates: &[Candidate]) -> Packed {
        // What was below the passages asked for may stand in what surrounds them.
        let settled = candidates.iter().zip(&self.decisions);
        let decisions = settled.map(|(candidate, decision)| {
            let within = self.position(&candidate.hit.chunk_id);
            match (decision, within) {
                (Decision::Dropped { .. }, Some(position)) => Decision::Merged { position },
                (decision, _) => decision.clone(),
            }
        });
        Packed {
            decisions: decisions.collect(),
            passages: self.growing.iter().map(Growing::passage).collect(),
            tight: self.growing.iter().map(Growing::tight).collect(),
            no_room: self.no_room,
        }
    }
}

impl Growing<'_> {
    fn take(&mut self, chunk: Hit, after: bool, cost: u32) {
        if after {
            self.run.push(chunk);
        } else {
            self.run.insert(0, chunk);
            self.first_hit += 1;
            self.last_hit += 1;
        }
        self.tokens += cost;
    }

    fn passage(&self) -> Passage {
        passage_of_run(self.candidate, &self.run)
    }

    fn tight(&self) -> Passage {
        let hits = self.run.get(self.first_hit..=self.last_hit);
        passage_of_run(self.candidate, hits.unwrap_or_default())
    }
}

impl Surroundings {
    /// The chunk that stands right after or before the passage, if it may be read with it.
    fn next(&self, growing: &Growing<'_>, after: bool) -> Option<&Hit> {
        let edge = if after {
            growing.run.last()
        } else {
            growing.run.first()
        }?;
        let index = &edge.chunk_id.index;
        let index = if after {
            index.checked_add(1)
        } else {
            index.checked_sub(1)
        }?;
        let wanted = ChunkId {
            index,
            ..edge.chunk_id.clone()
        };
        let touches = |next: &Hit| {
            if after {
                follows(edge, next)
            } else {
                follows(next, edge)
            }
        };
        self.find(&wanted)
            .filter(|next| belongs(next, &growing.candidate.hit) && touches(next))
    }

    fn find(&self, id: &ChunkId) -> Option<&Hit> {
        self.0
            .values()
            .flatten()
            .find(|chunk| chunk.chunk_id == *id)
    }

    /// The chunks of the passage, of `hit`, and all between, when all are known and belong
    /// together.
    fn bridge(&self, growing: &Growing<'_>, hit: &Hit) -> Option<Vec<Hit>> {
        let (first, last) = (growing.run.first()?, growing.run.last()?);
        let same = first.chunk_id.file_hash == hit.chunk_id.file_hash;
        if !same || !belongs(hit, &growing.candidate.hit) {
            return None;
        }
        let at = hit.chunk_id.index;
        let (from, to) = (first.chunk_id.index.min(at), last.chunk_id.index.max(at));
        if to - from > 2 * REACH + 1 {
            return None;
        }
        let chunk = |index: u32| {
            let mut known = growing.run.iter().chain([hit]);
            let held = known.find(|chunk| chunk.chunk_id.index == index).cloned();
            held.or_else(|| {
                let id = ChunkId {
                    index,
                    ..first.chunk_id.clone()
                };
                let found = self.find(&id);
                found
                    .filter(|chunk| belongs(chunk, &growing.candidate.hit))
                    .cloned()
            })
        };
        let run: Vec<Hit> = (from..=to).map(chunk).collect::<Option<_>>()?;
        let is_whole = run.is_sorted_by(follows);
        is_whole.then_some(run)
    }
}

/// Whether `next` begins where `chunk` ends, or on a page after it. Only then is the text of both,
/// one after the other, the text of their spans, on which citations and highlights rest.
fn follows(chunk: &Hit, next: &Hit) -> bool {
    let (Some(end), Some(start)) = (chunk.spans.last(), next.spans.first()) else {
        return false;
    };
    start.page > end.page || (start.page == end.page && start.start == end.end)
}

/// Whether `chunk` may be read with `hit`: of the same section, on no other page, and of the same
/// place within its document. A citation then says of the passage what it said of the hit.
fn belongs(chunk: &Hit, hit: &Hit) -> bool {
    let pages = |hit: &Hit| Span::pages_with_words(&hit.spans, &hit.text);
    let ours = pages(hit);
    chunk.heading_path == hit.heading_path && pages(chunk).iter().all(|page| ours.contains(page))
}

#[cfg(test)]
mod tests;
