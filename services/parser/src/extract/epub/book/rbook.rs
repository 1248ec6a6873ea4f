//! The book by the crate `rbook`.

use std::collections::HashMap;
use std::io::Cursor;

use rbook::Epub;

use super::{Book, Chapter, Labels, one_line, path_of};

/// `None` when it is no book that the crate reads.
pub(super) fn read(bytes: &[u8]) -> Option<Book> {
    let book = Epub::read(Cursor::new(bytes.to_vec())).ok()?;
    Some(of(&book))
}

fn of(book: &Epub) -> Book {
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
    Book {
        title: metadata
            .title()
            .map(|title| one_line(title.value()))
            .filter(|t| !t.is_empty()),
        authors: metadata
            .creators()
            .map(|entry| one_line(entry.value()))
            .collect(),
        publishers: metadata
            .publishers()
            .map(|entry| one_line(entry.value()))
            .collect(),
        languages: metadata
            .languages()
            .map(|entry| entry.scheme().code().to_owned())
            .collect(),
        chapters: chapters.collect(),
    }
}

fn labels(book: &Epub) -> HashMap<String, String> {
    let mut labels = Labels::default();
    if let Some(contents) = book.toc().contents() {
        for entry in contents.flatten() {
            if let Some(href) = entry.href() {
                let path = path_of(&href.path().decode());
                labels.add(path, entry.label(), href.as_str().contains('#'));
            }
        }
    }
    labels.settled()
}
