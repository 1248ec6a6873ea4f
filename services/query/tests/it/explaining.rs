//! Why a passage was found, or was not.

use async_trait::async_trait;
use query::{Engines, Settings, Wanted, search};
use shared::contract::{
    CandidateExplanation, Decision, DocumentId, ErrorBody, ErrorCode, Filter, Hit, Hits,
    ModelSight, NeighbourList, Neighbours, QueryVector, Question, Rerank, Reranked, SearchReply,
    Vector,
};

use crate::support::{hit, question};

/// A chunk, with its score by words, if it has any of the question's, and by meaning.
type Shelved = (Hit, Option<f32>, f32);

/// Engines that honour the documents and path of a filter.
struct Library(Vec<Shelved>);

impl Library {
    fn best(&self, wanted: &Wanted, score: impl Fn(&Shelved) -> Option<f32>) -> Hits {
        let admitted = self.0.iter().filter(|one| admits(&wanted.filter, &one.0));
        let mut hits: Vec<Hit> = admitted
            .filter_map(|one| {
                Some(Hit {
                    score: score(one)?,
                    ..one.0.clone()
                })
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.truncate(wanted.k as usize);
        Hits {
            hits,
            ..Hits::default()
        }
    }
}

fn admits(filter: &Filter, hit: &Hit) -> bool {
    let prefix = filter.path_prefix.as_deref().unwrap_or_default();
    (filter.documents.is_empty() || filter.documents.contains(&hit.document_id))
        && hit.path.starts_with(prefix)
}

#[async_trait]
impl Engines for Library {
    async fn keyword(&self, wanted: &Wanted) -> Result<Hits, ErrorBody> {
        Ok(self.best(wanted, |one| one.1))
    }

    async fn embed(&self, _text: &str) -> Result<QueryVector, ErrorBody> {
        Ok(QueryVector {
            model: "test-fp32".parse().unwrap(),
            vector: Vector(vec![1.0]),
            sight: ModelSight::default(),
        })
    }

    async fn vector(&self, wanted: &Wanted, _query: QueryVector) -> Result<Hits, ErrorBody> {
        Ok(self.best(wanted, |one| Some(one.2)))
    }

    async fn rerank(&self, _request: &Rerank) -> Result<Reranked, ErrorBody> {
        Err(ErrorBody::new(ErrorCode::Unavailable, "none", "none"))
    }

    async fn neighbours(&self, request: &Neighbours) -> Result<NeighbourList, ErrorBody> {
        let run = |id| {
            let here = self.0.iter().map(|one| &one.0);
            here.filter(|hit| hit.chunk_id == id && admits(&request.filter, hit))
                .cloned()
                .collect()
        };
        Ok(NeighbourList {
            runs: request.chunks.iter().cloned().map(run).collect(),
        })
    }
}

/// 150 chunks of as many documents under `/docs`, the later the worse; the last ten have none of
/// the question's words.
fn library() -> Library {
    let shelved = (0..150_u32).map(|n| {
        let hit = Hit {
            path: format!("/docs/{n}.pdf"),
            ..hit(n, &format!("text {n}"))
        };
        let below = n as f32 / 200.0;
        (hit, (n < 140).then_some(20.0 - 10.0 * below), 0.9 - below)
    });
    Library(shelved.collect())
}

async fn ask(library: &Library, asked: Question) -> SearchReply {
    search(library, &asked, &Settings::default()).await.unwrap()
}

fn document(library: &Library, n: usize) -> DocumentId {
    library.0[n].0.document_id.clone()
}

fn reason(one: &CandidateExplanation) -> &str {
    match &one.decision {
        Decision::Dropped { reason } | Decision::NotFound { reason } => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_candidate_has_its_ranks_and_what_became_of_it() {
    let library = library();
    let asked = Question {
        explain: true,
        k: 3,
        ..question("text")
    };
    let reply = ask(&library, asked).await;
    assert_eq!(reply.passages.len(), 3);
    let told = reply.explanation.unwrap();
    assert!(told.candidates.len() >= 20);
    let third = &told.candidates[2];
    let rank = |standing: Option<shared::contract::Standing>| standing.and_then(|one| one.rank);
    assert_eq!(third.decision, Decision::Packed { position: 3 });
    assert_eq!(
        [rank(third.keyword), rank(third.vector), rank(third.fused)],
        [Some(3); 3]
    );
    assert_eq!((third.reranked, third.gate), (None, None));
    assert!((third.vector.unwrap().score - 0.89).abs() < 1e-6);
    assert_eq!(
        reason(&told.candidates[3]),
        "rank 4, below the 3 passages asked for"
    );
    assert_eq!(
        ask(&library, question("text")).await.explanation,
        None,
        "only if asked"
    );
}

#[tokio::test]
async fn a_document_that_was_not_found_is_told_why() {
    let library = library();
    let explained = |documents: Vec<DocumentId>, filter: Filter| {
        let asked = Question {
            explain_documents: documents,
            filter,
            ..question("text")
        };
        ask(&library, asked)
    };
    let far = explained(vec![document(&library, 130)], Filter::default()).await;
    let candidates = far.explanation.unwrap().candidates;
    let last = candidates.last().unwrap();
    assert_eq!(last.document_id, document(&library, 130));
    assert_eq!((last.fused, last.keyword.unwrap().rank), (None, None));
    let why = reason(last);
    assert!(
        why.starts_with("not in the first ")
            && why.contains("by words (13.50, the last has ")
            && why.contains("by meaning (0.25, the last has 0."),
        "{why}"
    );

    let without = explained(vec![document(&library, 145)], Filter::default()).await;
    let candidates = without.explanation.unwrap().candidates;
    let why = reason(candidates.last().unwrap());
    assert!(
        why.starts_with("none of the question's words; not in"),
        "{why}"
    );

    let elsewhere = Filter {
        path_prefix: Some("/docs/1".to_owned()),
        ..Filter::default()
    };
    let shut_out = explained(vec![document(&library, 2)], elsewhere).await;
    let candidates = shut_out.explanation.unwrap().candidates;
    assert_eq!(reason(candidates.last().unwrap()), "excluded by the filter");
    let other = Filter {
        documents: vec![document(&library, 3)],
        ..Filter::default()
    };
    let shut_out = explained(vec![document(&library, 2)], other).await;
    let candidates = shut_out.explanation.unwrap().candidates;
    assert_eq!(reason(candidates.last().unwrap()), "excluded by the filter");

    let found = explained(vec![document(&library, 0)], Filter::default()).await;
    let candidates = found.explanation.unwrap().candidates;
    let of_it = |one: &&CandidateExplanation| one.document_id == document(&library, 0);
    assert_eq!(candidates.iter().filter(of_it).count(), 1, "told once");

    let unknown = explained(vec![DocumentId::generate()], Filter::default()).await;
    assert!(
        unknown.notes[0].contains("is not a document"),
        "{:?}",
        unknown.notes
    );
}

#[tokio::test]
async fn a_chunk_that_was_not_found_is_told_why() {
    let library = library();
    let chunk = library.0[130].0.chunk_id.clone();
    let asked = |filter| Question {
        explain_chunks: vec![chunk.clone()],
        filter,
        ..question("text")
    };
    let reply = ask(&library, asked(Filter::default())).await;
    let candidates = reply.explanation.unwrap().candidates;
    assert!(reason(candidates.last().unwrap()).contains("by words (13.50"));
    let elsewhere = Filter {
        path_prefix: Some("/docs/2".to_owned()),
        ..Filter::default()
    };
    let reply = ask(&library, asked(elsewhere)).await;
    let candidates = reply.explanation.unwrap().candidates;
    assert_eq!(reason(candidates.last().unwrap()), "excluded by the filter");
    let gone = Question {
        explain_chunks: vec![hit(999, "x").chunk_id],
        ..question("text")
    };
    assert!(ask(&library, gone).await.notes[0].contains("is not a chunk"));
}

#[tokio::test]
async fn more_than_a_reply_explains_is_refused() {
    let asked = Question {
        explain_documents: (0..11).map(|_| DocumentId::generate()).collect(),
        ..question("text")
    };
    let error = search(&library(), &asked, &Settings::default())
        .await
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::BadRequest);
    assert!(error.message.contains("11 documents"), "{error}");
}
