//! A long text without pages is cut at its topmost headings, so that a citation names the section.

use shared::contract::Locator;

use super::super::markdown::Names;
use super::super::{ExtractedPage, only_page};
use super::render::Piece;

/// A text up to this long stays in one, in bytes of Markdown.
const LONG: usize = 200 << 10;
/// A section shorter than this takes the next one in.
const SHORT: usize = 40 << 10;

/// The pages of a text written as `pieces`; `doubts` stand on each.
pub(in crate::extract) fn paged(pieces: &[Piece], doubts: &[String]) -> Vec<ExtractedPage> {
    let mut pages = cut(pieces);
    if pages.is_empty() {
        pages.push(String::new());
    }
    let count = pages.len();
    let page = |(index, markdown): (usize, String)| {
        let heading = Names::of(&markdown).heading;
        let mut page = only_page(markdown, heading, doubts.to_vec());
        if let Locator::Block { number } = &mut page.record.locator
            && count > 1
        {
            *number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        }
        page
    };
    pages.into_iter().enumerate().map(page).collect()
}

fn cut(pieces: &[Piece]) -> Vec<String> {
    let length: usize = pieces.iter().map(|piece| piece.markdown.len() + 1).sum();
    let topmost = pieces.iter().filter_map(|piece| piece.heading).min();
    let mut pages: Vec<String> = Vec::new();
    for piece in pieces {
        let is_border = piece.heading.is_some() && piece.heading == topmost;
        let wants_new = |page: &String| {
            length > LONG && ((is_border && page.len() >= SHORT) || page.len() >= LONG)
        };
        match pages.last_mut() {
            Some(page) if !wants_new(page) => {
                page.push('\n');
                page.push_str(&piece.markdown);
            }
            _ => pages.push(piece.markdown.clone()),
        }
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(heading: Option<u8>, text: &str) -> Piece {
        Piece {
            heading,
            markdown: format!("{text}\n"),
        }
    }

    #[test]
    fn only_long_texts_are_cut_and_only_at_top_headings() {
        let body = "words ".repeat(5_000);
        let mut pieces = Vec::new();
        for chapter in 1..=12 {
            pieces.push(piece(Some(1), &format!("# Chapter {chapter}")));
            pieces.push(piece(Some(2), "## Part"));
            pieces.push(piece(None, &body));
        }
        let pages = paged(&pieces, &["doubt".to_owned()]);
        let places: Vec<_> = pages.iter().map(|page| &page.record.locator).collect();
        let section = |heading: &str| Locator::Section {
            heading: heading.to_owned(),
        };
        assert_eq!(pages.len(), 6);
        assert_eq!(places[0], &section("Chapter 1"));
        assert_eq!(places[1], &section("Chapter 3"));
        assert_eq!(pages[5].record.doubts, ["doubt"]);
        assert!(
            pages[1]
                .markdown
                .starts_with("# Chapter 3\n\n## Part\n\nwords")
        );

        let pages = paged(&pieces[..9], &[]);
        assert_eq!(pages.len(), 1);
        let plain: Vec<_> = (0..20).map(|_| piece(None, &body)).collect();
        let pages = paged(&plain, &[]);
        assert_eq!(pages.len(), 3);
        assert_eq!(pages[2].record.locator, Locator::Block { number: 3 });
        assert_eq!(paged(&[], &[]).len(), 1);
    }
}
