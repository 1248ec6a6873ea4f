//! From a question to fused passages.

use std::collections::HashMap;
use std::time::Instant;

use shared::contract::{
    ChunkId, ErrorBody, FusionMethod, Hit, Hits, ModelSight, Question, SearchReply, Standing,
    Timings, Understood, Weighing,
};
use tracing::{debug, warn};

use crate::arrange::{diversify, mark_duplicates};
use crate::candidate::Candidate;
use crate::engines::{Engines, Wanted};
use crate::error::QuestionError;
use crate::explain;
use crate::finish::{Found, Purpose, Ranked, finish};
use crate::fusion::{List, fuse};
use crate::rerank::rerank;
use crate::settings::Settings;
use crate::understand::understand;
use crate::weigh::{Sights, weigh};

/// Most bytes of a question.
const MOST_BYTES: usize = 8 * 1024;
/// Most passages in a reply.
const MOST_PASSAGES: u32 = 100;
/// Hits that each engine is asked for: a passage that both find at rank 15 beats one that only one
/// finds at rank 1, and the average of scores wants to know how far down a list goes.
const CANDIDATES: u32 = 100;

/// A question that may be asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    passages: usize,
    method: FusionMethod,
    /// As asked or set; it follows what the engines can see otherwise.
    weight: Option<f32>,
    diversity: f32,
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
        let weight = question.semantic_weight.or(settings.semantic_share());
        let diversity = question.diversity.unwrap_or(settings.diversity);
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
        if let Some(weight) = weight.filter(|weight| !(0.0..=1.0).contains(weight)) {
            return Err(QuestionError::Weight { weight });
        }
        if !(0.0..=1.0).contains(&diversity) {
            return Err(QuestionError::Diversity { diversity });
        }
        explain::check(question)?;
        Ok(Self {
            passages: k as usize,
            method: question.fusion.unwrap_or(settings.fusion),
            weight,
            diversity,
            wanted: Wanted {
                text: understood.text.clone(),
                k: CANDIDATES,
                filter: question.filter.clone(),
                phrases: understood.phrases.clone(),
                language: understood.language,
            },
        })
    }

    fn asks_keyword(&self) -> bool {
        self.weight.is_none_or(|weight| weight < 1.0)
    }

    fn asks_vector(&self) -> bool {
        self.weight.is_none_or(|weight| weight > 0.0)
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
    let sight = by_meaning.sight;
    let mut notes = Vec::new();
    let (by_words, by_meaning) = match (by_words.outcome, by_meaning.outcome) {
        (Ok(words), Ok(meaning)) => (words, meaning),
        (Ok(words), Err(error)) if plan.asks_keyword() => {
            notes.push(format!("found by keywords only: {error}"));
            (words, Hits::default())
        }
        (Err(error), Ok(meaning)) if plan.asks_vector() => {
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
    let weighing = weighing(&plan, &understood, (&by_words, &by_meaning, sight));
    let mut candidates = fuse_hits(&weighing, by_words.hits, by_meaning.hits);
    timings.fuse_ms = millis(fusing);
    if question.rerank.unwrap_or(settings.rerank) {
        let reranking = Instant::now();
        let text = &plan.wanted.text;
        let budget = settings.rerank_budget_ms;
        if let Err(error) = rerank(engines, text, &mut candidates, budget).await {
            notes.push(format!("not reranked: {error}"));
        }
        timings.rerank_ms = millis(reranking);
    }
    let mut candidates = diversify(candidates, plan.diversity);
    mark_duplicates(&mut candidates);
    let ranked = Ranked {
        candidates,
        k: plan.passages,
        weighing,
        wanted: plan.wanted,
        understood,
        timings,
        notes,
        started,
    };
    Ok(finish(engines, question, ranked, settings, purpose).await)
}

/// Logs how a search ended.
pub(crate) fn note_search(outcome: Result<&SearchReply, &ErrorBody>) {
    match outcome {
        Ok(reply) => debug!(
            passages = reply.passages.len(),
            notes = reply.notes.len(),
            duration_ms = reply.timings.total_ms,
            "searched"
        ),
        Err(error) => warn!(code = ?error.code, message = %error.message, "not searched"),
    }
}

/// The weights: as asked or set, else by what each engine could see.
fn weighing(
    plan: &Plan,
    understood: &Understood,
    (words, meaning, model): (&Hits, &Hits, ModelSight),
) -> Weighing {
    if let Some(semantic_weight) = plan.weight {
        return Weighing {
            method: plan.method,
            semantic_weight,
            reason: "as asked or set".to_owned(),
        };
    }
    let sights = Sights {
        understood,
        words: words.sight,
        model,
        by_words: !words.hits.is_empty(),
        by_meaning: !meaning.hits.is_empty(),
    };
    weigh(plan.method, &sights)
}

/// What came of asking one engine; an engine without weight is not asked and finds nothing.
struct Asked {
    outcome: Result<Hits, ErrorBody>,
    took_ms: f64,
    embed_ms: f64,
    sight: ModelSight,
}

async fn keyword(engines: &dyn Engines, plan: &Plan) -> Asked {
    let started = Instant::now();
    let outcome = if plan.asks_keyword() {
        engines.keyword(&plan.wanted).await
    } else {
        Ok(Hits::default())
    };
    Asked {
        outcome,
        took_ms: millis(started),
        embed_ms: 0.0,
        sight: ModelSight::default(),
    }
}

async fn vector(engines: &dyn Engines, plan: &Plan) -> Asked {
    if !plan.asks_vector() {
        return Asked {
            outcome: Ok(Hits::default()),
            took_ms: 0.0,
            embed_ms: 0.0,
            sight: ModelSight::default(),
        };
    }
    let started = Instant::now();
    let embedded = engines.embed(&plan.wanted.text).await;
    let embed_ms = millis(started);
    let started = Instant::now();
    let (sight, outcome) = match embedded {
        Ok(query) => (query.sight, engines.vector(&plan.wanted, query).await),
        Err(error) => (ModelSight::default(), Err(error)),
    };
    Asked {
        outcome,
        took_ms: millis(started),
        embed_ms,
        sight,
    }
}

/// All candidates of both lists, best first.
fn fuse_hits(weighing: &Weighing, by_words: Vec<Hit>, by_meaning: Vec<Hit>) -> Vec<Candidate> {
    let scored = |hits: &[Hit]| {
        let scored = hits.iter().map(|hit| (hit.chunk_id.clone(), hit.score));
        scored.collect::<Vec<_>>()
    };
    let (words, meaning) = (scored(&by_words), scored(&by_meaning));
    // A short list of words holds every chunk that has one; the others have none.
    let is_whole = words.len() < CANDIDATES as usize;
    let words = List {
        hits: &words,
        floor: is_whole.then_some(0.0),
    };
    let fused = fuse(
        weighing.method,
        words,
        List::of(&meaning),
        weighing.semantic_weight,
    );
    let [mut keyword, mut vector] = [&by_words, &by_meaning].map(|hits| standings(hits));
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
                same_as: None,
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
