//! The built-in generator on the real SmolLM2 file, and on files that are none.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use ibid_tests::workspace;
use query::{
    Builtin, GenerateError, GenerationSettings, Generator, Message, Piece, Pieces, Prompt, Role,
    Stop,
};
use shared::contract::TokenUsage;

const MODEL: &str = "SmolLM2-135M-Instruct.Q4_1";

/// The real file. Where it was not fetched there is nothing to test, but in CI it must be there.
fn real() -> Option<(Builtin, PathBuf)> {
    let assets = workspace::assets();
    let file = assets.join(format!("generators/{MODEL}.gguf"));
    if file.is_file() {
        return Some((Builtin::new(&GenerationSettings::default(), &assets), file));
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "no model; run `ibid setup --with generator`"
    );
    eprintln!("skipped: no model; run `ibid setup --with generator`");
    None
}

fn prompt(question: &str, answer_tokens: u32) -> Prompt {
    let message = |role, content: &str| Message {
        role,
        content: content.to_owned(),
    };
    Prompt {
        question: question.to_owned(),
        passages: Vec::new(),
        messages: vec![
            message(
                Role::System,
                "You are a helpful AI assistant named SmolLM, trained by Hugging Face",
            ),
            message(Role::User, question),
        ],
        tokens: 0,
        answer_tokens,
        temperature: 0.0,
    }
}

struct Answer {
    pieces: usize,
    text: String,
    usage: TokenUsage,
    stop: Stop,
}

async fn read(mut pieces: Pieces) -> Answer {
    let mut answer = Answer {
        pieces: 0,
        text: String::new(),
        usage: TokenUsage::default(),
        stop: Stop::AtLimit,
    };
    let mut ended = false;
    while let Some(piece) = pieces.next().await {
        assert!(!ended, "nothing comes after the end");
        match piece.unwrap() {
            Piece::Text(text) => {
                answer.pieces += 1;
                answer.text.push_str(&text);
            }
            Piece::Quote { .. } => panic!("a model quotes nothing"),
            Piece::End { usage, stop, .. } => {
                (answer.usage, answer.stop, ended) = (usage, stop, true);
            }
        }
    }
    assert!(ended, "the last piece is the end");
    answer
}

async fn ask(builtin: &Builtin, question: &str, answer_tokens: u32) -> Answer {
    let prompt = prompt(question, answer_tokens);
    read(builtin.generate(MODEL, prompt).await.unwrap()).await
}

#[tokio::test]
async fn a_plain_question_is_answered_piece_by_piece_and_the_same_each_time() {
    let Some((builtin, file)) = real() else {
        return;
    };
    let views = builtin.models().await.unwrap();
    let view = views.iter().find(|view| view.id.model == MODEL).unwrap();
    assert_eq!(view.loaded, Some(false));
    assert_eq!(view.window_tokens, Some(8192));
    assert_eq!(view.bytes, Some(file.metadata().unwrap().len()));
    assert!(view.refused.is_none());
    let limits = builtin.check(MODEL).await.unwrap();
    assert_eq!(limits.window_tokens, Some(8192));

    let answer = ask(&builtin, "What is the capital of France?", 64).await;
    assert!(answer.text.contains("Paris"), "{}", answer.text);
    assert_eq!(answer.stop, Stop::Finished);
    assert!(answer.pieces > 3, "{} pieces", answer.pieces);
    assert!(answer.usage.prompt_tokens > Some(20) && answer.usage.answer_tokens > Some(3));
    assert!(answer.usage.tokens_per_second > Some(0.0));

    let views = builtin.models().await.unwrap();
    let loaded = views.iter().filter(|view| view.loaded == Some(true));
    assert_eq!(loaded.count(), 1);
    let again = ask(&builtin, "What is the capital of France?", 64).await;
    assert_eq!(again.text, answer.text);
}

#[tokio::test]
async fn it_stops_at_the_limit() {
    let Some((builtin, _)) = real() else {
        return;
    };
    let answer = ask(&builtin, "Tell me a long story about the sea.", 5).await;
    assert_eq!(answer.stop, Stop::AtLimit);
    assert_eq!(answer.usage.answer_tokens, Some(5));
}

