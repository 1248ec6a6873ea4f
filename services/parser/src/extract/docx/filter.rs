//! A Word part in a form that `anydoc` reads whole: tracked changes accepted, hidden text marked,
//! and what it does not know put in words that it knows.

use super::super::office::marks::{HIDE, SHOW, place};
use super::super::office::xml::{Filter, Step, Tag, escaped, split};
use super::styles::{HiddenStyles, is_on};
use super::symbols::symbol;

/// Elements that are left out: properties, readings, places where a word may be parted, and what
/// was before changes that count as accepted.
const IS_LEFT_OUT: [&str; 18] = [
    "sdtPr",
    "sdtEndPr",
    "customXmlPr",
    "smartTagPr",
    "softHyphen",
    "rt",
    "rubyPr",
    "del",
    "moveFrom",
    "rPrChange",
    "pPrChange",
    "sectPrChange",
    "tblPrChange",
    "tblPrExChange",
    "tblGridChange",
    "trPrChange",
    "tcPrChange",
    "numberingChange",
];

/// Filters one part.
pub(super) struct WordFilter<'a> {
    hidden: &'a HiddenStyles,
    /// The prefix of Word's own elements, once the first one was seen.
    prefix: Option<String>,
    /// Open paragraphs, and whether their style hides them.
    paragraphs: Vec<bool>,
    /// Open runs, and whether they are hidden.
    runs: Vec<bool>,
    in_paragraph_properties: bool,
    in_run_properties: bool,
    in_text: bool,
    /// Open texts with a reading above them.
    rubies: usize,
    form: Option<Form>,
    /// The ids of parts that stand in for a piece of the text, in the order of their places.
    pub(super) chunks: Vec<String>,
}

/// A field of a form, which has its value among its properties.
#[derive(Default)]
struct Form {
    /// Where it began in the output.
    at: usize,
    is_checked: Option<bool>,
    choices: Vec<String>,
    choice: usize,
}

impl Form {
    fn value(&self) -> Option<String> {
        match self.is_checked {
            Some(true) => Some("[x] ".to_owned()),
            Some(false) => Some("[ ] ".to_owned()),
            None => self.choices.get(self.choice).cloned(),
        }
    }

    fn open(&mut self, tag: &Tag<'_>) {
        match tag.local() {
            "checkBox" => self.is_checked = Some(false),
            "default" | "checked" if self.is_checked.is_some() => {
                self.is_checked = Some(is_on(tag));
            }
            "listEntry" => self.choices.extend(tag.attribute("val")),
            "result" => {
                let number = tag.attribute("val").and_then(|number| number.parse().ok());
                self.choice = number.unwrap_or_default();
            }
            _ => {}
        }
    }
}

impl<'a> WordFilter<'a> {
    /// For a document with the styles `hidden`.
    pub(super) fn new(hidden: &'a HiddenStyles) -> Self {
        Self {
            hidden,
            prefix: None,
            paragraphs: Vec::new(),
            runs: Vec::new(),
            in_paragraph_properties: false,
            in_run_properties: false,
            in_text: false,
            rubies: 0,
            form: None,
            chunks: Vec::new(),
        }
    }

    fn is_hidden(&self) -> bool {
        self.runs.last().copied().unwrap_or_default()
    }

    /// `text` as an element of the run that is open.
    fn push_text(&self, text: &str, out: &mut String) {
        let text = if self.is_hidden() {
            format!("{HIDE}{text}{SHOW}")
        } else {
            text.to_owned()
        };
        out.push_str(&self.element("t", &escaped(&text)));
    }

    fn element(&self, local: &str, content: &str) -> String {
        let name = match self.prefix.as_deref() {
            None | Some("") => local.to_owned(),
            Some(prefix) => format!("{prefix}:{local}"),
        };
        format!("<{name}>{content}</{name}>")
    }

