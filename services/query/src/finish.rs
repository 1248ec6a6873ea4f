//! From ranked candidates to a reply: packing, and the explanation.

use std::time::Instant;

use shared::contract::{Passage, Question, SearchReply, Timings, Understood, Weighing};

use crate::candidate::Candidate;
use crate::engines::{Engines, Wanted};
use crate::explain::{self, Outcome, explain};
use crate::pack::{self, Budget, Packed, Surroundings};
use crate::settings::Settings;

/// What the passages are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To be shown: one passage for each candidate, in their order.
    Search,
    /// To be answered from, in a prompt with room for so many tokens of them: with what stands
    /// around them, neighbours as one passage.
    Answer {
        /// As [`crate::tokens`] estimates them.
        tokens: u32,
    },
}

/// Candidates in their last order, and how they came to it.
pub(crate) struct Ranked {
    /// All of them, best first.
    pub(crate) candidates: Vec<Candidate>,
    /// Passages wanted.
    pub(crate) k: usize,
    /// What the engines were asked.
    pub(crate) wanted: Wanted,
    /// How they were weighed.
    pub(crate) weighing: Weighing,
    /// What the question was taken to mean.
    pub(crate) understood: Understood,
    /// So far.
    pub(crate) timings: Timings,
    /// So far.
    pub(crate) notes: Vec<String>,
    /// When the question came.
    pub(crate) started: Instant,
}

/// A reply, and what an answer needs beyond it.
pub(crate) struct Found {
    /// The reply.
    pub(crate) reply: SearchReply,
    /// Its passages without what stands around them.
    pub(crate) tight: Vec<Passage>,
    /// Passages asked for that the prompt has no room for.
    pub(crate) no_room: u32,
}

/// Packs and explains.
pub(crate) async fn finish(
    engines: &dyn Engines,
    question: &Question,
    mut ranked: Ranked,
    settings: &Settings,
    purpose: Purpose,
) -> Found {
    let packing = Instant::now();
    let packed = match purpose {
        Purpose::Search => pack::take(&ranked.candidates, ranked.k),
        Purpose::Answer { tokens } => {
            let budget = Budget {
                passage: settings.expand_tokens,
                all: tokens,
            };
            read_around(engines, &mut ranked, budget).await
        }
    };
    ranked.timings.pack_ms = millis(packing);
    let explanation = if explain::is_wanted(question) {
        let outcome = Outcome {
            candidates: &ranked.candidates,
            decisions: &packed.decisions,
            weighing: ranked.weighing.clone(),
            wanted: &ranked.wanted,
        };
        let (explanation, notes) = explain(engines, question, outcome).await;
        ranked.notes.extend(notes);
        Some(explanation)
    } else {
        None
    };
    ranked.timings.total_ms = millis(ranked.started);
    Found {
        reply: SearchReply {
            passages: packed.passages,
            timings: ranked.timings,
            notes: ranked.notes,
            understood: ranked.understood,
            weighing: Some(ranked.weighing),
            explanation,
        },
        tight: packed.tight,
        no_room: packed.no_room,
    }
}

/// Packs with what stands around the candidates; without it, and a note, when that cannot be had.
async fn read_around(engines: &dyn Engines, ranked: &mut Ranked, budget: Budget) -> Packed {
    let (candidates, k) = (&ranked.candidates, ranked.k);
    if budget.passage == 0 || candidates.is_empty() {
        return pack::take_within(candidates, k, budget.all);
    }
    let wanted = pack::wanted(candidates, k, &ranked.wanted.filter);
    match engines.neighbours(&wanted).await {
        Ok(list) => {
            let around = Surroundings::of(&wanted, list);
            pack::expand(candidates, k, &around, budget)
        }
        Err(error) => {
            let packed = pack::take_within(candidates, k, budget.all);
            let note = format!("read without the text around the passages: {error}");
            ranked.notes.push(note);
            packed
        }
    }
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}
