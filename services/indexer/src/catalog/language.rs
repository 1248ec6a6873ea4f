//! Which language a version is in: told at its commit, and for versions of earlier programs later.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use rusqlite::{Transaction, params};
use shared::contract::Chunk;
use shared::language::Language;
use shared::service::Drain;
use tracing::{info, warn};

use super::Catalog;
use crate::error::{CatalogError, chain};

/// Chunks of a version that its language is told by, evenly spread.
const SAMPLES: usize = 24;
/// Characters taken of each. Of 960 paragraphs in English, Turkish and Chinese, cut to so many, the
/// right language was told of 957, none of 2, a wrong one of 1 (whatlang 0.18).
const SAMPLE_CHARACTERS: usize = 300;
/// Stored where a language was looked for and could not be told.
const UNTOLD: &str = "";

/// Versions told in one go, between which others may write.
const AT_ONCE: u32 = 100;

impl Catalog {
    /// Tells the language of every version that an earlier program made, in the background.
    pub async fn tell_all_languages(self, drain: Drain) {
        let mut versions = 0;
        while !drain.is_draining() {
            match self.run(|catalog| catalog.tell_languages(AT_ONCE)).await {
                Ok(0) => break,
                Ok(told) => versions += told,
                Err(error) => {
                    warn!(
                        error = chain(&error),
                        "languages are told at the next start"
                    );
                    break;
                }
            }
        }
        if versions > 0 {
            info!(versions, "languages told of what an earlier program made");
        }
    }

    /// Tells the language of up to `limit` versions that an earlier program made. Returns how many
    /// there were; 0 when all are told.
    ///
    /// # Errors
    /// When the catalog cannot be written.
    pub fn tell_languages(&self, limit: u32) -> Result<usize, CatalogError> {
        let told: Vec<(i64, Option<Language>)> = self.read(|tx| {
            let untold: Vec<(i64, i64, usize)> = tx
                .prepare_cached(
                    "SELECT id, first_key, chunks FROM versions WHERE language IS NULL LIMIT ?1",
                )?
                .query_map([limit], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                .collect::<rusqlite::Result<_>>()?;
            let told = untold.into_iter().map(|(version, first, chunks)| {
                Ok((version, of_texts(&sampled(tx, first, chunks)?)))
            });
            told.collect()
        })?;
        if told.is_empty() {
            return Ok(0);
        }
        self.write_visible(|tx| {
            for (version, language) in &told {
                tx.prepare_cached("UPDATE versions SET language = ?1 WHERE id = ?2")?
                    .execute(params![stored(*language), version])?;
            }
            Ok(())
        })?;
        Ok(told.len())
    }
}

/// The texts of the chunks that a version's language is told by.
fn sampled(tx: &Transaction<'_>, first: i64, chunks: usize) -> rusqlite::Result<Vec<String>> {
    let mut statement = tx.prepare_cached("SELECT text FROM chunks WHERE key = ?1")?;
    let keys = spread(chunks).filter_map(|at| first.checked_add(i64::try_from(at).ok()?));
    keys.map(|key| statement.query_row([key], |row| row.get(0)))
        .collect()
}

/// The language of a version with these chunks, if it can be told.
pub(super) fn of_chunks(chunks: &[Chunk]) -> Option<Language> {
    let texts: Vec<&str> = spread(chunks.len())
        .filter_map(|at| chunks.get(at))
        .map(|chunk| chunk.text.as_str())
        .collect();
    of_texts(&texts)
}

/// As it stands in the catalog; `NULL` is for versions that nobody has looked at.
pub(super) fn stored(language: Option<Language>) -> String {
    language.map_or_else(|| UNTOLD.to_owned(), String::from)
}

/// Positions of at most [`SAMPLES`] of `count` chunks.
fn spread(count: usize) -> impl Iterator<Item = usize> {
    let samples = count.min(SAMPLES);
    (0..samples).map(move |sample| sample * count / samples)
}

/// What most of the texts that tell a language say; of texts too short to tell one each, what they
/// say together. A vote, because a document may quote another language, and a sample that repeats
/// itself is not told reliably as a whole.
fn of_texts<T: Borrow<str>>(texts: &[T]) -> Option<Language> {
    let samples: Vec<String> = texts
        .iter()
        .map(|text| text.borrow().chars().take(SAMPLE_CHARACTERS).collect())
        .collect();
    let mut votes: BTreeMap<Language, usize> = BTreeMap::new();
    for language in samples.iter().filter_map(|sample| Language::of(sample)) {
        *votes.entry(language).or_default() += 1;
    }
    let cast: usize = votes.values().sum();
    match votes.into_iter().max_by_key(|(_, count)| *count) {
        Some((language, count)) => (2 * count > cast).then_some(language),
        None => Language::of(&samples.join("\n")),
    }
}