    /// A property of the run that is open.
    fn run_property(&mut self, tag: &Tag<'_>) {
        let hides = match tag.local() {
            "vanish" => is_on(tag),
            "rStyle" => tag
                .attribute("val")
                .is_some_and(|style| self.hidden.has(&style)),
            _ => return,
        };
        if let Some(run) = self.runs.last_mut() {
            *run = hides || (tag.local() == "rStyle" && *run);
        }
    }

    fn open_run(&mut self) -> Step {
        if self.rubies > 0 {
            return Step::Unwrap;
        }
        let of_paragraph = self.paragraphs.last().copied().unwrap_or_default();
        self.runs.push(of_paragraph);
        Step::Keep
    }

    fn style_paragraph(&mut self, tag: &Tag<'_>) {
        if let Some(style) = tag.attribute("val")
            && let Some(paragraph) = self.paragraphs.last_mut()
        {
            *paragraph = self.hidden.has(&style);
        }
    }

    /// What becomes of elements that `anydoc` does not know or does not need.
    fn replaced(&mut self, tag: &Tag<'_>, out: &mut String) -> Option<Step> {
        match tag.local() {
            // It finds rows and cells only where nothing stands around them.
            "sdt" | "sdtContent" | "customXml" => return Some(Step::Unwrap),
            "rPr" if self.rubies > 0 => {}
            local if IS_LEFT_OUT.contains(&local) => {}
            "noBreakHyphen" => self.push_text("-", out),
            "sym" => {
                let font = tag.attribute("font").unwrap_or_default();
                let code = tag.attribute("char").unwrap_or_default();
                if let Some(c) = symbol(&font, &code) {
                    self.push_text(c.encode_utf8(&mut [0; 4]), out);
                }
            }
            "altChunk" => {
                let text = self.element("t", &place(self.chunks.len()));
                out.push_str(&self.element("p", &self.element("r", &text)));
                self.chunks.push(tag.attribute("id").unwrap_or_default());
            }
            _ => return None,
        }
        Some(Step::Skip)
    }
}

impl Filter for WordFilter<'_> {
    fn open(&mut self, tag: &Tag<'_>, out: &mut String) -> Step {
        if self.prefix.is_none() {
            self.prefix = Some(tag.prefix().to_owned());
            return Step::Keep;
        }
        if self.prefix.as_deref() != Some(tag.prefix()) {
            return Step::Keep;
        }
        if let Some(step) = self.replaced(tag, out) {
            return step;
        }
        if let Some(form) = &mut self.form {
            form.open(tag);
        }
        match tag.local() {
            "p" => self.paragraphs.push(false),
            "pPr" => self.in_paragraph_properties = true,
            "pStyle" => self.style_paragraph(tag),
            "r" => return self.open_run(),
            "rPr" => self.in_run_properties = !self.in_paragraph_properties,
            "t" => self.in_text = true,
            "ruby" => {
                self.rubies += 1;
                return Step::Unwrap;
            }
            "rubyBase" => return Step::Unwrap,
            "fldChar" => {
                self.form = Some(Form {
                    at: out.len(),
                    ..Form::default()
                });
            }
            _ if self.in_run_properties => self.run_property(tag),
            _ => {}
        }
        Step::Keep
    }

    fn text(&mut self, text: &str, out: &mut String) {
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
        if self.prefix.as_deref() != Some(prefix) {
            return;
        }
        match local {
            "p" => {
                self.paragraphs.pop();
            }
            "pPr" => self.in_paragraph_properties = false,
            "r" if self.rubies == 0 => {
                self.runs.pop();
            }
            "rPr" => self.in_run_properties = false,
            "t" => self.in_text = false,
            "ruby" => self.rubies -= 1,
            "fldChar" => {
                if let Some(form) = self.form.take()
                    && let Some(value) = form.value()
                {
                    let element = self.element("t", &escaped(&value));
                    out.insert_str(form.at, &element);
                }
            }
            _ => {}
        }
    }
}
