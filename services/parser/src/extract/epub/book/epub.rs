//! The book by the crate `epub`, which is under the GPL: only with the feature of that name. It reads
//! tables of contents in NCX alone, so that chapters of EPUB 3 are named by their headings.

use std::collections::HashMap;
use std::io::Cursor;

use epub::doc::{EpubDoc, NavPoint};
use percent_encoding::percent_decode_str;

use super::{Book, Chapter, Labels, one_line, path_of};

/// Levels of a table of contents that are looked at.
const MOST_LEVELS: usize = 32;

type Doc<'a> = EpubDoc<Cursor<&'a [u8]>>;

/// `None` when it is no book that the crate reads.
pub(super) fn read(bytes: &[u8]) -> Option<Book> {
    let book = EpubDoc::from_reader(Cursor::new(bytes)).ok()?;
    Some(of(&book))
}

fn of(book: &Doc<'_>) -> Book {
    let labels = labels(book);
    let chapters = book.spine.iter().map(|item| {
        let Some(file) = book.resources.get(&item.idref) else {
            return Chapter {
                path: item.idref.clone(),
                label: None,
                is_text: true,
            };
        };
        let path = decoded(&file.path.to_string_lossy());
        Chapter {
            label: labels.get(&path).cloned(),
            is_text: !file.mime.starts_with("image/"),
            path,
        }
    });
    let all = |property: &str| {
        let items = book
            .metadata
            .iter()
            .filter(|item| item.property == property);
        items.map(|item| one_line(&item.value)).collect::<Vec<_>>()
    };
    Book {
        title: book
            .get_title()
            .map(|title| one_line(&title))
            .filter(|title| !title.is_empty()),
        authors: all("creator"),
        publishers: all("publisher"),
        languages: all("language"),
        chapters: chapters.collect(),
    }
}

/// The crate gives addresses as they are written.
fn decoded(href: &str) -> String {
    path_of(&percent_decode_str(href).decode_utf8_lossy())
}

fn labels(book: &Doc<'_>) -> HashMap<String, String> {
    let mut labels = Labels::default();
    add(&mut labels, &book.toc, MOST_LEVELS);
    labels.settled()
}

fn add(labels: &mut Labels, points: &[NavPoint], levels: usize) {
    for point in points {
        let content = point.content.to_string_lossy();
        let (path, is_place) = match content.split_once('#') {
            Some((path, _)) => (path, true),
            None => (content.as_ref(), false),
        };
        labels.add(decoded(path), &point.label, is_place);
        if let Some(levels) = levels.checked_sub(1) {
            add(labels, &point.children, levels);
        }
    }
}
