//! XML parts, element by element, without ever building a tree.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};

use super::marks::is_mark;

/// Elements within elements: deeper ones that are open already give their content to the one
/// above, so that text keeps its paragraph.
const MOST_NESTED: usize = 200;
/// Elements within elements, at most.
const DEEPEST: usize = 240;
/// The declaration of an encoding stands within this many bytes.
const HEAD: usize = 200;

/// The text of a part, by its byte order mark or its declaration, else as UTF-8.
pub(in crate::extract) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        let body = bytes.get(length..).unwrap_or_default();
        return encoding.decode_without_bom_handling(body).0;
    }
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    let encoding = match head {
        [b'<', 0, ..] => encoding_rs::UTF_16LE,
        [0, b'<', ..] => encoding_rs::UTF_16BE,
        head => declared(head).unwrap_or(UTF_8),
    };
    encoding.decode_without_bom_handling(bytes).0
}

fn declared(head: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(head);
    let (_, after) = head.strip_prefix("<?xml")?.split_once("encoding")?;
    let after = after.trim_start().strip_prefix('=')?.trim_start();
    let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let label = after.split(quote).nth(1)?;
    Encoding::for_label(label.as_bytes())
}

/// The beginning of an element.
pub(in crate::extract) struct Tag<'a> {
    start: BytesStart<'a>,
}

impl Tag<'_> {
    /// Its whole name.
    pub(in crate::extract) fn name(&self) -> &str {
        std::str::from_utf8(self.start.name().into_inner()).unwrap_or_default()
    }

    /// Its name's namespace prefix, empty where it has none.
    pub(in crate::extract) fn prefix(&self) -> &str {
        split(self.name()).0
    }

    /// Its name without the prefix.
    pub(in crate::extract) fn local(&self) -> &str {
        split(self.name()).1
    }

    /// The value of the attribute called `local`, whatever its prefix.
    pub(in crate::extract) fn attribute(&self, local: &str) -> Option<String> {
        let mut attributes = self.start.attributes();
        let found = attributes
            .with_checks(false)
            .filter_map(Result::ok)
            .find(|attribute| attribute.key.local_name().as_ref() == local.as_bytes())?;
        let raw = std::str::from_utf8(&found.value).ok()?;
        Some(unescaped(raw))
    }

    /// The value of the attribute called `local` that has a prefix, such as `r:id` beside `id`.
    pub(in crate::extract) fn prefixed(&self, local: &str) -> Option<String> {
        let mut attributes = self.start.attributes();
        let is_it = |name: &[u8]| {
            let name = std::str::from_utf8(name).unwrap_or_default();
            matches!(split(name), (prefix, found) if !prefix.is_empty() && found == local)
        };
        let found = attributes
            .with_checks(false)
            .filter_map(Result::ok)
            .find(|attribute| is_it(attribute.key.into_inner()))?;
        std::str::from_utf8(&found.value).ok().map(unescaped)
    }

    /// Whether the attribute called `local` says yes, as both families of formats write it.
    pub(in crate::extract) fn says(&self, local: &str) -> bool {
        matches!(self.attribute(local).as_deref(), Some("1" | "true" | "on"))
    }

    /// The element as it was written, without its angle brackets.
    fn raw(&self) -> &str {
        std::str::from_utf8(&self.start).unwrap_or_default()
    }
}

/// A name's prefix and the rest.
pub(in crate::extract) fn split(name: &str) -> (&str, &str) {
    name.split_once(':').unwrap_or(("", name))
}

/// `text` with entities of XML and numbered characters resolved; others stay as they are.
pub(in crate::extract) fn unescaped(text: &str) -> String {
    quick_xml::escape::unescape_with(text, |name| resolve_xml_entity(name).or(Some("")))
        .map_or_else(|_| text.to_owned(), Cow::into_owned)
}

/// `text` as it may stand in an element or an attribute.
pub(in crate::extract) fn escaped(text: &str) -> Cow<'_, str> {
    quick_xml::escape::escape(text)
}

