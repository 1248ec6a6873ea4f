//! From a question to fused passages.

use std::collections::HashMap;
use std::time::Instant;

use shared::contract::{
    ChunkId, ErrorBody, FusionMethod, Hit, Hits, Question, SearchReply, Standing, Timings,
    Understood, Weighing,
};

use crate::candidate::Candidate;
use crate::engines::{Engines, Wanted};
use crate::error::QuestionError;
use crate::explain;
use crate::finish::{Found, Purpose, Ranked, finish};
use crate::fusion::fuse;
use crate::settings::Settings;
use crate::understand::understand;

/// Most bytes of a question.
const MOST_BYTES: usize = 8 * 1024;
/// Most passages in a reply.
const MOST_PASSAGES: u32 = 100;
/// Each engine is asked for four times the passages wanted, and no fewer than this: a passage
/// that both find at rank 15 beats one that only one finds at rank 1.
const LEAST_CANDIDATES: u32 = 20;

/// A question that may be asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    passages: usize,
    weight: f32,
    wanted: Wanted,
}

impl Plan {
    /// Checks `question` and fills in what it leaves to the settings.
    pub(crate) fn of(
        question: &Question,
        understood: &Understood,
        settings: &Settings,
    ) -> Result<Self, QuestionError> {
        let bytes = question.text.len();
        let k = if question.k == 0 {
            settings.passages.max(1)
        } else {
            question.k
        };
        let weight = question.semantic_weight.unwrap_or(settings.semantic_weight);
        if !question.text.contains(char::is_alphanumeric) {
            return Err(QuestionError::Empty);
        }
        if bytes > MOST_BYTES {
            return Err(QuestionError::TooLong {
                bytes,
                most: MOST_BYTES,
            });
        }
        if k > MOST_PASSAGES {
            return Err(QuestionError::TooMany {
                k,
                most: MOST_PASSAGES,
            });
        }
        if !(0.0..=1.0).contains(&weight) {
            return Err(QuestionError::Weight { weight });
        }
        explain::check(question)?;
        Ok(Self {
            passages: k as usize,
            weight,
            wanted: Wanted {
                text: understood.text.clone(),
                k: (4 * k).max(LEAST_CANDIDATES),
                filter: question.filter.clone(),
                phrases: understood.phrases.clone(),
                language: understood.language,
            },
        })
    }
}

/// Asks both engines at once and fuses what they find. When one of them fails the other's results
/// come with a note.
///
/// # Errors
/// [`ErrorBody`] for a question that may not be asked, or when no engine asked has answered.
pub async fn search(
    engines: &dyn Engines,
    question: &Question,
    settings: &Settings,
) -> Result<SearchReply, ErrorBody> {
    let asked = (question, understand(question));
    let found = find(engines, asked, settings, Purpose::Search).await?;
    Ok(found.reply)
}

/// What is found for a question that has been understood.
///
/// # Errors
/// As [`search`].
pub(crate) async fn find(
    engines: &dyn Engines,
    (question, understood): (&Question, Understood),
    settings: &Settings,
    purpose: Purpose,
) -> Result<Found, ErrorBody> {
    let started = Instant::now();
    let plan = Plan::of(question, &understood, settings)?;
    let mut timings = Timings::default();
    let (by_words, by_meaning) = tokio::join!(keyword(engines, &plan), vector(engines, &plan));
    timings.keyword_ms = by_words.took_ms;
    timings.vector_ms = by_meaning.took_ms;
    timings.embed_ms = by_meaning.embed_ms;
    let mut notes = Vec::new();
    let (by_words, by_meaning) = match (by_words.outcome, by_meaning.outcome) {
        (Ok(words), Ok(meaning)) => (words, meaning),
        (Ok(words), Err(error)) if plan.weight < 1.0 => {
            notes.push(format!("found by keywords only: {error}"));
            (words, Hits::default())
        }
        (Err(error), Ok(meaning)) if plan.weight > 0.0 => {
            notes.push(format!("found by meaning only: {error}"));
            (Hits::default(), meaning)
        }
        (Err(error), _) | (_, Err(error)) => return Err(error),
    };
    // Both engines say the same of a filter that permits nothing.
    for note in by_words.notes.iter().chain(&by_meaning.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    let fusing = Instant::now();
    let candidates = fuse_hits(&plan, by_words.hits, by_meaning.hits);
    timings.fuse_ms = millis(fusing);
    let ranked = Ranked {
        candidates,
        k: plan.passages,
        weighing: Weighing {
            method: FusionMethod::Rrf,
            semantic_weight: plan.weight,
            reason: "as asked or set".to_owned(),
        },
        wanted: plan.wanted,
        understood,
        timings,
        notes,
        started,
    };
    Ok(finish(engines, question, ranked, settings, purpose).await)
}

/// What came of asking one engine; an engine without weight is not asked and finds nothing.
struct Asked {
    outcome: Result<Hits, ErrorBody>,
    took_ms: f64,
    embed_ms: f64,
}

async fn keyword(engines: &dyn Engines, plan: &Plan) -> Asked {
    let started = Instant::now();
    let outcome = if plan.weight < 1.0 {
        engines.keyword(&plan.wanted).await
    } else {
        Ok(Hits::default())
    };
    Asked {
        outcome,
        took_ms: millis(started),
        embed_ms: 0.0,
    }
}

async fn vector(engines: &dyn Engines, plan: &Plan) -> Asked {
    if plan.weight <= 0.0 {
        return Asked {
            outcome: Ok(Hits::default()),
            took_ms: 0.0,
            embed_ms: 0.0,
        };
    }
    let started = Instant::now();
    let embedded = engines.embed(&plan.wanted.text).await;
    let embed_ms = millis(started);
    let started = Instant::now();
    let outcome = match embedded {
        Ok(query) => engines.vector(&plan.wanted, query).await,
        Err(error) => Err(error),
    };
    Asked {
        outcome,
        took_ms: millis(started),
        embed_ms,
    }
}

/// The best candidates of both lists.
fn fuse_hits(plan: &Plan, by_words: Vec<Hit>, by_meaning: Vec<Hit>) -> Vec<Candidate> {
    let ids = |hits: &[Hit]| {
        hits.iter()
            .map(|hit| hit.chunk_id.clone())
            .collect::<Vec<ChunkId>>()
    };
    let fused = fuse(&ids(&by_words), &ids(&by_meaning), plan.weight);
    let standings = [&by_words, &by_meaning].map(|hits| standings(hits));
    let [mut keyword, mut vector] = standings;
    let mut hits: HashMap<ChunkId, Hit> = HashMap::new();
    for hit in by_words.into_iter().chain(by_meaning) {
        hits.entry(hit.chunk_id.clone()).or_insert(hit);
    }
    fused
        .into_iter()
        .filter_map(|fused| {
            Some(Candidate {
                keyword: keyword.remove(&fused.chunk_id),
                vector: vector.remove(&fused.chunk_id),
                hit: Hit {
                    score: fused.score,
                    ..hits.remove(&fused.chunk_id)?
                },
                reranked: None,
            })
        })
        .collect()
}

fn standings(hits: &[Hit]) -> HashMap<ChunkId, Standing> {
    let ranked = (1..).zip(hits).map(|(rank, hit)| {
        let standing = Standing {
            rank: Some(rank),
            score: hit.score,
        };
        (hit.chunk_id.clone(), standing)
    });
    ranked.collect()
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}
