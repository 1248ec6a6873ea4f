//! XML: feeds by their entries, drawings by their words, documents as paragraphs, all else as
//! data. Nothing outside the file is loaded.

mod document;
mod entities;
mod feed;
mod tree;
mod values;

use super::data::{Pages, write};
use super::{ExtractError, Extraction, Extractor, Input, charset, html};

use self::tree::{Element, Tree};

pub(super) struct XmlExtractor;

impl Extractor for XmlExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let decoded = charset::decode_declared(input.bytes, html::declared_encoding(input.bytes));
        let mut doubts = decoded.doubts();
        let Tree {
            root,
            rest,
            doubts: more,
        } = tree::parse(&decoded.text)?;
        doubts.extend(more);
        let mut pages = Pages::default();
        let mut title = None;
        let is_named = root.as_ref().is_some_and(|root| !root.name.is_empty());
        if !is_named && !decoded.text.trim().is_empty() {
            doubts.push("it is no XML and is read as text".to_owned());
        }
        if let Some(root) = &root {
            title = title_of(root);
            write_root(&mut pages, root);
        }
        if let Some(rest) = rest {
            pages.block(&super::lines::escape_marks(&without_tags(rest)));
        }
        Ok(Extraction {
            title,
            pages: pages.finish(doubts),
            ..Extraction::default()
        })
    }
}

fn write_root(pages: &mut Pages, root: &Element) {
    if feed::is_feed(root) {
        feed::write(pages, root);
    } else if root.name == "svg" {
        document::write_words(pages, root, &["title", "desc", "text"]);
    } else if document::is_document(root) {
        document::write(pages, root);
    } else {
        pages.heading(1, &root.name);
        write(pages, &values::of(root), 2);
    }
}

/// The text of the element that names the document, a level or two down.
fn title_of(root: &Element) -> Option<String> {
    let named = |element: &Element| element.child("title").map(Element::line);
    let title = named(root).or_else(|| root.elements().find_map(named))?;
    (!title.is_empty() && title.len() <= 300).then_some(title)
}

/// What is left of a text when its tags are taken out.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        out.push_str(before);
        out.push(' ');
        rest = tag.split_once('>').map_or(tag, |(_, after)| after);
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests;
