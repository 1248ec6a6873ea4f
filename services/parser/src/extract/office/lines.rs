//! Paragraphs of a part as plain lines: for the smaller parts of documents, and for those that no
//! better reader understands.

use super::xml::{Tag, Visit, visit};

/// Letters of a line with a page number that is worth keeping.
const FEW_LETTERS: usize = 12;

/// A paragraph.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::extract) struct Line {
    /// Who wrote it, where it says so: its name, or a number that stands for it elsewhere.
    pub(in crate::extract) author: Option<String>,
    /// Its text, without line breaks.
    pub(in crate::extract) text: String,
}

/// The paragraphs of an Office part: text in `t` elements, without what is removed, and without
/// lines that are little more than the number of the page.
pub(in crate::extract) fn office(xml: &str) -> Vec<Line> {
    let mut walk = Walk::default();
    visit(xml, &mut walk);
    walk.end_line();
    walk.lines
}

/// The paragraphs of an OpenDocument part, without its tracked deletions.
pub(in crate::extract) fn open_document(xml: &str) -> Vec<Line> {
    let mut walk = Walk {
        is_open_document: true,
        ..Walk::default()
    };
    visit(xml, &mut walk);
    walk.end_line();
    walk.lines
}

#[derive(Default)]
struct Walk {
    lines: Vec<Line>,
    author: Option<String>,
    text: String,
    is_open_document: bool,
    /// Open elements whose text is read.
    reading: usize,
    /// Open elements since one that is left out began; 0 outside.
    left_out: usize,
    /// Within a field, such as the number of the page.
    in_field: bool,
    has_field: bool,
}

impl Walk {
    fn is_left_out(&self, local: &str) -> bool {
        if self.is_open_document {
            // Removed text, and what stands beside the text.
            matches!(
                local,
                "tracked-changes" | "automatic-styles" | "ruby-text" | "page-thumbnail"
            )
        } else {
            // Removed text, and the second form of what newer programs show in the first.
            matches!(local, "del" | "moveFrom" | "Fallback" | "fldSimple" | "rt")
        }
    }

    fn is_read(&self, local: &str) -> bool {
        if self.is_open_document {
            matches!(local, "p" | "h")
        } else {
            matches!(local, "t" | "title")
        }
    }

    fn is_page_number(&self, local: &str) -> bool {
        self.is_open_document && matches!(local, "page-number" | "page-count")
    }

    fn end_line(&mut self) {
        let words: Vec<&str> = self.text.split_whitespace().collect();
        let text = words.join(" ");
        let letters = text.chars().filter(|c| c.is_alphabetic()).count();
        let wanted = if self.has_field { FEW_LETTERS } else { 1 };
        let has_digits = text.chars().any(|c| c.is_ascii_digit());
        if letters >= wanted || (self.is_open_document && !self.has_field && has_digits) {
            self.lines.push(Line {
                author: self.author.clone(),
                text,
            });
        }
        self.text.clear();
        (self.in_field, self.has_field) = (false, false);
    }
}

impl Visit for Walk {
    fn open(&mut self, tag: &Tag<'_>) {
        if self.left_out > 0 {
            self.left_out += 1;
            return;
        }
        let local = tag.local();
        if self.is_left_out(local) || self.is_page_number(local) {
            self.has_field |= local == "fldSimple" || self.is_page_number(local);
            self.left_out = 1;
            return;
        }
        if self.is_read(local) {
            self.reading += 1;
        }
        match local {
            "comment" => self.author = tag.attribute("author"),
            "tab" | "br" | "cr" | "ptab" | "s" | "line-break" => self.text.push(' '),
            "noBreakHyphen" => self.text.push('-'),
            "fldChar" => {
                let kind = tag.attribute("fldCharType");
                self.in_field = kind.as_deref() != Some("end");
                self.has_field = true;
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.reading > 0 && self.left_out == 0 && !self.in_field {
            self.text.push_str(text);
        }
    }

    fn close(&mut self, name: &str) {
        if self.left_out > 0 {
            self.left_out -= 1;
            return;
        }
        let local = super::xml::split(name).1;
        if self.is_read(local) {
            self.reading = self.reading.saturating_sub(1);
        }
        match local {
            "p" | "h" | "title" => self.end_line(),
            "comment" => self.author = None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(xml: &str, expect: &[(Option<&str>, &str)]) {
        assert_lines(&office(xml), expect);
    }

    #[track_caller]
    fn assert_lines(found: &[Line], expect: &[(Option<&str>, &str)]) {
        let found: Vec<_> = found
            .iter()
            .map(|line| (line.author.as_deref(), line.text.as_str()))
            .collect();
        assert_eq!(found, expect);
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
    fn open_documents_have_paragraphs_too() {
        let lines = open_document(
            "<office:text><text:tracked-changes><text:p>gone</text:p></text:tracked-changes>\
             <text:h>Plan</text:h><text:p>one<text:s/><text:span>two</text:span></text:p>\
             <text:p>Page <text:page-number>3</text:page-number></text:p></office:text>",
        );
        assert_lines(&lines, &[(None, "Plan"), (None, "one two")]);
    }
}
