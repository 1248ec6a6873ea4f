//! Real documents with the real tokenizer.

use std::path::Path;
use std::time::{Duration, Instant};

use chunker::{Budget, PageText, chunk_pages};

use crate::laws::check_laws;
use crate::support::{corpus, mini_lm, pages};

/// Every Markdown and text file below `folder`, each a document of one page.
fn documents(folder: &Path, found: &mut Vec<Vec<PageText>>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            documents(&path, found);
        } else if path
            .extension()
            .is_some_and(|ext| ext == "md" || ext == "txt")
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            found.push(pages(&[text]));
        }
    }
}

#[test]
fn laws_hold_for_the_corpus() {
    let (Some(corpus), Some(budget)) = (corpus(), mini_lm()) else {
        return;
    };
    let mut all = Vec::new();
    documents(&corpus.join("folder"), &mut all);
    assert!(all.len() > 100, "{} documents", all.len());
    let mut tokens = Vec::new();
    for document in &all {
        let chunks = check_laws(document, &budget);
        tokens.extend(chunks.iter().map(|chunk| chunk.tokens));
    }
    let mean = tokens.iter().sum::<u32>() / u32::try_from(tokens.len()).unwrap();
    println!(
        "{} documents, {} chunks of {mean} tokens on average",
        all.len(),
        tokens.len()
    );
    assert!(
        (80..=256).contains(&mean),
        "chunks of {mean} tokens use the window badly"
    );
}

/// Chunking costs little beside counting: the tokenizer runs once over the chunks, and once over
/// each word that is new.
#[test]
fn chunking_stays_near_the_speed_of_the_tokenizer() {
    let (Some(corpus), Some(warm)) = (corpus(), mini_lm()) else {
        return;
    };
    let mut all = Vec::new();
    documents(&corpus.join("folder/standards"), &mut all);
    let chunk_all = |budget: &Budget| {
        let started = Instant::now();
        let chunks: usize = all
            .iter()
            .map(|pages| chunk_pages(pages, budget).unwrap().len())
            .sum();
        (started.elapsed(), chunks)
    };
    let (mut alone, mut whole) = (Duration::MAX, Duration::MAX);
    let mut tokens = 0;
    for _ in 0..3 {
        let started = Instant::now();
        tokens = 0;
        for text in all.iter().flatten() {
            for paragraph in text.markdown.split("\n\n") {
                tokens += warm.tokenizer.exact(paragraph).unwrap() - 2;
            }
        }
        alone = alone.min(started.elapsed());
        // A new tokenizer each time: no word is remembered.
        let (took, chunks) = chunk_all(&mini_lm().unwrap());
        whole = whole.min(took);
        println!("{tokens} tokens, {chunks} chunks: tokenizer {alone:?}, chunker {whole:?}");
    }
    let ratio = whole.as_secs_f64() / alone.as_secs_f64();
    assert!(
        tokens > 100_000 && ratio < 2.5,
        "{ratio:.2} times the tokenizer alone"
    );
}
