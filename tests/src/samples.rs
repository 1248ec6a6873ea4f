//! The PDF and Word files under `samples/`, made from the texts beside this file.

mod word;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::pdf::Source;
use crate::workspace;

/// Path under `samples/` and source text of each PDF.
const PDFS: [(&str, &str); 3] = [
    (
        "contracts/service-agreement-northgate.pdf",
        include_str!("samples/text/service-agreement-northgate.txt"),
    ),
    (
        "handbook/staff-handbook.pdf",
        include_str!("samples/text/staff-handbook.txt"),
    ),
    (
        "manuals/kl-40-service-manual.pdf",
        include_str!("samples/text/kl-40-service-manual.txt"),
    ),
];

/// The same of each Word document.
const WORDS: [(&str, &str); 1] = [(
    "projects/warehouse-extension.docx",
    include_str!("samples/text/warehouse-extension.txt"),
)];

/// The folder of the sample documents.
pub fn folder() -> PathBuf {
    workspace::root().join("samples")
}

/// How many sample documents there are.
///
/// # Errors
/// The folder cannot be read.
pub fn count() -> Result<usize> {
    fn files(folder: &Path) -> Result<usize> {
        let mut count = 0;
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            count += if entry.file_type()?.is_dir() {
                files(&entry.path())?
            } else {
                1
            };
        }
        Ok(count)
    }
    files(&folder()).context("counting the sample documents")
}

/// The made files as the sources give them, by path under `samples/`.
///
/// # Errors
/// A source that cannot be set.
pub fn made() -> Result<Vec<(&'static str, Vec<u8>)>> {
    let pdfs = PDFS.iter().map(|(path, text)| {
        let bytes = Source::parse(text).and_then(|source| source.typeset());
        (*path, bytes)
    });
    let words = WORDS
        .iter()
        .map(|(path, text)| (*path, word::document(text)));
    pdfs.chain(words)
        .map(|(path, bytes)| Ok((path, bytes.with_context(|| format!("setting `{path}`"))?)))
        .collect()
}

/// Writes the made files into `folder`.
///
/// # Errors
/// A source that cannot be set, a folder that cannot be written.
pub fn write(folder: &Path) -> Result<()> {
    for (path, bytes) in made()? {
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&file, bytes).with_context(|| format!("writing `{}`", file.display()))?;
    }
    Ok(())
}

/// A question whose answer stands in the samples.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// As a person would ask it.
    pub question: String,
    /// Path under `samples/`.
    pub file: String,
    /// Physical PDF page from 1; `None` for a text without pages.
    pub page: Option<u32>,
    /// Words of the passage that answers it.
    pub phrase: String,
}

/// All facts of `tests/samples-facts.json`.
///
/// # Errors
/// A file that does not decode.
pub fn facts() -> Result<Vec<Fact>> {
    Ok(serde_json::from_str(include_str!("../samples-facts.json"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_files_are_what_the_sources_give() {
        for (path, bytes) in made().unwrap() {
            let committed = std::fs::read(folder().join(path)).unwrap();
            assert!(
                committed == bytes,
                "`samples/{path}` is stale; run `cargo xtask samples`"
            );
        }
    }

    #[test]
    fn every_fact_stands_in_its_file() {
        let sources: std::collections::HashMap<_, _> = PDFS.into_iter().chain(WORDS).collect();
        for fact in facts().unwrap() {
            let text = match (sources.get(fact.file.as_str()), fact.page) {
                (Some(text), Some(page)) => {
                    let page = usize::try_from(page).unwrap();
                    text.split("\n---\n").nth(page - 1).unwrap().to_owned()
                }
                (Some(text), None) => (*text).to_owned(),
                (None, _) => std::fs::read_to_string(folder().join(&fact.file)).unwrap(),
            };
            let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(
                plain(&text).contains(&fact.phrase),
                "{}: {}",
                fact.file,
                fact.phrase
            );
        }
    }
}
