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
        let worded = texts.iter().position(|text| !text.trim().is_empty());
        cited.locator = Locator::PdfPage {
            physical: 4 + u32::try_from(worded.unwrap_or(0)).unwrap(),
            label: None,
        };
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

#[test]
fn a_passage_within_a_file_names_the_way_there() {
    let within = |path: &str, inner: Locator| Locator::Entry {
        path: path.to_owned(),
        inner: Box::new(inner),
    };
    let page = |physical, label: Option<&str>| Locator::PdfPage {
        physical,
        label: label.map(str::to_owned),
    };
    let check = |name: &str, locator: Locator, expect: &str| {
        let cited = Hit {
            name: name.to_owned(),
            heading_path: Vec::new(),
            locator,
            ..hit(1, "text")
        };
        assert_eq!(label(&cited), expect);
    };
    check(
        "mail.eml",
        within("invoice.pdf", page(2, None)),
        "[mail.eml › invoice.pdf, p.2]",
    );
    check(
        "box.mbox",
        within("message 3", within("a.pdf", page(4, Some("iv")))),
        "[box.mbox › message 3 › a.pdf, p.iv (4)]",
    );
    check(
        "all.zip",
        within("docs/notes.md", Locator::Block { number: 1 }),
        "[all.zip › docs/notes.md]",
    );
    let mut two = hit(1, "one two");
    two.name = "mail.eml".to_owned();
    two.locator = within("invoice.pdf", page(2, None));
    two.spans = vec![
        Span {
            page: 3,
            start: 0,
            end: 4,
        },
        Span {
            page: 4,
            start: 0,
            end: 3,
        },
    ];
    assert_eq!(
        label(&two),
        "[mail.eml › invoice.pdf, p.2–3 — Pricing > Refunds]"
    );
}
