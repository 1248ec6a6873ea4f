//! Extractive answers.

use query::{Responder, Settings, extract};
use shared::contract::{AnswerEvent, ErrorCode, Hit, Passage};

use crate::support::{Shelf, hit, question};

fn passage(index: u32, text: &str) -> Passage {
    let hit = hit(index, text);
    Passage {
        label: query::label(&hit),
        hit,
        keyword_rank: Some(1),
        vector_rank: None,
    }
}

#[test]
fn the_best_passages_are_quoted_with_number_and_label() {
    fn check(question: &str, texts: &[&str], expect: &[u32]) {
        let passages: Vec<Passage> = (0..)
            .zip(texts)
            .map(|(index, text)| passage(index, text))
            .collect();
        let answer = extract(question, &passages);
        let numbers: Vec<u32> = answer
            .citations
            .iter()
            .map(|citation| citation.number)
            .collect();
        assert_eq!(numbers, expect, "{question} on {texts:?}");
        assert_eq!(answer.answered, !expect.is_empty());
        for (piece, number) in answer.pieces.iter().zip(numbers) {
            let cited = &passages[number as usize - 1];
            let quoted: Vec<&str> = piece
                .lines()
                .filter_map(|line| line.strip_prefix("> "))
                .collect();
            assert!(
                cited.hit.text.contains(&quoted.join("\n")),
                "{piece} is not verbatim"
            );
            assert!(
                piece.contains(&format!("**{number}** {}", cited.label)),
                "{piece}"
            );
        }
    }
    let refund = "Refunds take 14 days.\nThey go to the card.";
    check("refunds?", &[refund], &[1]);
    check("refunds?", &[refund, "No refund after 30 days."], &[1, 2]);
    check("refunds?", &["Something else.", refund], &[2]);
    check("refunds?", &["Other words.", "Other again."], &[1, 2]);
    check("refunds?", &[refund, refund, refund, refund], &[1, 2, 3]);
    check("refunds?", &[], &[]);
    let long = format!(
        "{}{refund}",
        "Much is said here of other things. ".repeat(40)
    );
    check("How long do refunds take?", &[&long], &[1]);
}

#[test]
fn nothing_found_is_said() {
    let answer = extract("refunds?", &[]);
    assert!(!answer.answered && answer.citations.is_empty());
    assert!(
        answer
            .pieces
            .concat()
            .starts_with("Nothing in these documents matches")
    );
}

async fn events(keyword: Vec<Hit>, text: &str) -> Vec<AnswerEvent> {
    let shelf = Shelf::of(keyword, Vec::new());
    Responder::new(Box::new(shelf), Settings::default())
        .ask(&question(text))
        .await
}

#[tokio::test]
async fn an_answer_is_sources_then_tokens_then_the_end() {
    let events = events(vec![hit(1, "Refunds take 14 days.")], "refunds?").await;
    let [
        AnswerEvent::Sources { passages },
        AnswerEvent::Token { text },
        end,
    ] = &events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!(passages.len(), 1);
    assert!(text.starts_with("> Refunds take 14 days.\n"));
    let AnswerEvent::Done {
        generator,
        answered,
        citations,
        timings,
        ..
    } = end
    else {
        panic!("{end:?}");
    };
    assert_eq!((generator.as_str(), *answered), ("extractive", true));
    assert_eq!(citations[0].label, passages[0].label);
    assert!(timings.total_ms > 0.0);
}

#[tokio::test]
async fn an_answer_without_sources_says_so_and_a_wrong_question_is_an_error() {
    let nothing = events(Vec::new(), "refunds?").await;
    assert!(matches!(
        nothing.last(),
        Some(AnswerEvent::Done {
            answered: false,
            ..
        })
    ));
    let refused = events(Vec::new(), " ").await;
    let [AnswerEvent::Error { error }] = &refused[..] else {
        panic!("{refused:?}")
    };
    assert_eq!(error.code, ErrorCode::BadRequest);
}
