//! Documents made from a seed: as many as a test needs, the same on every machine.

mod words;

use std::fmt::Write as _;

use anyhow::Result;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use self::words::{ADJECTIVES, NOUNS, PLACES, VERBS};
use crate::harness::Upload;
use crate::pdf::Source;

/// What to make.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    /// The same seed gives the same documents.
    pub seed: u64,
    /// How many.
    pub documents: usize,
    /// Words of each, from and to.
    pub words: (usize, usize),
}

/// The documents of `recipe`: a third each of Markdown, plain text and PDF.
///
/// # Errors
/// A PDF that cannot be set.
pub fn documents(recipe: Recipe) -> Result<Vec<Upload>> {
    let mut rng = StdRng::seed_from_u64(recipe.seed);
    (0..recipe.documents)
        .map(|number| document(&mut rng, number, recipe.words))
        .collect()
}

fn document(rng: &mut StdRng, number: usize, words: (usize, usize)) -> Result<Upload> {
    let length = rng.random_range(words.0..=words.1);
    let (extension, bytes) = match number % 3 {
        0 => ("md", markdown(rng, number, length)?.into_bytes()),
        1 => ("txt", plain(rng, length).into_bytes()),
        _ => {
            let title = format!("Report {number}");
            let footer = format!("{title}, internal");
            let body = markdown_body(rng, length, &["## ", "## "])?;
            let source = Source {
                title,
                footer,
                body,
                ..Source::default()
            };
            ("pdf", source.typeset()?)
        }
    };
    let folder = PLACES.get(number % PLACES.len()).unwrap_or(&"elsewhere");
    let path = format!("/generated/{folder}/document-{number:04}.{extension}");
    Ok(Upload {
        path,
        bytes,
        ..Upload::default()
    })
}

fn markdown(rng: &mut StdRng, number: usize, words: usize) -> Result<String> {
    let body = markdown_body(rng, words, &["## ", "### "])?;
    Ok(format!("# Document {number}\n\n{body}"))
}

/// Sections of paragraphs, lists and, now and then, a fenced block with a `#` that is no heading.
fn markdown_body(rng: &mut StdRng, words: usize, headings: &[&str]) -> Result<String> {
    let mut text = String::new();
    let mut left = words;
    while left > 0 {
        let marks = headings.choose(rng).copied().unwrap_or("## ");
        write!(text, "{marks}{}\n\n", heading(rng))?;
        for _ in 0..rng.random_range(1..4) {
            let (part, used) = paragraph(rng);
            write!(text, "{part}\n\n")?;
            left = left.saturating_sub(used);
        }
        match rng.random_range(0..6) {
            0 => {
                for _ in 0..rng.random_range(2..6) {
                    writeln!(text, "- {}", sentence(rng).0)?;
                }
                text.push('\n');
            }
            1 if headings.contains(&"### ") => {
                write!(text, "```sh\n# not a heading\nrun --level {left}\n```\n\n")?;
            }
            _ => {}
        }
    }
    Ok(text)
}

fn plain(rng: &mut StdRng, words: usize) -> String {
    let mut text = String::new();
    let mut left = words;
    while left > 0 {
        let (part, used) = paragraph(rng);
        text.push_str(&part);
        text.push_str("\n\n");
        left = left.saturating_sub(used);
    }
    text
}

fn paragraph(rng: &mut StdRng) -> (String, usize) {
    let sentences: Vec<_> = (0..rng.random_range(2..8)).map(|_| sentence(rng)).collect();
    let words = sentences.iter().map(|(_, words)| words).sum();
    let texts: Vec<_> = sentences.into_iter().map(|(text, _)| text).collect();
    (texts.join(" "), words)
}

fn sentence(rng: &mut StdRng) -> (String, usize) {
    let mut words = vec!["The".to_owned()];
    for clause in 0..rng.random_range(1..4) {
        if clause > 0 {
            words.push(
                (*["and the", "while the", "because the"]
                    .choose(rng)
                    .unwrap_or(&"and the"))
                .to_owned(),
            );
        }
        words.push(pick(rng, &ADJECTIVES));
        words.push(pick(rng, &NOUNS));
        words.push(pick(rng, &VERBS));
        words.push(format!(
            "the {} {} {}",
            pick(rng, &ADJECTIVES),
            pick(rng, &NOUNS),
            pick(rng, &NOUNS)
        ));
    }
    if rng.random_bool(0.3) {
        words.push(format!(
            "in {} of the {} units",
            rng.random_range(2..900),
            pick(rng, &PLACES)
        ));
    }
    let text = format!("{}.", words.join(" "));
    let count = text.split(' ').count();
    (text, count)
}

fn heading(rng: &mut StdRng) -> String {
    format!(
        "{} {} {}",
        pick(rng, &ADJECTIVES),
        pick(rng, &NOUNS),
        rng.random_range(1..100)
    )
}

fn pick(rng: &mut StdRng, words: &[&str]) -> String {
    words.choose(rng).copied().unwrap_or("thing").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_documents() {
        let recipe = Recipe {
            seed: 7,
            documents: 9,
            words: (50, 400),
        };
        let bytes = |recipe| -> Vec<_> {
            documents(recipe)
                .unwrap()
                .into_iter()
                .map(|upload| (upload.path, upload.bytes))
                .collect()
        };
        assert_eq!(bytes(recipe), bytes(recipe));
        assert_ne!(bytes(recipe), bytes(Recipe { seed: 8, ..recipe }));
    }
}
