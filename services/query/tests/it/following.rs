//! Follow-ups, and what an answer reads around its passages.

use std::sync::Arc;

use query::{Extractive, GenerateError, Generator, Limits, Settings, search};
use shared::contract::{
    AnswerEvent, Decision, ErrorCode, Hit, LeftOut, Provider, Question, Rewriter, Source, Span,
    Turn, Understood,
};

use crate::support::{Scripted, Shelf, answerer, events, hit, question};

fn follow_up(text: &str) -> Question {
    Question {
        history: vec![Turn {
            question: "What is the notice period for employees?".to_owned(),
            answer: "Three months [handbook.pdf, p.4].".to_owned(),
        }],
        ..question(text)
    }
}

fn first(events: &[AnswerEvent]) -> (Vec<Source>, Understood) {
    match events.first() {
        Some(AnswerEvent::Sources {
            sources,
            understood,
            ..
        }) => (sources.clone(), understood.clone()),
        other => panic!("{other:?}"),
    }
}

async fn understood_by(model: Scripted, asked: &Question) -> (Understood, usize) {
    let model = Arc::new(model);
    let generators: Vec<Arc<dyn Generator>> = vec![
        Arc::clone(&model) as Arc<dyn Generator>,
        Arc::new(Extractive),
    ];
    let shelf = Shelf::of(vec![hit(1, "Contractors: one month.")], Vec::new());
    let events = events(&answerer(shelf, generators), asked).await;
    let prompts = model.prompts.lock().unwrap().len();
    (first(&events).1, prompts)
}

#[tokio::test]
async fn a_follow_up_is_searched_for_as_a_question_of_its_own() {
    let asked = follow_up("and for contractors?");
    let whole = "What is the notice period for contractors?";
    let (understood, prompts) = understood_by(Scripted::saying(&[whole]), &asked).await;
    assert_eq!(understood.text, whole);
    assert_eq!(understood.rewritten, Some(Rewriter::Generator));
    assert_eq!(prompts, 2, "one to rewrite, one to answer");

    // An answer is no question; the rule's words stay.
    let (understood, _) = understood_by(Scripted::saying(&["One month."]), &asked).await;
    assert_eq!(
        understood.text,
        "notice period employees: and for contractors?"
    );
    assert_eq!(understood.rewritten, Some(Rewriter::Rule));
    assert_eq!(
        understood.language.map(|one| one.to_string()),
        Some("en".to_owned())
    );

    // What stands by itself, or has nothing before it, is nobody's to rewrite.
    let alone = follow_up("Which password manager does the handbook recommend?");
    for asked in [alone, question("and for contractors?")] {
        let (understood, prompts) = understood_by(Scripted::saying(&[whole]), &asked).await;
        assert_eq!((understood.text, prompts), (asked.text, 1));
        assert_eq!(understood.rewritten, None);
    }
}

