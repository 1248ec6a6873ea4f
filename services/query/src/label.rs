//! How a passage is named: `[name, p.4 — Pricing > Refunds]`, and shorter, `[name, p.4]`, within
//! an answer.

use shared::contract::{Hit, Locator, Span};

/// The label of `hit`: name, place if the document has one, headings if there are any.
pub fn label(hit: &Hit) -> String {
    let mut label = name_and_place(hit);
    if !hit.heading_path.is_empty() {
        label.push_str(" — ");
        label.push_str(&hit.heading_path.join(" > "));
    }
    label.push(']');
    label
}

/// The citation of `hit`: name, and place if the document has one.
pub fn citation(hit: &Hit) -> String {
    name_and_place(hit) + "]"
}

/// `[name, p.4`, or `[name, p.4–5` for words on two pages; `[mail.eml › invoice.pdf, p.2`.
fn name_and_place(hit: &Hit) -> String {
    let pages = Span::pages_with_words(&hit.spans, &hit.text);
    let more = match (pages.first(), pages.last()) {
        (Some(first), Some(last)) => last.saturating_sub(*first),
        _ => 0,
    };
    let mut place = format!("[{}", hit.locator.within(&hit.name));
    if let Some(last) = last_page(&hit.locator, more) {
        place.push('–');
        place.push_str(&last.to_string());
    }
    place
}

/// The page or slide that is `more` after the first one, if it is another.
fn last_page(first: &Locator, more: u32) -> Option<u32> {
    match first {
        Locator::PdfPage {
            physical: number, ..
        }
        | Locator::Slide { number } => (more > 0).then(|| number + more),
        Locator::Entry { inner, .. } => last_page(inner, more),
        _ => None,
    }
}