/// What happens in a part.
pub(in crate::extract) trait Visit {
    /// An element begins.
    fn open(&mut self, tag: &Tag<'_>);
    /// Text, without entities.
    fn text(&mut self, text: &str);
    /// The element called `name` ends.
    fn close(&mut self, name: &str);
}

/// Shows `xml` to `visit`; says whether it came to its end in good order. What is open when it
/// breaks off is closed.
pub(in crate::extract) fn visit(xml: &str, visit: &mut impl Visit) -> bool {
    let mut reader = reader(xml);
    let mut open: Vec<String> = Vec::new();
    let whole = loop {
        match reader.read_event() {
            Ok(Event::Start(start)) => {
                let tag = Tag { start };
                visit.open(&tag);
                open.push(tag.name().to_owned());
            }
            Ok(Event::Empty(start)) => {
                let tag = Tag { start };
                visit.open(&tag);
                visit.close(tag.name());
            }
            Ok(Event::End(_)) => {
                if let Some(name) = open.pop() {
                    visit.close(&name);
                }
            }
            Ok(Event::Eof) => break open.is_empty(),
            Ok(event) => {
                if let Some(text) = text_of(&event) {
                    visit.text(&text);
                }
            }
            Err(_) => break false,
        }
    };
    while let Some(name) = open.pop() {
        visit.close(&name);
    }
    whole
}

fn reader(xml: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(xml);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    reader
}

/// The text of an event that is text; our own signs are taken out of it. Entities that the part
/// itself defines are not resolved.
fn text_of(event: &Event<'_>) -> Option<String> {
    let text = match event {
        Event::Text(text) => String::from_utf8_lossy(text).into_owned(),
        Event::CData(text) => String::from_utf8_lossy(text).into_owned(),
        Event::GeneralRef(entity) => {
            if let Ok(Some(c)) = entity.resolve_char_ref() {
                c.to_string()
            } else {
                let name = String::from_utf8_lossy(entity);
                resolve_xml_entity(&name).unwrap_or_default().to_owned()
            }
        }
        _ => return None,
    };
    if text.contains(is_mark) {
        return Some(text.replace(is_mark, ""));
    }
    Some(text)
}

/// What becomes of an element.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::extract) enum Step {
    /// It stays.
    Keep,
    /// It stays, under another name.
    Rename(String),
    /// It stays, and this XML begins its content.
    KeepWith(String),
    /// Its content takes its place.
    Unwrap,
    /// It goes with all its content.
    Skip,
}

/// Changes a part while it is written again.
pub(in crate::extract) trait Filter {
    /// An element begins; `out` ends before it.
    fn open(&mut self, tag: &Tag<'_>, out: &mut String) -> Step;
    /// Text, without entities.
    fn text(&mut self, text: &str, out: &mut String) {
        out.push_str(&escaped(text));
    }
    /// The element called `name`, which was not skipped, has ended; `out` ends after it.
    fn closed(&mut self, _name: &str, _out: &mut String) {}
}

/// `xml` as `filter` changes it, well-formed whatever it was, in UTF-8; and whether it came to its
/// end in good order.
pub(in crate::extract) fn rewrite(xml: &str, filter: &mut impl Filter) -> (String, bool) {
    let mut rewriting = Rewriting {
        out: String::with_capacity(xml.len()),
        open: Vec::new(),
        written: Vec::new(),
        skipping: 0,
        filter,
    };
    let whole = visit(xml, &mut rewriting);
    (rewriting.out, whole)
}

struct Rewriting<'a, F> {
    out: String,
    /// For each open element whether it is written, not unwrapped.
    open: Vec<bool>,
    /// The names that those are written with.
    written: Vec<String>,
    /// Open elements within a skipped one, itself included.
    skipping: usize,
    filter: &'a mut F,
}

