//! What a book says about itself: title, authors, reading order, table of contents.

#[cfg(feature = "epub")]
#[path = "book/epub.rs"]
mod library;
#[cfg(not(feature = "epub"))]
#[path = "book/rbook.rs"]
mod library;

use std::collections::HashMap;
use std::panic::catch_unwind;

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
        let Ok(Some(book)) = catch_unwind(|| library::read(bytes)) else {
            return Err(damaged("the list of its chapters cannot be read"));
        };
        if book.chapters.is_empty() {
            return Err(damaged("it has no reading order"));
        }
        Ok(book)
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
#[derive(Default)]
struct Labels {
    whole: HashMap<String, String>,
    places: HashMap<String, Vec<String>>,
}

impl Labels {
    fn add(&mut self, path: String, label: &str, is_place: bool) {
        let label = one_line(label);
        if label.is_empty() {
            return;
        }
        if is_place {
            self.places.entry(path).or_default().push(label);
        } else {
            self.whole.entry(path).or_insert(label);
        }
    }

    fn settled(mut self) -> HashMap<String, String> {
        for (path, mut labels) in self.places {
            if let (1, Some(label)) = (labels.len(), labels.pop()) {
                self.whole.entry(path).or_insert(label);
            }
        }
        self.whole
    }
}

fn path_of(href: &str) -> String {
    href.trim_start_matches('/').to_owned()
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}
