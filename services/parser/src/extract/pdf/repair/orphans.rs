//! Page contents whose pages are lost, with their fonts: each becomes a page in a plain font, so
//! that at least text in a common encoding is read.

use std::collections::BTreeSet;

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

/// One content unpacks to at most this many bytes.
const MAX_CONTENT_BYTES: usize = 16 << 20;
/// More pages than this are not made up.
const MOST_PAGES: usize = 5000;

/// A new page for each stream that sets text, in the order of the streams.
pub(super) fn pages(document: &mut Document) -> Vec<ObjectId> {
    let contents: Vec<(ObjectId, BTreeSet<Vec<u8>>)> = document
        .objects
        .iter()
        .filter_map(|(id, object)| Some((*id, fonts_of(object.as_stream().ok()?)?)))
        .take(MOST_PAGES)
        .collect();
    let mut plain = Dictionary::new();
    plain.set("Type", name(b"Font"));
    plain.set("Subtype", name(b"Type1"));
    plain.set("BaseFont", name(b"Helvetica"));
    let font = document.add_object(plain);
    contents
        .into_iter()
        .map(|(content, names)| {
            let fonts: Dictionary = names.into_iter().map(|name| (name, font.into())).collect();
            let mut resources = Dictionary::new();
            resources.set("Font", fonts);
            let mut page = Dictionary::new();
            page.set("Type", name(b"Page"));
            page.set("Contents", content);
            page.set("Resources", resources);
            document.add_object(page)
        })
        .collect()
}

fn name(name: &[u8]) -> Object {
    Object::Name(name.to_vec())
}

/// The names of the fonts that a content selects; `None` when it sets no text.
fn fonts_of(stream: &Stream) -> Option<BTreeSet<Vec<u8>>> {
    // Fonts, pictures, tables of objects and the like say what they are.
    let is_other = [
        b"Type".as_slice(),
        b"Subtype",
        b"Length1",
        b"Width",
        b"FunctionType",
    ]
    .into_iter()
    .any(|key| stream.dict.has(key));
    if is_other {
        return None;
    }
    let content = stream
        .get_plain_content_with_limit(MAX_CONTENT_BYTES)
        .ok()?;
    let mut words = content
        .split(|byte| byte.is_ascii_whitespace() || b"[(<".contains(byte))
        .filter(|word| !word.is_empty());
    let mut before = [b"".as_slice(); 2];
    let mut fonts = BTreeSet::new();
    words.by_ref().for_each(|word| {
        let [name, last] = before;
        if word == b"Tf" {
            fonts.extend(name.strip_prefix(b"/").map(<[u8]>::to_vec));
        }
        before = [last, word];
    });
    (!fonts.is_empty()).then_some(fonts)
}
