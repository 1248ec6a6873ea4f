//! What the tests over the judged folder share.

use std::path::Path;

use ibid_tests::facts;
pub(crate) use ibid_tests::facts::{Entry, Fact, squeeze};
use parser::extract::{ExtractError, Extraction, Extractors, Input, NoOcr, Spent};
use shared::format::Format;

/// The folder's files.
pub(crate) fn all(folder: &Path) -> Vec<Entry> {
    facts::entries(folder).unwrap()
}

/// The folder's files of `format`, as the manifest calls it.
pub(crate) fn entries(folder: &Path, format: &str) -> Vec<Entry> {
    let mut entries = all(folder);
    entries.retain(|entry| entry.format == format);
    entries
}

pub(crate) fn bytes(folder: &Path, entry: &Entry) -> Vec<u8> {
    std::fs::read(folder.join(&entry.file)).unwrap()
}

/// The document of `entry` by its readers, opened with `password`.
pub(crate) fn read(
    extractors: &Extractors,
    format: Format,
    (entry, bytes): (&Entry, &[u8]),
    password: Option<&str>,
) -> Result<Extraction, ExtractError> {
    let spent = Spent::default();
    let input = Input::new(&entry.file, bytes, extractors, &NoOcr, &spent);
    extractors.extract(format, &input.with_password(password))
}

/// Facts that are not where they should be.
pub(crate) fn missing(entry: &Entry, extraction: &Extraction) -> Vec<String> {
    let holds = |fact: &&Fact| {
        let mut pages = extraction.pages.iter();
        pages.any(|page| {
            fact.may_stand_at(&page.record.locator)
                && squeeze(&page.markdown).contains(&squeeze(&fact.text))
        })
    };
    let required = entry.facts.iter().filter(|fact| !fact.optional);
    required
        .filter(|fact| !holds(fact))
        .map(|fact| format!("{}: {fact:?}", entry.file))
        .collect()
}

pub(crate) fn is_clean(extraction: &Extraction) -> bool {
    let clean = |c: char| matches!(c, '\n' | '\t') || !c.is_control();
    extraction
        .pages
        .iter()
        .all(|page| page.markdown.chars().all(clean))
}