#[tokio::test]
async fn a_dropped_answer_makes_room_for_the_next() {
    let Some((builtin, _)) = real() else {
        return;
    };
    let story = || prompt("Write ten pages about the sea, with every detail.", 100);
    let started = Instant::now();
    let whole = read(builtin.generate(MODEL, story()).await.unwrap()).await;
    let whole_time = started.elapsed();
    assert_eq!(whole.stop, Stop::AtLimit, "{}", whole.text);

    let mut pieces = builtin.generate(MODEL, story()).await.unwrap();
    assert!(matches!(pieces.next().await, Some(Ok(Piece::Text(_)))));
    let started = Instant::now();
    drop(pieces);
    let answer = ask(&builtin, "What is the capital of France?", 1).await;
    assert_eq!(answer.usage.answer_tokens, Some(1));
    assert!(
        started.elapsed() < whole_time / 2,
        "{:?}, the whole story takes {whole_time:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn questions_wait_in_line_and_the_line_is_bounded() {
    let Some((builtin, _)) = real() else {
        return;
    };
    let (france, italy) = tokio::join!(
        ask(&builtin, "What is the capital of France?", 32),
        ask(&builtin, "What is the capital of Italy?", 32),
    );
    assert!(france.text.contains("Paris"), "{}", france.text);
    assert!(italy.text.contains("Rome"), "{}", italy.text);

    let many = (0..10).map(|_| builtin.generate(MODEL, prompt("Count to three.", 16)));
    let answers = futures::future::join_all(many).await;
    let (served, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert!(
        (4..=6).contains(&served.len()),
        "{} were served",
        served.len()
    );
    for error in refused.into_iter().filter_map(Result::err) {
        assert!(matches!(error, GenerateError::Busy { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_prompt_beyond_the_window_is_refused() {
    let Some((builtin, _)) = real() else {
        return;
    };
    let long = "sea ".repeat(8_200);
    let Err(error) = builtin.generate(MODEL, prompt(&long, 64)).await else {
        panic!("it was taken");
    };
    let GenerateError::Window { needed, window, .. } = error else {
        panic!("{error}");
    };
    assert!(needed > 8_200 && window == 8_192);
}

#[tokio::test]
async fn a_model_that_does_not_fit_is_not_loaded() {
    let Some((_, file)) = real() else {
        return;
    };
    let settings = GenerationSettings {
        builtin_model: file.to_str().unwrap().to_owned(),
        ..GenerationSettings::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let free = Arc::new(|| Some(300 << 20));
    let builtin = Builtin::with_memory(&settings, folder.path(), free);
    assert_eq!(builtin.default_model().await.unwrap(), MODEL);
    let error = builtin.warm(MODEL).await.unwrap_err();
    let GenerateError::Memory {
        needed_mib,
        free_mib,
        ..
    } = error
    else {
        panic!("{error}");
    };
    // The weights in their form, keys and values of 4,096 tokens, and room for the rest.
    assert!((500..1_200).contains(&needed_mib), "{needed_mib} MiB");
    assert_eq!(free_mib, 300);
}

/// A GGUF header with texts for values, and no tensors.
fn header(values: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(3_u32.to_le_bytes());
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend((values.len() as u64).to_le_bytes());
    for (key, value) in values {
        bytes.extend((key.len() as u64).to_le_bytes());
        bytes.extend(key.as_bytes());
        bytes.extend(8_u32.to_le_bytes());
        bytes.extend((value.len() as u64).to_le_bytes());
        bytes.extend(value.as_bytes());
    }
    bytes
}

#[tokio::test]
async fn files_that_cannot_be_run_are_refused_with_the_reason() {
    let assets = tempfile::tempdir().unwrap();
    let folder = assets.path().join("generators");
    std::fs::create_dir(&folder).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let mut file = std::fs::File::create(folder.join(format!("{name}.gguf"))).unwrap();
        file.write_all(bytes).unwrap();
    };
    write("empty", b"");
    write("text", b"This is no model, but a text of some length.");
    write("other", &header(&[("general.architecture", "mamba")]));
    write("bare", &header(&[("general.architecture", "llama")]));
    write(
        "endless",
        &[b"GGUF\x03\0\0\0".as_slice(), &[0xff; 64]].concat(),
    );
    if let Some((_, file)) = real() {
        let bytes = std::fs::read(file).unwrap();
        write("cut", &bytes[..20_000_000]);
        write("cut-header", &bytes[..200_000]);
    }
    let builtin = Builtin::new(&GenerationSettings::default(), assets.path());
    let check = async |name: &str, expect: &str| {
        let error = builtin.check(name).await.unwrap_err().to_string();
        assert!(error.contains(expect), "{name}: {error}");
        let error = builtin.warm(name).await.unwrap_err().to_string();
        assert!(error.contains(expect), "{name}, loading: {error}");
    };
    check("empty", "damaged, or no GGUF").await;
    check("text", "damaged, or no GGUF").await;
    check("other", "its architecture is `mamba`").await;
    check("bare", "`llama.embedding_length` is missing").await;
    check("endless", "damaged, or no GGUF").await;
    if folder.join("cut.gguf").is_file() {
        check("cut", "it is cut off").await;
        check("cut-header", "damaged, or no GGUF").await;
    }
    let views = builtin.models().await.unwrap();
    assert!(views.iter().all(|view| view.refused.is_some()), "{views:?}");
    let error = builtin.default_model().await.unwrap_err();
    assert!(matches!(error, GenerateError::NoModels { .. }), "{error}");
    let error = builtin.check("absent").await.unwrap_err();
    assert!(matches!(error, GenerateError::NoModel { .. }), "{error}");
}

#[tokio::test]
async fn a_configured_file_that_is_not_there_is_named() {
    let assets = tempfile::tempdir().unwrap();
    let settings = GenerationSettings {
        builtin_model: "/nowhere/Some Model.gguf".to_owned(),
        ..GenerationSettings::default()
    };
    let builtin = Builtin::new(&settings, assets.path());
    let name = builtin.default_model().await.unwrap();
    assert_eq!(name, "Some-Model");
    let error = builtin.check(&name).await.unwrap_err();
    assert!(matches!(error, GenerateError::NoModel { .. }), "{error}");
    let none = Builtin::new(&GenerationSettings::default(), Path::new("/nowhere"));
    assert!(none.models().await.unwrap().is_empty());
}

/// Run by hand: `cargo nextest run -p ibid-query --run-ignored only how_fast --no-capture`.
#[tokio::test]
#[ignore = "measures, and judges nothing"]
async fn how_fast_it_reads_and_writes() {
    let Some((builtin, _)) = real() else {
        return;
    };
    let started = Instant::now();
    builtin.warm(MODEL).await.unwrap();
    println!("loaded in {:?}", started.elapsed());
    for words in [10, 100, 300, 1_000] {
        // Numbers differ, so that no prefix is kept from the prompt before.
        let sheep: Vec<String> = (0..words).map(|n| (n * words).to_string()).collect();
        let text = sheep.join(" sheep, ");
        let started = Instant::now();
        let question = prompt(&format!("{words}: {text}"), 64);
        let mut pieces = builtin.generate(MODEL, question).await.unwrap();
        let mut first = Duration::ZERO;
        while let Some(piece) = pieces.next().await {
            match piece.unwrap() {
                Piece::End { usage, .. } => {
                    let tokens = usage.prompt_tokens.unwrap();
                    println!(
                        "{tokens} tokens read in {first:?} ({:.0}/s), {:?} written at {:.1}/s",
                        f64::from(tokens) / first.as_secs_f64(),
                        usage.answer_tokens,
                        usage.tokens_per_second.unwrap_or_default()
                    );
                }
                _ if first.is_zero() => first = started.elapsed(),
                _ => {}
            }
        }
    }
}
