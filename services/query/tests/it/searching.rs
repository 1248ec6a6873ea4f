//! Searching both engines.

use query::{Settings, search};
use shared::contract::{Decision, ErrorBody, ErrorCode, Question, SearchReply};

use crate::support::{Shelf, hit, question};

async fn ask(shelf: &Shelf, question: &Question) -> Result<SearchReply, ErrorBody> {
    search(shelf, question, &Settings::default()).await
}

fn found(reply: &SearchReply) -> Vec<u32> {
    reply
        .passages
        .iter()
        .map(|passage| passage.hit.chunk_id.index)
        .collect()
}

#[tokio::test]
async fn both_engines_are_asked_and_their_hits_fused() {
    let shelf = Shelf::of(
        vec![hit(1, "one"), hit(2, "two")],
        vec![hit(2, "two"), hit(3, "three")],
    );
    let reply = ask(&shelf, &question(" how much? ")).await.unwrap();
    assert_eq!(found(&reply), [2, 1, 3]);
    assert_eq!(reply.notes, [""; 0]);
    let best = &reply.passages[0];
    assert_eq!((best.keyword_rank, best.vector_rank), (Some(2), Some(1)));
    assert_eq!(best.label, "[handbook.pdf, p.4 — Pricing > Refunds]");
    assert!(best.hit.score <= 1.0, "the fused score, not the engine's");
    assert!(reply.timings.total_ms > 0.0);
    let mut asked = shelf.asked.into_inner().unwrap();
    asked.sort_by_key(|(engine, _)| *engine);
    assert_eq!(
        asked.iter().map(|(engine, _)| *engine).collect::<Vec<_>>(),
        ["keyword", "vector"]
    );
    assert!(
        asked
            .iter()
            .all(|(_, wanted)| wanted.k == 100 && wanted.text == "how much?")
    );
}

#[tokio::test]
async fn k_bounds_the_reply_and_widens_the_candidates() {
    let many: Vec<_> = (0..60)
        .map(|index| hit(index, &format!("text {index}")))
        .collect();
    let shelf = Shelf::of(many.clone(), many);
    let reply = ask(
        &shelf,
        &Question {
            k: 9,
            ..question("x")
        },
    )
    .await
    .unwrap();
    assert_eq!(reply.passages.len(), 9);
    assert!(
        shelf
            .asked
            .lock()
            .unwrap()
            .iter()
            .all(|(_, wanted)| wanted.k == 100)
    );
    assert_eq!(
        ask(&shelf, &question("x")).await.unwrap().passages.len(),
        5,
        "the default"
    );
}

#[tokio::test]
async fn an_engine_without_weight_is_not_asked() {
    for (weight, engine, index) in [(0.0, "keyword", 1), (1.0, "vector", 2)] {
        let shelf = Shelf::of(vec![hit(1, "one")], vec![hit(2, "two")]);
        let asked = Question {
            semantic_weight: Some(weight),
            ..question("x")
        };
        assert_eq!(found(&ask(&shelf, &asked).await.unwrap()), [index]);
        let asked = shelf.asked.into_inner().unwrap();
        assert_eq!(
            asked.iter().map(|(engine, _)| *engine).collect::<Vec<_>>(),
            [engine]
        );
    }
}

#[tokio::test]
async fn one_engine_stands_in_for_the_other() {
    type Outcome = Result<(), ErrorCode>;
    async fn check(
        (keyword, embed, vector): (Outcome, Outcome, Outcome),
        expect: Result<(&[u32], &str), ErrorCode>,
    ) {
        let mut shelf = Shelf::of(vec![hit(1, "one")], vec![hit(2, "two")]);
        shelf.keyword = keyword.and(shelf.keyword);
        shelf.vector = vector.and(shelf.vector);
        shelf.embed = embed;
        match (ask(&shelf, &question("x")).await, expect) {
            (Ok(reply), Ok((indexes, note))) => {
                assert_eq!(found(&reply), indexes);
                assert!(
                    reply.notes.len() == 1 && reply.notes[0].contains(note),
                    "{reply:?}"
                );
            }
            (Err(error), Err(code)) => assert_eq!(error.code, code),
            (outcome, expect) => panic!("{outcome:?} instead of {expect:?}"),
        }
    }
    let late = Err(ErrorCode::Deadline);
    let gone = Err(ErrorCode::Unavailable);
    check((late, Ok(()), Ok(())), Ok((&[2], "found by meaning only"))).await;
    check((Ok(()), late, Ok(())), Ok((&[1], "found by keywords only"))).await;
    check((Ok(()), Ok(()), gone), Ok((&[1], "found by keywords only"))).await;
    check((gone, Ok(()), late), Err(ErrorCode::Unavailable)).await;
}

