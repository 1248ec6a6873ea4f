//! Asking a set's questions.

use futures::{StreamExt as _, TryStreamExt as _};
use shared::contract::{Question, SearchReply};
use tokio::time::Instant;

use super::configuration::Configuration;
use super::outcome::{Outcome, QuestionOutcome};
use super::store::Shelf;
use crate::client::Gateway;
use crate::error::Complaint;
use crate::evaluation::beir::{Grades, Query, Set};
use crate::evaluation::latency::{Latency, Sample};
use crate::evaluation::measure::{Scores, first_of_each};
use crate::evaluation::progress::Progress;
use crate::evaluation::statistics::bootstrap;

/// Passages asked for per question, the most there are: recall@100 is over their documents.
pub(super) const PASSAGES: u32 = 100;
/// Passages asked for when the time is taken, as many as a person may want.
const TIMED_PASSAGES: u32 = 10;
/// Questions at once while the time is not taken.
const AT_ONCE: usize = 2;

/// One set, ready to be asked.
pub(super) struct Asker<'a> {
    /// Where it is.
    pub(super) gateway: &'a Gateway,
    /// The set.
    pub(super) set: &'a Set,
    /// What its paths stand for.
    pub(super) shelf: &'a Shelf,
    /// The questions.
    pub(super) queries: Vec<&'a Query>,
    /// How many of them the time is taken of.
    pub(super) timed: usize,
    /// How far it is.
    pub(super) progress: Progress,
}

impl Asker<'_> {
    /// Asks all questions, and then some of them again one after the other for the time.
    ///
    /// # Errors
    /// When a question is refused, or Ibid ends.
    pub(super) async fn ask(&self, configuration: &Configuration) -> Result<Outcome, Complaint> {
        let asked: Vec<(QuestionOutcome, bool)> = futures::stream::iter(&self.queries)
            .map(|query| self.score(configuration, query))
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        let noted = asked.iter().filter(|(_, noted)| *noted).count();
        let questions: Vec<QuestionOutcome> = asked.into_iter().map(|(q, _)| q).collect();
        let scores: Vec<Scores> = questions.iter().map(|question| question.scores).collect();
        let interval = |value: fn(&Scores) -> f64| {
            let values: Vec<f64> = scores.iter().map(value).collect();
            bootstrap(&values)
        };
        Ok(Outcome {
            configuration: configuration.clone(),
            mean: Scores::mean(&scores),
            ndcg_interval: interval(|s| s.ndcg_10),
            recall_interval: interval(|s| s.recall_100),
            noted,
            latency: self.time(configuration).await?,
            questions,
        })
    }

    async fn score(
        &self,
        configuration: &Configuration,
        query: &Query,
    ) -> Result<(QuestionOutcome, bool), Complaint> {
        let question = configuration.question(&query.text, PASSAGES);
        let reply = self.gateway.search(&question).await?;
        let noted = !reply.notes.is_empty();
        let ranking = self.ranking(reply);
        let nothing = Grades::new();
        let grades = self.set.grades.get(&query.id).unwrap_or(&nothing);
        self.progress.step(&configuration.name);
        let outcome = QuestionOutcome {
            id: query.id.clone(),
            scores: Scores::of(&ranking, grades),
        };
        Ok((outcome, noted))
    }

    fn ranking(&self, reply: SearchReply) -> Vec<String> {
        let documents = reply
            .passages
            .into_iter()
            .flat_map(|passage| self.shelf.at(&passage.hit.path).to_vec());
        first_of_each(documents)
    }

    async fn time(&self, configuration: &Configuration) -> Result<Option<Latency>, Complaint> {
        if self.timed == 0 {
            return Ok(None);
        }
        let every = self.queries.len().div_ceil(self.timed).max(1);
        let mut samples = Vec::new();
        for query in self.queries.iter().step_by(every) {
            let question = configuration.question(&query.text, TIMED_PASSAGES);
            samples.push(sample(self.gateway, &question).await?);
            self.progress.step(&configuration.name);
        }
        Ok(Some(Latency::of(&samples)))
    }
}

/// Asks one question and takes the time.
///
/// # Errors
/// When it is refused, or Ibid ends.
pub(crate) async fn sample(gateway: &Gateway, question: &Question) -> Result<Sample, Complaint> {
    let asked = Instant::now();
    let reply = gateway.search(question).await?;
    Ok(Sample {
        wall_ms: asked.elapsed().as_secs_f64() * 1_000.0,
        timings: reply.timings,
    })
}

/// How many questions [`Asker::ask`] asks in all.
pub(super) fn questions(configurations: usize, queries: usize, timed: usize) -> usize {
    let timed = match timed {
        0 => 0,
        timed => queries.div_ceil(queries.div_ceil(timed).max(1)),
    };
    configurations * (queries + timed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_of_what_is_asked() {
        for (queries, timed, expect) in [
            (10, 0, 10),
            (10, 3, 10 + 3),
            (10, 4, 10 + 4),
            (5, 200, 10),
            (1190, 200, 1190 + 199),
        ] {
            assert_eq!(questions(1, queries, timed), expect, "{queries} {timed}");
            let every = queries.div_ceil(timed.max(1)).max(1);
            let asked = if timed == 0 {
                0
            } else {
                (0..queries).step_by(every).count()
            };
            assert_eq!(queries + asked, expect);
        }
    }
}
