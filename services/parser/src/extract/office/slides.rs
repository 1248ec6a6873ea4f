//! Presentations: each slide is a page. The slides' places travel through `anydoc` as signs
//! ([`super::marks`]) at the beginning of each.

use anydoc::model::{Block, Document, inlines_to_plain_text};
use shared::contract::{Locator, PageRecord, ReadMethod};

use super::super::{ExtractedPage, charset};
use super::render::Renderer;
use super::{HAS_HIDDEN, marks};

/// What is known of a slide beside its shapes.
#[derive(Debug, Default)]
pub(in crate::extract) struct Slide {
    /// Whether it is left out when the presentation is shown.
    pub(in crate::extract) is_hidden: bool,
    /// Footers and comments, each saying what it is.
    pub(in crate::extract) lines: Vec<String>,
    /// What may be wrong with it.
    pub(in crate::extract) doubts: Vec<String>,
}

/// The pages of `slides`, with the blocks of `document`. A slide that has no place among the blocks
/// could not be read.
pub(in crate::extract) fn pages(document: &Document, slides: &[Slide]) -> Vec<ExtractedPage> {
    let mut blocks: Vec<Option<Vec<&Block>>> = slides.iter().map(|_| None).collect();
    let mut current = 0;
    for block in &document.blocks {
        if let Some(number) = place(block).filter(|number| *number < slides.len()) {
            current = number;
            if let Some(of_slide) = blocks.get_mut(current) {
                of_slide.get_or_insert_default();
            }
        } else if let Some(of_slide) = blocks.get_mut(current) {
            of_slide.get_or_insert_default().push(block);
        }
    }
    let mut renderer = Renderer::new(document);
    slides
        .iter()
        .zip(blocks)
        .zip(1..)
        .map(|((slide, blocks), number)| match blocks {
            Some(blocks) => page(slide, &blocks, number, &mut renderer),
            None => missing(number),
        })
        .collect()
}

/// A slide of which only lines are known.
pub(in crate::extract) fn plain_page(
    slide: &Slide,
    lines: &[String],
    number: u32,
) -> ExtractedPage {
    let mut writing = Writing::default();
    if slide.is_hidden {
        writing.hidden_slide();
    }
    for line in lines.iter().chain(&slide.lines) {
        writing.push(&charset::clean(&marks::shown(line)));
    }
    writing.doubts.extend(slide.doubts.iter().cloned());
    writing.page(number)
}

fn place(block: &Block) -> Option<usize> {
    match block {
        Block::Heading { content, .. } | Block::Paragraph(content) => {
            marks::place_of(&inlines_to_plain_text(content))
        }
        _ => None,
    }
}

#[derive(Default)]
struct Writing {
    markdown: String,
    doubts: Vec<String>,
}

impl Writing {
    fn push(&mut self, text: &str) {
        let text = text.trim_end();
        if text.is_empty() {
            return;
        }
        if !self.markdown.is_empty() {
            self.markdown.push('\n');
        }
        self.markdown.push_str(text);
        self.markdown.push('\n');
    }

    fn hidden_slide(&mut self) {
        self.push("(hidden slide)");
        self.doubts.push("the slide is hidden".to_owned());
    }

    fn page(self, number: u32) -> ExtractedPage {
        ExtractedPage {
            record: record(number, ReadMethod::Native, self.doubts, None),
            markdown: self.markdown,
        }
    }
}

fn page(
    slide: &Slide,
    blocks: &[&Block],
    number: u32,
    renderer: &mut Renderer<'_>,
) -> ExtractedPage {
    let mut writing = Writing::default();
    let mut level = 1;
    let mut is_said = !slide.is_hidden;
    renderer.has_hidden = false;
    for block in blocks {
        match block {
            Block::Heading {
                anchor, content, ..
            } => {
                let heading = Block::Heading {
                    level,
                    anchor: anchor.clone(),
                    content: content.clone(),
                };
                level = 2;
                write(&mut writing, renderer, &heading);
                if !std::mem::replace(&mut is_said, true) {
                    writing.hidden_slide();
                }
            }
            Block::BlockQuote(notes) => {
                writing.push("## Notes");
                for note in notes {
                    write(&mut writing, renderer, note);
                }
            }
            block => {
                if !std::mem::replace(&mut is_said, true) {
                    writing.hidden_slide();
                }
                write(&mut writing, renderer, block);
            }
        }
    }
    if !is_said {
        writing.hidden_slide();
    }
    for line in &slide.lines {
        writing.push(&charset::clean(line));
    }
    if renderer.has_hidden {
        writing.doubts.push(HAS_HIDDEN.to_owned());
    }
    writing.doubts.extend(slide.doubts.iter().cloned());
    writing.page(number)
}

fn write(writing: &mut Writing, renderer: &mut Renderer<'_>, block: &Block) {
    for piece in renderer.pieces(block) {
        writing.push(&piece.markdown);
    }
}

fn missing(number: u32) -> ExtractedPage {
    let error = "the slide is damaged and cannot be read".to_owned();
    ExtractedPage {
        record: record(number, ReadMethod::Missing, Vec::new(), Some(error)),
        markdown: String::new(),
    }
}

fn record(
    number: u32,
    method: ReadMethod,
    doubts: Vec<String>,
    error: Option<String>,
) -> PageRecord {
    PageRecord {
        number,
        locator: Locator::Slide { number },
        method,
        characters: 0,
        doubts,
        error,
    }
}
