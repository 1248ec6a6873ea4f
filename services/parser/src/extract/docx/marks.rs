//! Markdown without what only a program follows: pictures, anchors and links to them.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// `markdown` with pictures as their description and links within the document as their text;
/// a line break within a table's cell becomes a space, one within a paragraph is written as two
/// spaces, which nobody sees in a quotation. The rest stays byte by byte.
pub(super) fn without_targets(markdown: &str) -> String {
    let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
        if !matches!(event, Event::End(TagEnd::Image | TagEnd::Link)) {
            for around in &mut open {
                around.inner(&range);
            }
        }
        match event {
            Event::Start(Tag::Image { .. }) => open.push(Open::new(range, true)),
            Event::Start(Tag::Link { dest_url, .. }) => {
                open.push(Open::new(range, dest_url.starts_with('#')));
            }
            Event::End(TagEnd::Image | TagEnd::Link) => {
                if let Some(closed) = open.pop().filter(|closed| closed.unwrapped) {
                    edits.extend(closed.marks().map(|mark| (mark, "")));
                }
            }
            Event::InlineHtml(html) | Event::Html(html) => {
                if html.starts_with("<br") {
                    edits.push((range, " "));
                } else if html.starts_with("<a id=") || html.starts_with("</a") {
                    edits.push((range, ""));
                }
            }
            Event::HardBreak if markdown.as_bytes().get(range.start) == Some(&b'\\') => {
                edits.push((range.start..range.start + 1, "  "));
            }
            _ => {}
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(markdown.len());
    let mut at = 0;
    for (range, with) in edits {
        out.push_str(markdown.get(at..range.start).unwrap_or_default());
        out.push_str(with);
        at = at.max(range.end);
    }
    out.push_str(markdown.get(at..).unwrap_or_default());
    out
}

/// A link or picture whose end has not come.
struct Open {
    whole: Range<usize>,
    inside: Option<Range<usize>>,
    unwrapped: bool,
}

impl Open {
    fn new(whole: Range<usize>, unwrapped: bool) -> Self {
        Self {
            whole,
            inside: None,
            unwrapped,
        }
    }

    fn inner(&mut self, range: &Range<usize>) {
        let inside = self.inside.get_or_insert_with(|| range.clone());
        inside.start = inside.start.min(range.start);
        inside.end = inside.end.max(range.end);
    }

    /// What stands around the text.
    fn marks(self) -> impl Iterator<Item = Range<usize>> {
        let inside = self.inside.unwrap_or(self.whole.end..self.whole.end);
        [self.whole.start..inside.start, inside.end..self.whole.end].into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marks_go() {
        #[track_caller]
        fn check(markdown: &str, expect: &str) {
            assert_eq!(without_targets(markdown), expect);
        }
        check(
            "a ![the *old* mill](http://x.example/a.png) b",
            "a the *old* mill b",
        );
        check("![](a.png)", "");
        check("[Intro **one**](#intro) 3", "Intro **one** 3");
        check("[list](http://x.example)", "[list](http://x.example)");
        check("[![alt](a.png)](#top) x", "alt x");
        check("<a id=\"x\"></a>text", "text");
        check(
            "| a |\n| --- |\n| one<br>two |\n",
            "| a |\n| --- |\n| one two |\n",
        );
        check("one\\\ntwo  \nthree\\", "one  \ntwo  \nthree\\");
        check(
            "`<br>` and 1 < 2\n\n```\n![](x)\n```\n",
            "`<br>` and 1 < 2\n\n```\n![](x)\n```\n",
        );
    }
}
