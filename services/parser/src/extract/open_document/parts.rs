//! What stands beside the text: the title, comments, headers and footers.

use super::super::office::xml::{Tag, Visit, split};

/// Letters of a line with a page number that is worth keeping.
const FEW_LETTERS: usize = 12;

/// What was found in the parts that were visited.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The title that its author gave the document.
    pub(super) title: Option<String>,
    /// Lines, each saying what it is, with the slide that they stand on; 0 for none.
    found: Vec<(usize, String)>,
    slide: usize,
    place: Place,
    author: String,
    text: String,
    has_page_number: bool,
}

/// What the text at hand belongs to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Elsewhere,
    Title,
    Comment,
    Author,
    Header,
    Footer,
}

impl Parts {
    /// Lines of the whole document.
    pub(super) fn lines(&self) -> Vec<String> {
        self.lines_of(0)
    }

    /// Lines of the slide `number`, counted from 1.
    pub(super) fn lines_of(&self, number: usize) -> Vec<String> {
        let of_slide = self.found.iter().filter(|(slide, _)| *slide == number);
        of_slide.map(|(_, line)| line.clone()).collect()
    }

    fn end(&mut self) {
        let words: Vec<&str> = self.text.split_whitespace().collect();
        let text = words.join(" ");
        let letters = text.chars().filter(|c| c.is_alphabetic()).count();
        let has_page_number = std::mem::take(&mut self.has_page_number);
        let place = std::mem::take(&mut self.place);
        self.text.clear();
        if text.is_empty() || (has_page_number && letters < FEW_LETTERS) {
            return;
        }
        let (slide, line) = match place {
            Place::Elsewhere | Place::Author => return,
            Place::Title => {
                self.title.get_or_insert(text);
                return;
            }
            Place::Comment if self.author.is_empty() => (self.slide, format!("Comment: {text}")),
            Place::Comment => (self.slide, format!("Comment by {}: {text}", self.author)),
            Place::Header => (0, format!("Page header: {text}")),
            Place::Footer => (0, format!("Page footer: {text}")),
        };
        if place == Place::Comment || !self.found.iter().any(|(_, other)| *other == line) {
            self.found.push((slide, line));
        }
    }

    fn begin(&mut self, place: Place) {
        self.place = place;
        self.text.clear();
        self.has_page_number = false;
    }
}

impl Visit for Parts {
    fn open(&mut self, tag: &Tag<'_>) {
        match (tag.prefix(), tag.local()) {
            ("draw", "page") => self.slide += 1,
            ("dc", "title") => self.begin(Place::Title),
            ("office", "annotation") => {
                self.author.clear();
                self.begin(Place::Comment);
            }
            ("dc", "creator") if self.place == Place::Comment => self.place = Place::Author,
            ("style", "header" | "header-left" | "header-first") => self.begin(Place::Header),
            ("style", "footer" | "footer-left" | "footer-first")
            | ("presentation", "footer-decl") => self.begin(Place::Footer),
            ("text", "page-number" | "page-count") => self.has_page_number = true,
            ("text", "p" | "h" | "tab" | "s" | "line-break") => self.text.push(' '),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        match self.place {
            Place::Elsewhere => {}
            Place::Author => self.author.push_str(text),
            _ => self.text.push_str(text),
        }
    }

    fn close(&mut self, name: &str) {
        match split(name) {
            ("dc", "creator") if self.place == Place::Author => self.place = Place::Comment,
            // The date and the author's initials stand before a comment's text.
            ("dc" | "meta", _) if self.place == Place::Comment => self.text.clear(),
            ("dc", "title")
            | ("office", "annotation")
            | ("presentation", "footer-decl")
            | (
                "style",
                "header" | "header-left" | "header-first" | "footer" | "footer-left"
                | "footer-first",
            ) => self.end(),
            _ => {}
        }
    }
}
