//! Time is paused in these tests, so waits cost nothing and are exact.

use tokio::sync::mpsc;

use super::*;

const FIRST: Duration = Duration::from_mins(2);
const PAUSE: Duration = Duration::from_secs(30);

fn patience() -> Patience {
    Patience::new("Ollama", &GenerationSettings::default())
}

fn text() -> Heard {
    Heard::Text("a".to_owned())
}

fn end(stop: Stop, answer_tokens: u32) -> Heard {
    Heard::End {
        usage: TokenUsage {
            answer_tokens: Some(answer_tokens),
            ..TokenUsage::default()
        },
        stop,
        notes: Vec::new(),
    }
}

/// The answer when each is heard so many seconds after the one before; then the stream stays
/// open, in silence.
async fn answer(heard: Vec<(u64, Heard)>, answer_tokens: u32) -> Vec<Result<Piece, GenerateError>> {
    let (say, said) = mpsc::unbounded_channel();
    let speaking = async move {
        for (seconds, heard) in heard {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            if say.send(heard).is_err() {
                return;
            }
        }
        say.closed().await;
    };
    let heard = stream::unfold(said, async |mut said| {
        let heard = said.recv().await?;
        Some((Ok(heard), said))
    });
    let pieces = pieces(heard.boxed(), patience(), answer_tokens).collect();
    tokio::join!(speaking, pieces).1
}

fn silence(setting: &'static str, pause: Duration) -> GenerateError {
    GenerateError::Silent {
        server: "Ollama",
        pause,
        setting,
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_may_take_any_time_while_tokens_come() {
    let mut heard: Vec<_> = (0..100).map(|_| (29, text())).collect();
    heard.push((29, end(Stop::Finished, 100)));
    let pieces = answer(heard, 256).await;
    assert_eq!(pieces.len(), 101);
    assert!(matches!(pieces[100], Ok(Piece::End { .. })));
}

#[tokio::test(start_paused = true)]
async fn the_first_token_has_a_longer_wait_than_the_others() {
    let pieces = answer(vec![(119, text()), (31, text())], 256).await;
    let silence = silence("generation.token_pause_secs", PAUSE);
    assert_eq!(pieces, [Ok(Piece::Text("a".to_owned())), Err(silence)]);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_token_does_not_prolong_the_first_wait() {
    let heard = (0..10).map(|_| (20, Heard::Nothing)).collect();
    let started = Instant::now();
    let pieces = answer(heard, 256).await;
    assert_eq!(pieces, [Err(silence("generation.first_token_secs", FIRST))]);
    assert!(started.elapsed() >= FIRST);
}

#[tokio::test(start_paused = true)]
async fn thoughts_are_progress() {
    let mut heard: Vec<_> = (0..20).map(|_| (25, Heard::Thought)).collect();
    heard.extend([(25, text()), (0, end(Stop::Finished, 21))]);
    let pieces = answer(heard, 256).await;
    assert_eq!(pieces.len(), 2, "{pieces:?}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_thoughts_alone_says_so() {
    let heard = vec![(1, Heard::Thought), (1, end(Stop::AtLimit, 256))];
    let pieces = answer(heard, 256).await;
    let Ok(Piece::End { notes, .. }) = &pieces[0] else {
        panic!("{pieces:?}");
    };
    assert!(notes[0].contains("`generation.answer_tokens`"), "{notes:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_an_end_is_an_error() {
    let heard = stream::iter(vec![Ok(text())]).boxed();
    let pieces: Vec<_> = pieces(heard, patience(), 256).collect().await;
    let broken = GenerateError::BrokeOff { server: "Ollama" };
    assert_eq!(pieces, [Ok(Piece::Text("a".to_owned())), Err(broken)]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_knows_no_limit_is_ended() {
    let heard = (0..1_000).map(|_| (0, text())).collect();
    let pieces = answer(heard, 2).await;
    let Some(Ok(Piece::End { stop, .. })) = pieces.last() else {
        panic!("{:?}", pieces.last());
    };
    assert_eq!(*stop, Stop::AtLimit);
    assert!(pieces.len() <= 2 * MOST_TOKEN_BYTES + 1, "{}", pieces.len());
}

#[tokio::test(start_paused = true)]
async fn speed_is_counted_from_the_first_token_to_the_last() {
    let mut heard = vec![(60, text())];
    heard.extend((0..10).map(|_| (1, text())));
    heard.push((5, end(Stop::Finished, 11)));
    let pieces = answer(heard, 256).await;
    let Some(Ok(Piece::End { usage, .. })) = pieces.last() else {
        panic!("{:?}", pieces.last());
    };
    // Timers are exact to a millisecond.
    let speed = usage.tokens_per_second.unwrap();
    assert!((speed - 1.0).abs() < 0.01, "{speed}");
}