#[tokio::test]
async fn when_the_only_engine_asked_fails_so_does_the_search() {
    let mut shelf = Shelf::of(vec![hit(1, "one")], Vec::new());
    shelf.embed = Err(ErrorCode::Unavailable);
    let semantic = Question {
        semantic_weight: Some(1.0),
        ..question("x")
    };
    assert_eq!(
        ask(&shelf, &semantic).await.unwrap_err().code,
        ErrorCode::Unavailable
    );
}

#[tokio::test]
async fn wrong_questions_are_refused_with_a_remedy() {
    async fn check(question: Question, expect: &str) {
        let shelf = Shelf::of(vec![hit(1, "one")], Vec::new());
        let error = ask(&shelf, &question).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::BadRequest);
        assert!(
            error.message.contains(expect) && !error.remedy.is_empty(),
            "{error}"
        );
        assert!(
            shelf.asked.lock().unwrap().is_empty(),
            "no engine is troubled"
        );
    }
    check(question(" \n"), "no word").await;
    check(question("???"), "no word").await;
    check(question("\0"), "no word").await;
    check(question(&"x".repeat(8 * 1024 + 1)), "8193 bytes").await;
    check(
        Question {
            k: 101,
            ..question("x")
        },
        "101 passages",
    )
    .await;
    check(
        Question {
            semantic_weight: Some(1.5),
            ..question("x")
        },
        "1.5",
    )
    .await;
    check(
        Question {
            semantic_weight: Some(f32::NAN),
            ..question("x")
        },
        "NaN",
    )
    .await;
}

#[tokio::test]
async fn the_same_text_is_told_once_and_explained() {
    let shelf = Shelf::of(
        vec![hit(1, "one"), hit(2, "one"), hit(3, "two")],
        Vec::new(),
    );
    let asked = Question {
        explain: true,
        ..question("x")
    };
    let reply = ask(&shelf, &asked).await.unwrap();
    assert_eq!(found(&reply), [1, 3]);
    let explained = reply.explanation.unwrap().candidates;
    assert!(
        matches!(&explained[1].decision, Decision::Duplicate { of } if of.index == 1),
        "{explained:?}"
    );
}

#[tokio::test]
async fn a_reranker_orders_what_it_comes_to_and_its_absence_is_a_note() {
    let hits = || {
        vec![
            hit(1, "one"),
            hit(2, "two"),
            hit(3, "three"),
            hit(4, "four"),
        ]
    };
    let asked = Question {
        rerank: Some(true),
        ..question("x")
    };
    let mut shelf = Shelf::of(hits(), Vec::new());
    shelf.reranked = Some(vec![Some(-2.0), Some(3.5), None, None]);
    let reply = ask(&shelf, &asked).await.unwrap();
    assert_eq!(found(&reply), [2, 1, 3, 4]);
    assert_eq!(reply.passages[0].rerank_score, Some(3.5));
    assert_eq!(reply.passages[2].rerank_score, None);

    let reply = ask(&Shelf::of(hits(), Vec::new()), &asked).await.unwrap();
    assert_eq!(found(&reply), [1, 2, 3, 4]);
    assert!(reply.notes[0].contains("not reranked"), "{:?}", reply.notes);
}

#[tokio::test]
async fn an_engine_that_finds_nothing_is_ignored() {
    let reply = ask(
        &Shelf::of(Vec::new(), vec![hit(1, "one"), hit(2, "two")]),
        &question("x"),
    )
    .await
    .unwrap();
    assert_eq!(found(&reply), [1, 2]);
    let weighing = reply.weighing.unwrap();
    assert!(
        (weighing.semantic_weight - 1.0).abs() < f32::EPSILON,
        "{weighing:?}"
    );
}
