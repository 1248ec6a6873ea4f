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

fn name_and_place(hit: &Hit) -> String {
    match place(hit) {
        Some(place) => format!("[{}, {place}", hit.name),
        None => format!("[{}", hit.name),
    }
}

/// `p.4`, or `p.4–5` for text on two pages. Pages of which the passage has only white space do
/// not count.
fn place(hit: &Hit) -> Option<String> {
    let (before, after) = pages_with_text(hit);
    let first = match &hit.locator {
        Locator::PdfPage { physical, .. } if before > 0 => Locator::PdfPage {
            physical: physical + before,
            label: None,
        },
        Locator::Slide { number } => Locator::Slide {
            number: number + before,
        },
        other => other.clone(),
    };
    let short = first.short()?;
    match first {
        Locator::PdfPage {
            physical: number, ..
        }
        | Locator::Slide { number }
            if after > before =>
        {
            Some(format!("{short}–{}", number + after - before))
        }
        _ => Some(short),
    }
}

/// How many pages after the first span's page the passage's text begins and ends.
fn pages_with_text(hit: &Hit) -> (u32, u32) {
    let Some(origin) = hit.spans.first().map(|span| span.page) else {
        return (0, 0);
    };
    let mut pages = texts(hit)
        .filter(|(_, text)| !text.trim().is_empty())
        .map(|(span, _)| span.page.saturating_sub(origin));
    let first = pages.next().unwrap_or(0);
    (first, pages.last().unwrap_or(first))
}

/// Each span with its part of the text.
fn texts(hit: &Hit) -> impl Iterator<Item = (&Span, &str)> {
    let mut at = 0;
    hit.spans.iter().map(move |span| {
        let start = at;
        at += span.end.saturating_sub(span.start) as usize;
        (span, hit.text.get(start..at).unwrap_or_default())
    })
}
