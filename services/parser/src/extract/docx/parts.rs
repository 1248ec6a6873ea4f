//! What stands in a document's smaller parts: its title, headers, footers and comments.

use std::io::{Cursor, Read as _};

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

/// All these parts together, unpacked. They are small; what is beyond is not read.
const MOST_BYTES: u64 = 8 << 20;
/// Letters of a line with a page number that is worth keeping.
const FEW_LETTERS: usize = 12;

/// The parts that anydoc leaves out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) title: Option<String>,
    /// Lines to be put after the text, each saying what it is.
    pub(super) lines: Vec<String>,
}

impl Parts {
    /// What can be read of them: none is needed.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut parts = Self::default();
        let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes)) else {
            return parts;
        };
        let mut names: Vec<String> = archive
            .file_names()
            .filter(|name| label_of(name).is_some())
            .map(str::to_owned)
            .collect();
        names.sort();
        let mut left = MOST_BYTES;
        for name in names {
            let Ok(part) = archive.by_name(&name) else {
                continue;
            };
            let mut xml = Vec::new();
            if part.take(left).read_to_end(&mut xml).is_err() {
                continue;
            }
            left = left.saturating_sub(u64::try_from(xml.len()).unwrap_or(u64::MAX));
            parts.add(label_of(&name).unwrap_or_default(), &xml);
        }
        parts
    }

    fn add(&mut self, label: &str, xml: &[u8]) {
        let lines = lines(xml);
        if label == COMMENT {
            for Line { author, text } in lines {
                let author = author.map(|author| format!(" by {author}"));
                self.push(format!("{label}{}: {text}", author.unwrap_or_default()));
            }
            return;
        }
        let text: Vec<String> = lines.into_iter().map(|line| line.text).collect();
        let text = text.join("; ");
        if text.is_empty() {
            return;
        }
        if label == TITLE {
            self.title = Some(text);
        } else {
            self.push(format!("{label}: {text}"));
        }
    }

    /// Sections repeat their headers.
    fn push(&mut self, line: String) {
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }
}

const TITLE: &str = "Title";
const COMMENT: &str = "Comment";

