//! A slide in a form that `anydoc` reads whole: its title first, its place before it, descriptions
//! of all shapes, and hidden shapes marked.

use super::super::office::marks::{HIDE, SHOW, place};
use super::super::office::xml::{Filter, Step, Tag, escaped, split};

/// A slide has one title; of more than these, the others stay where they are.
const MOST_TITLES: usize = 4;

/// Filters one slide.
pub(super) struct SlideFilter {
    number: usize,
    /// The prefix of a presentation's own elements, once the first one was seen.
    prefix: Option<String>,
    /// Open shapes, the outermost first.
    shapes: Vec<Shape>,
    /// Where the next title goes: before the first shape that is none.
    title_at: Option<usize>,
    titles: usize,
    /// Open elements that hold one content in several forms.
    alternatives: usize,
    in_text: bool,
    /// Whether the slide is left out when the presentation is shown.
    pub(super) is_hidden_slide: bool,
    /// Texts that stand at the foot of the slide.
    pub(super) footers: Vec<String>,
}

#[derive(Default)]
struct Shape {
    /// Where it began in the output.
    start: usize,
    is_picture: bool,
    is_title: bool,
    is_hidden: bool,
    /// Its text, where it is a footer.
    footer: Option<String>,
    description: Option<String>,
    is_named: bool,
}

impl SlideFilter {
    /// For the slide `number`, counted from 0.
    pub(super) fn new(number: usize) -> Self {
        Self {
            number,
            prefix: None,
            shapes: Vec::new(),
            title_at: None,
            titles: 0,
            alternatives: 0,
            in_text: false,
            is_hidden_slide: false,
            footers: Vec::new(),
        }
    }

    fn is_own(&self, prefix: &str) -> bool {
        self.prefix.as_deref() == Some(prefix)
    }

    fn is_hidden(&self) -> bool {
        self.shapes.last().is_some_and(|shape| shape.is_hidden)
    }

    fn own(&self, local: &str) -> String {
        match self.prefix.as_deref() {
            None | Some("") => local.to_owned(),
            Some(prefix) => format!("{prefix}:{local}"),
        }
    }

    /// A text box that holds the sign of the slide's place. `anydoc` asks for no more of a shape.
    fn place(&self) -> String {
        const DRAWING: &str = "http://schemas.openxmlformats.org/drawingml/2006/main";
        let (shape, body) = (self.own("sp"), self.own("txBody"));
        let text = place(self.number);
        format!(
            "<{shape}><{body}><d:p xmlns:d=\"{DRAWING}\"><d:r><d:t>{text}</d:t></d:r></d:p>\
             </{body}></{shape}>"
        )
    }

    /// A picture that has nothing but a description.
    fn described(&self, description: &str) -> String {
        let (picture, outer, inner) = (self.own("pic"), self.own("nvPicPr"), self.own("cNvPr"));
        let text = escaped(description);
        format!("<{picture}><{outer}><{inner} descr=\"{text}\"/></{outer}></{picture}>")
    }

    fn open_shape(&mut self, tag: &Tag<'_>, out: &str) {
        if self.shapes.is_empty() && self.alternatives == 0 {
            self.title_at.get_or_insert(out.len());
        }
        self.shapes.push(Shape {
            start: out.len(),
            is_picture: tag.local() == "pic",
            is_hidden: self.is_hidden(),
            ..Shape::default()
        });
    }

    fn name_shape(&mut self, tag: &Tag<'_>) {
        let Some(shape) = self.shapes.last_mut().filter(|shape| !shape.is_named) else {
            return;
        };
        shape.is_named = true;
        shape.is_hidden |= tag.says("hidden");
        shape.description = tag
            .attribute("descr")
            .or_else(|| tag.attribute("title"))
            .filter(|text| !text.trim().is_empty());
    }

    fn place_shape(&mut self, tag: &Tag<'_>) {
        let Some(shape) = self.shapes.last_mut() else {
            return;
        };
        match tag.attribute("type").as_deref() {
            Some("title" | "ctrTitle") => shape.is_title = true,
            Some("ftr") => shape.footer = Some(String::new()),
            _ => {}
        }
    }

    fn close_shape(&mut self, out: &mut String) {
        let Some(shape) = self.shapes.pop() else {
            return;
        };
        if let Some(description) = shape.description.filter(|_| !shape.is_picture) {
            out.push_str(&self.described(&description));
        }
        let footer = shape.footer.unwrap_or_default();
        let words: Vec<&str> = footer.split_whitespace().collect();
        if !words.is_empty() {
            self.footers.push(words.join(" "));
        }
        let is_outermost = self.shapes.is_empty() && self.alternatives == 0;
        if shape.is_title
            && is_outermost
            && self.titles < MOST_TITLES
            && out.is_char_boundary(shape.start)
        {
            let title = out.split_off(shape.start);
            let at = self.title_at.unwrap_or(shape.start);
            self.titles += 1;
            self.title_at = Some(at + title.len());
            out.insert_str(at, &title);
        }
    }
}

fn is_shape(local: &str) -> bool {
    matches!(local, "sp" | "pic" | "graphicFrame" | "grpSp" | "cxnSp")
}

impl Filter for SlideFilter {
    fn open(&mut self, tag: &Tag<'_>, out: &mut String) -> Step {
        if self.prefix.is_none() {
            self.prefix = Some(tag.prefix().to_owned());
            let show = tag.attribute("show");
            self.is_hidden_slide = matches!(show.as_deref(), Some("0" | "false"));
            return Step::Keep;
        }
        let local = tag.local();
        if !self.is_own(tag.prefix()) {
            self.alternatives += usize::from(local == "AlternateContent");
            self.in_text |= local == "t";
            return Step::Keep;
        }
        match local {
            "spTree" => return Step::KeepWith(self.place()),
            "cNvPr" => self.name_shape(tag),
            "ph" => self.place_shape(tag),
            _ if is_shape(local) => self.open_shape(tag, out),
            _ => {}
        }
        Step::Keep
    }

    fn text(&mut self, text: &str, out: &mut String) {
        if self.in_text
            && let Some(footer) = self
                .shapes
                .last_mut()
                .and_then(|shape| shape.footer.as_mut())
        {
            footer.push_str(text);
        }
        if self.in_text && self.is_hidden() {
            out.push(HIDE);
            out.push_str(&escaped(text));
            out.push(SHOW);
        } else {
            out.push_str(&escaped(text));
        }
    }

    fn closed(&mut self, name: &str, out: &mut String) {
        let (prefix, local) = split(name);
        if !self.is_own(prefix) {
            self.alternatives -= usize::from(local == "AlternateContent");
            self.in_text &= local != "t";
        } else if is_shape(local) {
            self.close_shape(out);
        }
    }
}
