//! Citations.

use query::label;
use shared::contract::{Hit, Locator, Span};

use crate::support::hit;

fn check(hit: &Hit, expect: &str) {
    assert_eq!(label(hit), expect);
}

#[test]
fn a_label_has_name_place_and_headings_where_there_are_any() {
    let cited = hit(1, "text");
    check(&cited, "[handbook.pdf, p.4 — Pricing > Refunds]");
    check(
        &Hit {
            heading_path: Vec::new(),
            ..cited.clone()
        },
        "[handbook.pdf, p.4]",
    );
    let section = Locator::Section {
        heading: "Refunds".to_owned(),
    };
    let without_page = Hit {
        locator: section,
        name: "notes.md".to_owned(),
        ..cited.clone()
    };
    check(&without_page, "[notes.md — Pricing > Refunds]");
    check(
        &Hit {
            heading_path: Vec::new(),
            ..without_page
        },
        "[notes.md]",
    );
    let printed = Locator::PdfPage {
        physical: 4,
        label: Some("iv".to_owned()),
    };
    check(
        &Hit {
            locator: printed,
            ..cited.clone()
        },
        "[handbook.pdf, p.iv (4) — Pricing > Refunds]",
    );
    let slide = Hit {
        locator: Locator::Slide { number: 3 },
        heading_path: Vec::new(),
        ..cited
    };
    check(&slide, "[handbook.pdf, slide 3]");
}

#[test]
fn a_passage_on_two_pages_names_both() {
    /// A passage of one text per page, from page 4 on.
    fn on_pages(texts: &[&str]) -> Hit {
        let mut cited = hit(1, &texts.concat());
        cited.heading_path = Vec::new();
        cited.spans = (4..)
            .zip(texts)
            .map(|(page, text)| Span {
                page,
                start: 0,
                end: u32::try_from(text.len()).unwrap(),
            })
            .collect();
        cited
    }
    check(&on_pages(&["one ", "two"]), "[handbook.pdf, p.4–5]");
    check(&on_pages(&["one ", " ", "three"]), "[handbook.pdf, p.4–6]");
    // White space on a page is no text to cite it for.
    check(&on_pages(&["one", "\n"]), "[handbook.pdf, p.4]");
    check(&on_pages(&["\n", "two"]), "[handbook.pdf, p.5]");
    check(&on_pages(&["\n", "two ", "three"]), "[handbook.pdf, p.5–6]");
}
