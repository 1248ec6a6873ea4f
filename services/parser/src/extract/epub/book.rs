//! What a book says about itself: title, authors, reading order, table of contents.

use std::collections::HashMap;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rbook::Epub;

use crate::extract::ExtractError;

/// A book without its text.
pub(super) struct Book {
    pub(super) title: Option<String>,
    authors: Vec<String>,
    publishers: Vec<String>,
    languages: Vec<String>,
    /// In reading order.
    pub(super) chapters: Vec<Chapter>,
}

/// A document of the reading order.
pub(super) struct Chapter {
    /// Path within the archive.
    pub(super) path: String,
    /// What the table of contents calls it.
    pub(super) label: Option<String>,
    /// Whether it is XHTML, and not a picture.
    pub(super) is_text: bool,
}

impl Chapter {
    /// Its name, or that of its file.
    pub(super) fn name(&self) -> String {
        let file = self.path.rsplit('/').next().unwrap_or(&self.path);
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        self.label.clone().unwrap_or_else(|| stem.to_owned())
    }
}

impl Book {
    pub(super) fn open(bytes: &[u8]) -> Result<Self, ExtractError> {
        let damaged = |what: &str| ExtractError::Damaged {
            what: what.to_owned(),
        };
        // The library may panic on what it does not expect.
        let read = catch_unwind(AssertUnwindSafe(|| {
            let book = Epub::read(Cursor::new(bytes.to_vec()));
            book.map(|book| Self::of(&book))
        }));
        let Ok(Ok(book)) = read else {
            return Err(damaged("the list of its chapters cannot be read"));
        };
        if book.chapters.is_empty() {
            return Err(damaged("it has no reading order"));
        }
        Ok(book)
    }

    fn of(book: &Epub) -> Self {
        let labels = labels(book);
        let chapters = book.spine().iter().map(|entry| {
            let Some(file) = entry.manifest_entry() else {
                return Chapter {
                    path: entry.idref().to_owned(),
                    label: None,
                    is_text: true,
                };
            };
            let path = path_of(&file.href().path().decode());
            let kind = file.media_type();
            Chapter {
                label: labels.get(&path).cloned(),
                is_text: !kind.starts_with("image/"),
                path,
            }
        });
        let metadata = book.metadata();
        let names = |name: &str| one_line(name);
        Self {
            title: metadata
                .title()
                .map(|title| one_line(title.value()))
                .filter(|t| !t.is_empty()),
            authors: metadata
                .creators()
                .map(|entry| names(entry.value()))
                .collect(),
            publishers: metadata
                .publishers()
                .map(|entry| names(entry.value()))
                .collect(),
            languages: metadata
                .languages()
                .map(|entry| entry.scheme().code().to_owned())
                .collect(),
            chapters: chapters.collect(),
        }
    }

    /// The title page as lines, each saying what it is.
    pub(super) fn about(&self) -> String {
        let title: Vec<String> = self.title.iter().cloned().collect();
        let lines = [
            ("Title", &title),
            ("Author", &self.authors),
            ("Publisher", &self.publishers),
            ("Language", &self.languages),
        ];
        let mut about = String::new();
        for (what, values) in lines {
            let values: Vec<&str> = values
                .iter()
                .map(String::as_str)
                .filter(|v| !v.is_empty())
                .collect();
            if !values.is_empty() {
                about.extend([what, ": ", &values.join(", "), "\n\n"]);
            }
        }
        about
    }
}

/// What the table of contents calls each document. Where entries lead to places within it only,
/// they name those, unless there is just one.
fn labels(book: &Epub) -> HashMap<String, String> {
    let mut whole = HashMap::new();
    let mut places: HashMap<String, Vec<String>> = HashMap::new();
    let Some(contents) = book.toc().contents() else {
        return whole;
    };
    for entry in contents.flatten() {
        let label = one_line(entry.label());
        let Some(href) = entry.href().filter(|_| !label.is_empty()) else {
            continue;
        };
        let path = path_of(&href.path().decode());
        if href.as_str().contains('#') {
            places.entry(path).or_default().push(label);
        } else {
            whole.entry(path).or_insert(label);
        }
    }
    for (path, mut labels) in places {
        if let (1, Some(label)) = (labels.len(), labels.pop()) {
            whole.entry(path).or_insert(label);
        }
    }
    whole
}

fn path_of(href: &str) -> String {
    href.trim_start_matches('/').to_owned()
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}
