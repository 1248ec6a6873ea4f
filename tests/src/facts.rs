//! The facts of a judged folder of documents: what a right reading contains, and where.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use shared::contract::Locator;
use unicode_normalization::UnicodeNormalization as _;

/// A file of the folder.
#[derive(Debug, Clone, Deserialize)]
pub struct Entry {
    /// Its name.
    pub file: String,
    /// The format it is said to be.
    pub format: String,
    /// What it says.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// What opens it.
    #[serde(default)]
    pub password: Option<String>,
    /// What may become of it instead of a whole reading, in words.
    #[serde(default)]
    pub expect: Option<String>,
    /// Titles of its outline.
    #[serde(default)]
    pub outline_contains: Vec<String>,
}

/// Text that must be found, and where.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Fact {
    /// The text.
    pub text: String,
    /// Physical page of a PDF, from 1.
    #[serde(default)]
    pub page: Option<u32>,
    /// The number printed on that page.
    #[serde(default)]
    pub page_label: Option<String>,
    /// Slide, from 1.
    #[serde(default)]
    pub slide: Option<u32>,
    /// Sheet by name.
    #[serde(default)]
    pub sheet: Option<String>,
    /// Message of a mailbox, from 1.
    #[serde(default)]
    pub message: Option<u32>,
    /// Entry of an archive by path.
    #[serde(default)]
    pub entry: Option<String>,
    /// Text that a right reading may leave out.
    #[serde(default)]
    pub optional: bool,
}

/// The entries of `folder`'s `manifest.jsonl`.
///
/// # Errors
/// It is not there, or is no list of entries.
pub fn entries(folder: &Path) -> Result<Vec<Entry>> {
    let path = folder.join("manifest.jsonl");
    let manifest =
        std::fs::read_to_string(&path).with_context(|| format!("reading `{}`", path.display()))?;
    let entries = manifest.lines().map(serde_json::from_str);
    entries
        .collect::<Result<_, _>>()
        .context("an entry of the manifest")
}

impl Fact {
    /// Whether a page at `locator` may hold it.
    pub fn may_stand_at(&self, locator: &Locator) -> bool {
        match locator {
            Locator::PdfPage { physical, label } => {
                self.page.is_none_or(|page| page == *physical)
                    && (self.page_label.is_none() || self.page_label == *label)
            }
            Locator::Slide { number } => self.slide.is_none_or(|slide| slide == *number),
            Locator::Sheet { name, .. } => self.sheet.as_ref().is_none_or(|sheet| sheet == name),
            Locator::Message { number } => self.message.is_none_or(|message| message == *number),
            Locator::Entry { path, inner } => match &self.entry {
                Some(entry) => entry == path,
                None => self.may_stand_at(inner),
            },
            _ => self.is_placeless(),
        }
    }

    /// Whether it may stand anywhere in its document.
    fn is_placeless(&self) -> bool {
        self.page.is_none()
            && self.slide.is_none()
            && self.sheet.is_none()
            && self.message.is_none()
            && self.entry.is_none()
    }
}

/// A document as read: its pages in order.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// Number → place and Markdown.
    pub pages: BTreeMap<u32, (Locator, String)>,
    /// Chunks in order: the pages each stands on, and its text.
    pub chunks: Vec<(Vec<u32>, String)>,
}

/// Where a fact was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Found {
    /// In the Markdown of a page at its place.
    pub in_markdown: bool,
    /// In the chunks that stand on such a page.
    pub in_chunks: bool,
}

impl Reading {
    /// Where `fact` stands in it.
    pub fn find(&self, fact: &Fact) -> Found {
        let wanted = squeeze(&fact.text);
        let mut found = Found::default();
        for (number, (locator, markdown)) in &self.pages {
            if !fact.may_stand_at(locator) {
                continue;
            }
            found.in_markdown |= squeeze(markdown).contains(&wanted);
            let chunks = self
                .chunks
                .iter()
                .filter(|(pages, _)| pages.contains(number));
            // A fact may lie across the border of two chunks.
            let text: String = chunks.map(|(_, text)| text.as_str()).collect();
            found.in_chunks |= squeeze(&text).contains(&wanted);
        }
        found
    }
}

/// As texts are compared: NFKC, without invisible characters and white space, lower-case.
pub fn squeeze(text: &str) -> String {
    let invisible = |c: char| {
        c.is_whitespace()
            || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{61c}')
    };
    text.nfkc()
        .filter(|c| !invisible(*c))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_counts_at_its_place_only() {
        let page = |physical| Locator::PdfPage {
            physical,
            label: None,
        };
        let entry = |path: &str| Locator::Entry {
            path: path.to_owned(),
            inner: Box::new(page(2)),
        };
        let reading = Reading {
            pages: BTreeMap::from([
                (1, (page(1), "An other page".to_owned())),
                (2, (page(2), "The ﬁrst\n*line*".to_owned())),
                (3, (entry("a/b.pdf"), "within".to_owned())),
            ]),
            chunks: vec![
                (vec![1, 2], "page The ﬁr".to_owned()),
                (vec![2], "st li".to_owned()),
            ],
        };
        let fact = |text: &str| Fact {
            text: text.to_owned(),
            ..Fact::default()
        };
        let on = |page, text| Fact {
            page: Some(page),
            ..fact(text)
        };
        let both = Found {
            in_markdown: true,
            in_chunks: true,
        };
        assert_eq!(reading.find(&on(2, "first")), both);
        assert!(!reading.find(&on(1, "the first *")).in_markdown);
        assert_eq!(reading.find(&fact("FIRST")), both);
        let within = |path: &str| Fact {
            entry: Some(path.to_owned()),
            ..fact("within")
        };
        assert!(reading.find(&within("a/b.pdf")).in_markdown);
        assert!(!reading.find(&within("b.pdf")).in_markdown);
        assert!(!reading.find(&within("a/b.pdf")).in_chunks);
    }
}
