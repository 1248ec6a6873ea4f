//! Books in EPUB 2 and 3. A page is a document of the book's reading order, named as the table of
//! contents names it.

mod book;
mod protection;
mod xhtml;

use shared::contract::{Locator, PageRecord, ReadMethod};
use shared::format::Format;

use self::book::{Book, Chapter};
use self::protection::Protected;
use super::parts::Package;
use super::{ExtractError, ExtractedPage, Extraction, Extractor, Input, charset};

/// A chapter, unpacked.
const MOST_BYTES: u64 = 32 << 20;
/// Documents of a book; the rest is told as missing.
const MOST_CHAPTERS: usize = 5_000;

pub(super) struct EpubExtractor;

impl Extractor for EpubExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let mut package = Package::open(input.bytes)?;
        let protected = Protected::read(&mut package);
        let book = Book::open(input.bytes)?;
        let mut pages = Vec::new();
        for chapter in book.chapters.iter().take(MOST_CHAPTERS) {
            pages.push(
                match read(input, &mut package, (&book, chapter, &protected)) {
                    Ok(page) => page,
                    Err(reason) => missing(&chapter.name(), reason),
                },
            );
        }
        if book.chapters.len() > MOST_CHAPTERS {
            pages.push(missing(
                "the rest",
                "the book has more than 5,000 chapters".to_owned(),
            ));
        }
        if pages
            .iter()
            .all(|page| page.record.method == ReadMethod::Missing)
        {
            return Err(refusal(pages, &protected));
        }
        let about = book.about();
        if let Some(first) = pages.first_mut().filter(|_| !about.is_empty()) {
            first.markdown.insert_str(0, &about);
        }
        Ok(Extraction {
            title: book.title,
            pages,
            ..Extraction::default()
        })
    }
}

/// Why not one chapter is read.
fn refusal(pages: Vec<ExtractedPage>, protected: &Protected) -> ExtractError {
    if protected.any() {
        return ExtractError::Unsupported {
            what: "a book under copy protection (DRM)".to_owned(),
        };
    }
    let reason = pages.into_iter().find_map(|page| page.record.error);
    ExtractError::Damaged {
        what: reason.unwrap_or_else(|| "no chapter is in it".to_owned()),
    }
}

/// One chapter; the error says why it is missing.
fn read(
    input: &Input<'_>,
    package: &mut Package<'_>,
    (book, chapter, protected): (&Book, &Chapter, &Protected),
) -> Result<ExtractedPage, String> {
    if protected.contains(&chapter.path) {
        return Err("the chapter is under copy protection (DRM)".to_owned());
    }
    let bytes = package
        .part_up_to(&chapter.path, MOST_BYTES)
        .map_err(|error| format!("the chapter is not read: {}", error.reason()))?;
    if !chapter.is_text {
        // A cover that is a picture says nothing.
        return Ok(page(chapter.name(), "", Vec::new()));
    }
    let (html, own_title) = xhtml::as_html(&bytes);
    let read = input
        .part(Format::Html, &html)
        .map_err(|error| error.to_string())?;
    let Some(text) = read.pages.into_iter().next() else {
        return Err("the chapter is empty".to_owned());
    };
    let own_title = own_title.filter(|title| Some(title) != book.title.as_ref());
    let name = chapter
        .label
        .clone()
        .or_else(|| first_heading(&text))
        .or(own_title);
    let markdown = headed(&text.markdown, chapter.label.as_deref());
    Ok(page(
        name.unwrap_or_else(|| chapter.name()),
        &markdown,
        text.record.doubts,
    ))
}

fn first_heading(page: &ExtractedPage) -> Option<String> {
    match &page.record.locator {
        Locator::Section { heading } => Some(heading.clone()),
        _ => None,
    }
}

/// `markdown` under the name of its chapter, unless it has a heading already.
fn headed(markdown: &str, label: Option<&str>) -> String {
    let Some(label) = label.filter(|_| !markdown.trim().is_empty()) else {
        return markdown.to_owned();
    };
    let first = markdown
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    if first.starts_with('#') {
        return markdown.to_owned();
    }
    let rest = if first.trim() == label {
        let rest = markdown.trim_start().strip_prefix(first.trim_start());
        rest.unwrap_or(markdown)
    } else {
        markdown
    };
    format!("# {label}\n\n{}", rest.trim_start_matches('\n'))
}

fn page(name: String, markdown: &str, doubts: Vec<String>) -> ExtractedPage {
    ExtractedPage {
        record: PageRecord {
            number: 1,
            locator: Locator::Part { name },
            method: ReadMethod::Native,
            characters: 0,
            doubts,
            error: None,
        },
        markdown: charset::clean(markdown),
    }
}

fn missing(name: &str, error: String) -> ExtractedPage {
    let mut page = page(name.to_owned(), "", Vec::new());
    page.record.method = ReadMethod::Missing;
    page.record.error = Some(error);
    page
}

#[cfg(test)]
mod tests;
