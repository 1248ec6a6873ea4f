//! Asking the engines again, about one document.

use futures::future::join_all;
use shared::contract::{
    CandidateExplanation, ChunkId, Decision, DocumentId, Filter, Hit, Neighbours, QueryVector,
    Question, Standing,
};

use super::reason::Ends;
use crate::candidate::Candidate;
use crate::engines::{Engines, Wanted};
use crate::label::label;

/// A chunk with its score by words and by meaning.
type Scored = (Hit, Option<f32>, Option<f32>);

/// Hits asked for within a document.
const WITHIN: u32 = 20;
/// Hits asked for to find one chunk of a document among all of its chunks; the contract's most.
const ALL: u32 = 1_000;
const FILTERED: &str = "excluded by the filter";

/// What is asked again.
pub(super) struct Probe<'a> {
    pub(super) engines: &'a dyn Engines,
    pub(super) wanted: &'a Wanted,
    pub(super) ends: Ends,
    /// What the engines have returned.
    pub(super) known: &'a [Candidate],
}

/// What both engines find, each hit once, with its score in each.
type Found = Vec<(Hit, Option<f32>, Option<f32>)>;
/// An explanation of each chunk, or a note.
type Said = Result<Vec<CandidateExplanation>, String>;

impl Probe<'_> {
    /// What `question` asks about and no engine returned, and notes on what there is not.
    pub(super) async fn run(
        &self,
        question: &Question,
    ) -> (Vec<CandidateExplanation>, Vec<String>) {
        let vector = self.engines.embed(&self.wanted.text).await.ok();
        let documents = question
            .explain_documents
            .iter()
            .map(|id| self.document(id, vector.as_ref()));
        let chunks = question
            .explain_chunks
            .iter()
            .map(|id| self.chunk(id, vector.as_ref()));
        let (documents, chunks) = tokio::join!(join_all(documents), join_all(chunks));
        let (mut explained, mut notes) = (Vec::<CandidateExplanation>::new(), Vec::new());
        for said in documents.into_iter().chain(chunks) {
            match said {
                Ok(more) => explained.extend(more),
                Err(note) => notes.push(note),
            }
        }
        let mut seen: Vec<ChunkId> = Vec::new();
        explained.retain(|one| {
            let is_new = !seen.contains(&one.chunk_id);
            seen.push(one.chunk_id.clone());
            is_new
        });
        (explained, notes)
    }

    /// The best chunks of a document that no engine returned.
    async fn document(&self, id: &DocumentId, vector: Option<&QueryVector>) -> Said {
        if self.known.iter().any(|one| one.hit.document_id == *id) {
            return Ok(Vec::new());
        }
        let within = match self.within(id) {
            Some(filter) => self.ask(filter, WITHIN, vector).await,
            None => Vec::new(),
        };
        if within.is_empty() {
            let all = self.ask(only(id), WITHIN, vector).await;
            return match all.first() {
                Some(found) => Ok(vec![not_found(found, FILTERED.to_owned())]),
                None => Err(format!("`{id}` is not a document that can be found")),
            };
        }
        // The same content at another path was returned under that path's document.
        if within.iter().any(|(hit, ..)| self.is_known(&hit.chunk_id)) {
            return Ok(Vec::new());
        }
        let best = |score: fn(&Scored) -> Option<f32>| {
            let scored = within.iter().filter(|found| score(found).is_some());
            scored.max_by(|a, b| score(a).unwrap_or(0.0).total_cmp(&score(b).unwrap_or(0.0)))
        };
        let by_words = best(|found| found.1);
        let by_meaning = best(|found| found.2)
            .filter(|found| by_words.is_none_or(|other| other.0.chunk_id != found.0.chunk_id));
        let best = by_words.into_iter().chain(by_meaning);
        Ok(best.map(|found| self.told(found)).collect())
    }

    /// One chunk that no engine returned.
    async fn chunk(&self, id: &ChunkId, vector: Option<&QueryVector>) -> Said {
        if self.is_known(id) {
            return Ok(Vec::new());
        }
        let Some(hit) = self.look_up(id, Filter::default()).await? else {
            return Err(format!("`{id}` is not a chunk that can be found"));
        };
        let may_be_found = self
            .look_up(id, self.wanted.filter.clone())
            .await?
            .is_some();
        if !may_be_found {
            return Ok(vec![not_found(&(hit, None, None), FILTERED.to_owned())]);
        }
        let all = self.ask(only(&hit.document_id), ALL, vector).await;
        let found = all.into_iter().find(|(other, ..)| other.chunk_id == *id);
        Ok(vec![self.told(&found.unwrap_or((hit, None, None)))])
    }

    /// The chunk itself, as far as `filter` lets it be seen.
    async fn look_up(&self, id: &ChunkId, filter: Filter) -> Result<Option<Hit>, String> {
        let request = Neighbours {
            chunks: vec![id.clone()],
            before: 0,
            after: 0,
            filter,
        };
        let answer = self.engines.neighbours(&request).await;
        let list = answer.map_err(|error| format!("`{id}` could not be looked up: {error}"))?;
        let mut hits = list.runs.into_iter().flatten();
        Ok(hits.find(|hit| hit.chunk_id == *id))
    }

    /// What both engines find under `filter`. An engine that fails finds nothing here; that it
    /// fails is in the notes of the search itself.
    async fn ask(&self, filter: Filter, k: u32, vector: Option<&QueryVector>) -> Found {
        let wanted = Wanted {
            k,
            filter,
            ..self.wanted.clone()
        };
        let by_meaning = async {
            match vector {
                Some(vector) => self.engines.vector(&wanted, vector.clone()).await.ok(),
                None => None,
            }
        };
        let (words, meaning) = tokio::join!(self.engines.keyword(&wanted), by_meaning);
        let mut found: Found = Vec::new();
        for hit in words.ok().into_iter().flat_map(|words| words.hits) {
            let score = hit.score;
            found.push((hit, Some(score), None));
        }
        for hit in meaning.into_iter().flat_map(|meaning| meaning.hits) {
            let score = Some(hit.score);
            match found
                .iter_mut()
                .find(|(other, ..)| other.chunk_id == hit.chunk_id)
            {
                Some((_, _, slot)) => *slot = score,
                None => found.push((hit, None, score)),
            }
        }
        found
    }

    /// The question's own filter, narrowed to a document; `None` when it shuts the document out.
    fn within(&self, id: &DocumentId) -> Option<Filter> {
        let filter = &self.wanted.filter;
        let admits = filter.documents.is_empty() || filter.documents.contains(id);
        admits.then(|| Filter {
            documents: vec![id.clone()],
            ..filter.clone()
        })
    }

    fn is_known(&self, id: &ChunkId) -> bool {
        self.known.iter().any(|one| one.hit.chunk_id == *id)
    }

    fn told(&self, found: &(Hit, Option<f32>, Option<f32>)) -> CandidateExplanation {
        not_found(found, self.ends.why_not(found.1, found.2))
    }
}

fn only(id: &DocumentId) -> Filter {
    Filter {
        documents: vec![id.clone()],
        ..Filter::default()
    }
}

fn not_found(
    (hit, words, meaning): &(Hit, Option<f32>, Option<f32>),
    reason: String,
) -> CandidateExplanation {
    let standing = |score: &Option<f32>| score.map(|score| Standing { rank: None, score });
    CandidateExplanation {
        chunk_id: hit.chunk_id.clone(),
        document_id: hit.document_id.clone(),
        label: label(hit),
        keyword: standing(words),
        vector: standing(meaning),
        fused: None,
        reranked: None,
        gate: None,
        decision: Decision::NotFound { reason },
    }
}
