//! The content of an OpenDocument file in a form that `anydoc` reads whole: hidden text marked,
//! shapes where it looks for them, and the place of each slide before it.

use super::super::office::marks::{HIDE, SHOW, place};
use super::super::office::xml::{Filter, Step, Tag, escaped};
use super::styles::HiddenStyles;

/// What the document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A text.
    Text,
    /// A presentation.
    Slides,
}

/// Filters the content.
pub(super) struct ContentFilter<'a> {
    content: Content,
    hidden: &'a HiddenStyles,
    /// What each open element that is kept adds after its end.
    open: Vec<Open>,
    /// How many of them hide their text.
    hiding: usize,
    /// Whether the text at hand stands in a paragraph, for each text box around it.
    in_paragraph: Vec<bool>,
    /// For each slide whether it is hidden.
    pub(super) slides: Vec<bool>,
}

#[derive(Default)]
struct Open {
    hides: bool,
    is_paragraph: bool,
    is_box: bool,
    after: &'static str,
}

impl<'a> ContentFilter<'a> {
    /// For a document with the styles `hidden`.
    pub(super) fn new(content: Content, hidden: &'a HiddenStyles) -> Self {
        Self {
            content,
            hidden,
            open: Vec::new(),
            hiding: 0,
            in_paragraph: vec![false],
            slides: Vec::new(),
        }
    }

    fn is_in_paragraph(&self) -> bool {
        self.in_paragraph.last().copied().unwrap_or_default()
    }

    fn text_step(&mut self, tag: &Tag<'_>, open: &mut Open, out: &mut String) -> Step {
        match tag.local() {
            "tracked-changes" | "ruby-text" => return Step::Skip,
            "table-index" | "user-index" | "object-index" => {
                return Step::Rename("text:section".to_owned());
            }
            "numbered-paragraph" => return Step::Unwrap,
            "p" | "h" => {
                open.is_paragraph = !self.is_in_paragraph();
                open.hides = self.hidden.hides(tag);
            }
            "span" => open.hides = self.hidden.hides(tag),
            "section" => {
                open.hides =
                    tag.attribute("display").as_deref() == Some("none") || tag.says("is-hidden");
            }
            "hidden-paragraph" => open.hides = tag.says("is-hidden"),
            "hidden-text" if tag.says("is-hidden") => {
                let text = tag.attribute("string-value").unwrap_or_default();
                out.push(HIDE);
                out.push_str(&escaped(&text));
                out.push(SHOW);
                return Step::Skip;
            }
            _ => {}
        }
        Step::Keep
    }

    /// Shapes with text become text boxes, and stand in a paragraph.
    fn shape_step(&mut self, tag: &Tag<'_>, open: &mut Open, out: &mut String) -> Step {
        let is_frame = tag.local() == "frame";
        if tag.local() == "text-box" {
            open.is_box = true;
            return Step::Keep;
        }
        if self.content == Content::Slides {
            return self.slide_step(tag);
        }
        let has_text = matches!(
            tag.local(),
            "custom-shape"
                | "rect"
                | "ellipse"
                | "circle"
                | "polygon"
                | "polyline"
                | "regular-polygon"
                | "path"
                | "line"
                | "connector"
                | "caption"
        );
        let stands_alone = !self.is_in_paragraph();
        match (has_text, is_frame, stands_alone) {
            (true, _, false) => {
                out.push_str("<draw:frame><draw:text-box>");
                open.is_box = true;
                open.after = "</draw:text-box></draw:frame>";
                Step::Unwrap
            }
            (true, _, true) => {
                out.push_str("<text:p><draw:frame><draw:text-box>");
                open.is_box = true;
                open.after = "</draw:text-box></draw:frame></text:p>";
                Step::Unwrap
            }
            (false, true, true) => {
                out.push_str("<text:p>");
                open.is_paragraph = true;
                open.after = "</text:p>";
                Step::Keep
            }
            (false, false, true) if tag.local() == "g" => Step::Unwrap,
            _ => Step::Keep,
        }
    }

    fn slide_step(&mut self, tag: &Tag<'_>) -> Step {
        match tag.local() {
            "page" => {
                let number = self.slides.len();
                self.slides.push(self.hidden.hides(tag));
                // Titles come first, in their order.
                Step::KeepWith(format!(
                    "<draw:frame presentation:class=\"title\" xmlns:presentation=\"urn:oasis:names:\
                     tc:opendocument:xmlns:presentation:1.0\" xmlns:text=\"urn:oasis:names:tc:\
                     opendocument:xmlns:text:1.0\"><draw:text-box><text:p>{}</text:p>\
                     </draw:text-box></draw:frame>",
                    place(number)
                ))
            }
            "frame" => match tag.attribute("class").as_deref() {
                Some("page-number" | "date-time" | "header" | "footer") => Step::Skip,
                _ => Step::Keep,
            },
            "page-thumbnail" => Step::Skip,
            _ => Step::Keep,
        }
    }
}

impl Filter for ContentFilter<'_> {
    fn open(&mut self, tag: &Tag<'_>, out: &mut String) -> Step {
        let mut open = Open::default();
        let step = match (tag.prefix(), tag.local()) {
            ("office", "document") => Step::Rename("office:document-content".to_owned()),
            ("office", "annotation" | "annotation-end") => Step::Skip,
            ("text", _) => self.text_step(tag, &mut open, out),
            ("draw", _) => self.shape_step(tag, &mut open, out),
            _ => Step::Keep,
        };
        if step == Step::Skip {
            return step;
        }
        if open.is_paragraph || open.is_box {
            self.in_paragraph.push(open.is_paragraph);
        }
        self.hiding += usize::from(open.hides);
        self.open.push(open);
        step
    }

    fn text(&mut self, text: &str, out: &mut String) {
        if self.hiding > 0 && self.is_in_paragraph() {
            out.push(HIDE);
            out.push_str(&escaped(text));
            out.push(SHOW);
        } else {
            out.push_str(&escaped(text));
        }
    }

    fn closed(&mut self, _name: &str, out: &mut String) {
        let Some(open) = self.open.pop() else {
            return;
        };
        self.hiding -= usize::from(open.hides);
        out.push_str(open.after);
        if open.is_paragraph || open.is_box {
            self.in_paragraph.pop();
        }
    }
}