#[tokio::test]
async fn no_model_rewrites_a_question_that_is_refused() {
    let model = Arc::new(Scripted::saying(&[
        "What is the notice period for contractors?",
    ]));
    let shelf = Shelf::of(vec![hit(1, "Contractors: one month.")], Vec::new());
    let asked = Question {
        k: 1_000,
        ..follow_up("and for contractors?")
    };
    let generator = Arc::clone(&model) as Arc<dyn Generator>;
    let events = events(&answerer(shelf, vec![generator]), &asked).await;
    assert!(
        matches!(events.as_slice(), [AnswerEvent::Error { error }] if error.code == ErrorCode::BadRequest),
        "{events:?}"
    );
    assert_eq!(model.prompts.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_model_that_may_not_or_cannot_is_not_asked_to_rewrite() {
    let asked = follow_up("and for contractors?");
    let whole = "What is the notice period for contractors?";
    let remote = GenerateError::Remote {
        model: "big:cloud".to_owned(),
        host: "ollama.com".to_owned(),
    };
    let refused = Scripted {
        check: Err(remote),
        ..Scripted::saying(&[whole])
    };
    let (understood, prompts) = understood_by(refused, &asked).await;
    assert_eq!((understood.rewritten, prompts), (Some(Rewriter::Rule), 0));

    let slow = Scripted {
        provider: Provider::Builtin,
        check: Ok(Limits {
            context_tokens: Some(1_000),
            ..Limits::default()
        }),
        ..Scripted::saying(&[whole])
    };
    let shelf = Shelf::of(vec![hit(1, "Contractors: one month.")], Vec::new());
    let slow = Arc::new(slow);
    let mut answerer = answerer(shelf, vec![Arc::clone(&slow) as Arc<dyn Generator>]);
    let told = events(&answerer, &asked).await;
    assert_eq!(first(&told).1.rewritten, Some(Rewriter::Rule));
    let model = Scripted::saying(&[whole]);
    answerer.generators = query::Generators::of(vec![Arc::new(model)], answerer.generation.clone());
    answerer.settings.rewrite_deadline_ms = 0;
    let told = events(&answerer, &asked).await;
    assert_eq!(
        first(&told).1.rewritten,
        Some(Rewriter::Rule),
        "switched off"
    );
}

#[tokio::test]
async fn quotations_answer_the_whole_question_and_a_search_goes_by_the_rule() {
    let shelf = Shelf::of(
        vec![
            hit(1, "The office is open from nine to five on working days."),
            hit(2, "The notice period of contractors is one month."),
        ],
        Vec::new(),
    );
    let asked = follow_up("why?");
    let reply = search(&shelf, &asked, &Settings::default()).await.unwrap();
    assert_eq!(reply.understood.text, "notice period employees: why?");
    let wanted = shelf.asked.lock().unwrap()[0].1.clone();
    assert_eq!(wanted.text, reply.understood.text);
    let told = events(&answerer(shelf, vec![Arc::new(Extractive)]), &asked).await;
    let said: String = told
        .iter()
        .filter_map(|event| match event {
            AnswerEvent::Token { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert!(
        said.contains("notice period of contractors") && !said.contains("office"),
        "{said}"
    );
}

/// Chunks of one page, one after the other.
fn page(texts: &[&str]) -> Vec<Hit> {
    let mut at = 0;
    (0..)
        .zip(texts)
        .map(|(index, text)| {
            let end = at + u32::try_from(text.len()).unwrap();
            let span = Span {
                page: 4,
                start: at,
                end,
            };
            at = end;
            Hit {
                spans: vec![span],
                ..hit(index, text)
            }
        })
        .collect()
}

#[tokio::test]
async fn an_answer_reads_around_its_hits_and_a_search_does_not() {
    let page = page(&["Contractors give ", "notice of one month", ", in writing."]);
    let shelf = |neighbours| {
        let mut shelf = Shelf::of(vec![page[1].clone(), page[2].clone()], Vec::new());
        shelf.neighbours = neighbours;
        shelf
    };
    let asked = Question {
        explain: true,
        ..question("contractors' notice?")
    };
    let model = Arc::new(Scripted::saying(&["One month [1]."]));
    let generators = vec![Arc::clone(&model) as Arc<dyn Generator>];
    let all = answerer(shelf(Ok(page.clone())), generators);
    let told = events(&all, &asked).await;
    let (sources, _) = first(&told);
    assert_eq!(sources.len(), 1);
    assert_eq!(
        sources[0].preview,
        "Contractors give notice of one month, in writing."
    );
    assert_eq!(
        (sources[0].spans[0].start, sources[0].spans[0].end),
        (0, 49)
    );
    assert_eq!(sources[0].chunk_id.index, 1);
    let asked_of_model = model.prompts.lock().unwrap()[0].messages[1].content.clone();
    assert!(asked_of_model.contains("Contractors give notice of one month, in writing."));
    let Some(AnswerEvent::Sources {
        explanation: Some(explanation),
        ..
    }) = told.first()
    else {
        panic!("{told:?}");
    };
    let decisions: Vec<_> = explanation
        .candidates
        .iter()
        .map(|one| &one.decision)
        .collect();
    assert_eq!(
        decisions,
        [
            &Decision::Packed { position: 1 },
            &Decision::Merged { position: 1 }
        ]
    );

    let reply = all.search(&asked).await.unwrap();
    assert_eq!(reply.passages.len(), 2, "a search shows what was found");

    let alone = answerer(shelf(Err(ErrorCode::Deadline)), vec![Arc::new(Extractive)]);
    let told = events(&alone, &asked).await;
    assert_eq!(first(&told).0.len(), 2);
    let Some(AnswerEvent::Done { notes, .. }) = told.last() else {
        panic!("{told:?}");
    };
    assert!(notes[0].contains("without the text around"), "{notes:?}");
}

#[tokio::test]
async fn a_model_with_little_room_reads_less_around_but_as_many_hits() {
    let sentence = "Contractors give notice of one month in writing. ";
    let texts: Vec<String> = (10..40)
        .map(|number| format!("{}Rule {number}.", sentence.repeat(9)))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let page = page(&texts);
    let hits = vec![page[2].clone(), page[12].clone(), page[22].clone()];
    let mut shelf = Shelf::of(hits, Vec::new());
    shelf.neighbours = Ok(page);
    let model = Arc::new(Scripted {
        check: Ok(Limits {
            context_tokens: Some(900),
            ..Limits::default()
        }),
        ..Scripted::saying(&["One month [1]."])
    });
    let generators = vec![Arc::clone(&model) as Arc<dyn Generator>];
    let told = events(&answerer(shelf, generators), &question("notice?")).await;
    let Some(AnswerEvent::Done { left_out, .. }) = told.last() else {
        panic!("{told:?}");
    };
    assert_eq!(*left_out, LeftOut::default());
    let prompts = model.prompts.lock().unwrap();
    let read: Vec<usize> = prompts[0]
        .passages
        .iter()
        .map(|one| one.merged.len())
        .collect();
    assert_eq!(read.len(), 3);
    assert!(
        read[0] > 1 && read[2] == 0,
        "the best keeps its surroundings: {read:?}"
    );
}
