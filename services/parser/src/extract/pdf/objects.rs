//! Looking things up in lopdf's objects. References are followed; what is absent, broken or of
//! another kind is `None`.

use lopdf::{Dictionary, Document, Object};

use crate::extract::clean;

pub(super) fn resolve<'a>(
    document: &'a Document,
    node: &'a Dictionary,
    key: &[u8],
) -> Option<&'a Object> {
    follow(document, node.get(key).ok()?)
}

/// What `object` refers to, or itself.
pub(super) fn follow<'a>(document: &'a Document, object: &'a Object) -> Option<&'a Object> {
    document.dereference(object).ok().map(|(_, object)| object)
}

pub(super) fn dictionary<'a>(
    document: &'a Document,
    node: &'a Dictionary,
    key: &[u8],
) -> Option<&'a Dictionary> {
    resolve(document, node, key)?.as_dict().ok()
}

pub(super) fn array<'a>(
    document: &'a Document,
    node: &'a Dictionary,
    key: &[u8],
) -> Option<&'a [Object]> {
    resolve(document, node, key)?
        .as_array()
        .ok()
        .map(Vec::as_slice)
}

pub(super) fn integer(document: &Document, node: &Dictionary, key: &[u8]) -> Option<i64> {
    resolve(document, node, key)?.as_i64().ok()
}

pub(super) fn name<'a>(
    document: &'a Document,
    node: &'a Dictionary,
    key: &[u8],
) -> Option<&'a [u8]> {
    resolve(document, node, key)?.as_name().ok()
}

/// The text string at `key`, cleaned, on one line, when it says anything.
pub(super) fn text(document: &Document, node: &Dictionary, key: &[u8]) -> Option<String> {
    one_line(&text_string(resolve(document, node, key)?)?)
}

/// `text` with its white space as single spaces, unless it is empty.
pub(super) fn one_line(text: &str) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

/// A PDF text string: UTF-16 or UTF-8 after a mark, `PDFDocEncoding` else (ISO 32000-2, 7.9.2.2).
pub(super) fn text_string(object: &Object) -> Option<String> {
    lopdf::decode_text_string(object)
        .ok()
        .map(|text| clean(&text))
}