impl<F: Filter> Visit for Rewriting<'_, F> {
    fn open(&mut self, tag: &Tag<'_>) {
        if self.skipping > 0 {
            self.skipping += 1;
            return;
        }
        let (name, content) = match self.filter.open(tag, &mut self.out) {
            Step::Skip => {
                self.skipping = 1;
                return;
            }
            Step::Unwrap => (None, String::new()),
            Step::Keep => (Some(tag.name().to_owned()), String::new()),
            Step::Rename(name) => (Some(name), String::new()),
            Step::KeepWith(content) => (Some(tag.name().to_owned()), content),
        };
        let depth = self.written.len();
        let name = name.filter(|name| {
            depth < MOST_NESTED || (depth < DEEPEST && !self.written.contains(name))
        });
        self.open.push(name.is_some());
        if let Some(name) = name {
            self.out.push('<');
            self.out.push_str(&name);
            self.written.push(name);
            self.out
                .push_str(tag.raw().strip_prefix(tag.name()).unwrap_or_default());
            self.out.push('>');
        }
        self.out.push_str(&content);
    }

    fn text(&mut self, text: &str) {
        if self.skipping == 0 {
            self.filter.text(text, &mut self.out);
        }
    }

    fn close(&mut self, name: &str) {
        if self.skipping > 0 {
            self.skipping -= 1;
            return;
        }
        if self.open.pop() == Some(true)
            && let Some(written) = self.written.pop()
        {
            self.out.push_str("</");
            self.out.push_str(&written);
            self.out.push('>');
        }
        self.filter.closed(name, &mut self.out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sample;

    impl Filter for Sample {
        fn open(&mut self, tag: &Tag<'_>, _out: &mut String) -> Step {
            match tag.local() {
                "gone" => Step::Skip,
                "around" => Step::Unwrap,
                "old" => Step::Rename("x:new".to_owned()),
                "first" => Step::KeepWith("<one/>".to_owned()),
                _ => Step::Keep,
            }
        }
    }

    #[track_caller]
    fn check(xml: &str, expect: &str, whole: bool) {
        assert_eq!(
            rewrite(xml, &mut Sample),
            (expect.to_owned(), whole),
            "{xml}"
        );
    }

    #[test]
    fn elements_stay_go_and_change() {
        check("<a b=\"1\"><c/>x</a>", "<a b=\"1\"><c></c>x</a>", true);
        check("<a>1<gone>2<b/></gone><gone/>3</a>", "<a>13</a>", true);
        check(
            "<a><around>1<b>2</b></around></a>",
            "<a>1<b>2</b></a>",
            true,
        );
        check(
            "<a><y:old z=\"1\"/></a>",
            "<a><x:new z=\"1\"></x:new></a>",
            true,
        );
        check(
            "<a><first>1</first></a>",
            "<a><first><one/>1</first></a>",
            true,
        );
    }

    #[test]
    fn whatever_comes_is_written_well_formed() {
        check("<a><b>cut", "<a><b>cut</b></a>", false);
        check("<a><b>cut</", "<a><b>cut</b></a>", false);
        check("<a><b>1</a>2</b>", "<a><b>1</b>2</a>", true);
        check("<a>1</a></a></b>", "<a>1</a>", true);
        check(
            "<a>R&D &amp; &#65;&lt;</a>",
            "<a>R&amp;D &amp; A&lt;</a>",
            true,
        );
        check("<a><![CDATA[1 < 2]]></a>", "<a>1 &lt; 2</a>", true);
        check("<a>\u{fdd0}1&#xFDD1;</a>", "<a>1</a>", true);
        check(
            "<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c SYSTEM \"file:///etc/passwd\">]><a>&b;&c;1</a>",
            "<a>1</a>",
            true,
        );
        let deep = format!("{}text{}", "<d>".repeat(100_000), "</d>".repeat(100_000));
        let (out, whole) = rewrite(&deep, &mut Sample);
        assert!(whole && out.matches("<d>").count() == MOST_NESTED && out.contains("text"));
    }

    #[test]
    fn encodings_are_found() {
        #[track_caller]
        fn check(bytes: &[u8]) {
            assert!(decode(bytes).contains("<a>é</a>"), "{bytes:?}");
        }
        check("<a>é</a>".as_bytes());
        check(b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>");
        check(b"\xef\xbb\xbf<a>\xc3\xa9</a>");
        let wide: Vec<u8> = "<a>é</a>"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        check(&wide);
        check(&[b"\xff\xfe".as_slice(), &wide].concat());
    }
}