/// What the part called `name` holds.
fn label_of(name: &str) -> Option<&'static str> {
    if name == "docProps/core.xml" {
        return Some(TITLE);
    }
    let name = name.strip_prefix("word/")?.strip_suffix(".xml")?;
    let is = |stem: &str| {
        let number = name.strip_prefix(stem);
        number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
    };
    if is("header") {
        Some("Page header")
    } else if is("footer") {
        Some("Page footer")
    } else if is("comments") {
        Some(COMMENT)
    } else {
        None
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Line {
    author: Option<String>,
    text: String,
}

/// The paragraphs of a part.
fn lines(xml: &[u8]) -> Vec<Line> {
    let mut reader = Reader::from_reader(xml);
    reader.config_mut().check_end_names = false;
    let mut walk = Walk::default();
    // A part that breaks off gives what came before.
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(tag) => walk.start(&tag),
            Event::Empty(tag) => walk.empty(&tag),
            Event::End(tag) => walk.end(tag.local_name().as_ref()),
            Event::Text(text) => walk.text(&text.decode().unwrap_or_default()),
            Event::CData(text) => walk.text(&text.decode().unwrap_or_default()),
            Event::GeneralRef(entity) => {
                let name = entity.decode().unwrap_or_default();
                match entity.resolve_char_ref() {
                    Ok(Some(c)) => walk.text(c.encode_utf8(&mut [0; 4])),
                    _ => walk.text(resolve_xml_entity(&name).unwrap_or_default()),
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    walk.close();
    walk.lines
}

#[derive(Default)]
struct Walk {
    lines: Vec<Line>,
    author: Option<String>,
    text: String,
    /// Within an element whose text is read.
    reading: bool,
    /// Open elements since one that is left out began; 0 outside.
    left_out: usize,
    /// Within a field, such as the number of the page.
    in_field: bool,
    has_field: bool,
}

impl Walk {
    fn start(&mut self, tag: &BytesStart<'_>) {
        let name = tag.local_name();
        if self.left_out > 0 {
            self.left_out += 1;
            return;
        }
        match name.as_ref() {
            // Removed text, and the second form of what newer programs show in the first.
            b"del" | b"moveFrom" | b"Fallback" => self.left_out = 1,
            b"fldSimple" => {
                self.has_field = true;
                self.left_out = 1;
            }
            b"t" | b"title" => self.reading = true,
            b"comment" => self.author = attribute(tag, b"author"),
            _ => {}
        }
    }

    fn empty(&mut self, tag: &BytesStart<'_>) {
        match tag.local_name().as_ref() {
            b"tab" | b"br" | b"cr" | b"ptab" if self.left_out == 0 => self.text.push(' '),
            b"fldChar" => {
                let kind = attribute(tag, b"fldCharType");
                self.in_field = kind.as_deref() != Some("end");
                self.has_field = true;
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        if self.left_out > 0 {
            self.left_out -= 1;
            return;
        }
        match name {
            b"t" => self.reading = false,
            b"p" => self.close(),
            b"title" => {
                self.reading = false;
                self.close();
            }
            b"comment" => self.author = None,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.reading && self.left_out == 0 && !self.in_field {
            self.text.push_str(text);
        }
    }

    fn close(&mut self) {
        let words: Vec<&str> = self.text.split_whitespace().collect();
        let text = words.join(" ");
        let letters = text.chars().filter(|c| c.is_alphabetic()).count();
        let wanted = if self.has_field { FEW_LETTERS } else { 1 };
        if letters >= wanted {
            self.lines.push(Line {
                author: self.author.clone(),
                text,
            });
        }
        self.text.clear();
        (self.reading, self.in_field, self.has_field) = (false, false, false);
    }
}

fn attribute(tag: &BytesStart<'_>, name: &[u8]) -> Option<String> {
    let found = tag
        .attributes()
        .filter_map(Result::ok)
        .find(|attribute| attribute.key.local_name().as_ref() == name)?;
    let value = String::from_utf8_lossy(&found.value).trim().to_owned();
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(xml: &str, expect: &[(Option<&str>, &str)]) {
        let found = lines(xml.as_bytes());
        let found: Vec<_> = found
            .iter()
            .map(|line| (line.author.as_deref(), line.text.as_str()))
            .collect();
        assert_eq!(found, expect, "{xml}");
    }

    #[test]
    fn paragraphs_are_lines() {
        check(
            "<w:hdr><w:p><w:r><w:t>Ann &amp; </w:t><w:tab/><w:t>B&#233;a</w:t></w:r></w:p></w:hdr>",
            &[(None, "Ann & Béa")],
        );
        check(
            "<w:comment w:author=\"Ann\"><w:p><w:r><w:t>why?</w:t></w:r></w:p></w:comment>\
             <w:comment><w:p><w:r><w:t>so</w:t></w:r></w:p></w:comment>",
            &[(Some("Ann"), "why?"), (None, "so")],
        );
        check(
            "<w:p><w:del><w:r><w:t>old</w:t></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins></w:p>",
            &[(None, "new")],
        );
        check(
            "<w:p><w:r><w:t>12 / 13</w:t></w:r></w:p><w:p><w:r><w:t>cut",
            &[(None, "cut")],
        );
    }

    #[test]
    fn page_numbers_are_no_text() {
        let field = "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>PAGE</w:instrText>\
                     </w:r><w:r><w:fldChar w:fldCharType=\"separate\"/></w:r><w:r><w:t>iii</w:t></w:r>\
                     <w:r><w:fldChar w:fldCharType=\"end\"/></w:r>";
        check(
            &format!("<w:p><w:r><w:t>Page </w:t></w:r>{field}</w:p>"),
            &[],
        );
        check(
            &format!("<w:p><w:r><w:t>Northgate agreement, </w:t></w:r>{field}</w:p>"),
            &[(None, "Northgate agreement,")],
        );
        check(
            "<w:p><w:fldSimple><w:r><w:t>iv</w:t></w:r></w:fldSimple></w:p>",
            &[],
        );
    }

    #[test]
    fn parts_are_known_by_name() {
        assert_eq!(label_of("word/header12.xml"), Some("Page header"));
        assert_eq!(label_of("word/comments.xml"), Some("Comment"));
        assert_eq!(label_of("word/headers/a.xml"), None);
        assert_eq!(label_of("word/commentsExtended.xml"), None);
    }
}
