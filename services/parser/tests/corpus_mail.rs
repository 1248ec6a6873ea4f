//! Messages and archives of the corpus: each fact in its message or entry.

use crate::manifest::{Fact, bytes, entries, is_clean, squeeze};
use crate::support::{corpus, second_reader};
use parser::extract::{ExtractedPage, Extractors};
use shared::contract::Locator;
use shared::format::Format;

const FORMATS: [(&str, Format); 4] = [
    ("eml", Format::Eml),
    ("msg", Format::Msg),
    ("mbox", Format::Mbox),
    ("zip", Format::Zip),
];

/// Whether `page` holds `fact`. A row of a table is read cell by cell.
fn holds(page: &ExtractedPage, fact: &Fact) -> bool {
    let text = squeeze(&page.markdown);
    let is_row = matches!(page.record.locator, Locator::Entry { ref inner, .. }
        if matches!(**inner, Locator::Sheet { .. }));
    let mut cells = fact.text.split(if is_row { ',' } else { '\n' });
    fact.may_stand_at(&page.record.locator) && cells.all(|cell| text.contains(&squeeze(cell)))
}

#[test]
fn messages_and_archives_hold_their_facts_in_their_places() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    let (mut checked, mut lacking) = (0, Vec::new());
    for (name, format) in FORMATS {
        for entry in entries(&folder, name) {
            let bytes = bytes(&folder, &entry);
            let extraction = extractors
                .extract_file(format, &entry.file, &bytes)
                .unwrap();
            assert!(is_clean(&extraction), "{}", entry.file);
            for page in &extraction.pages {
                let place = page.record.locator.short().unwrap_or_default();
                assert!(!place.contains("..") && !place.starts_with('/'), "{place}");
            }
            checked += entry.facts.len();
            let lost = entry.facts.iter().filter(|fact| {
                let mut pages = extraction.pages.iter();
                !pages.any(|page| holds(page, fact))
            });
            lacking.extend(lost.map(|fact| format!("{}: {}", entry.file, fact.text)));
        }
    }
    println!("{} of {checked} facts", checked - lacking.len());
    assert!(checked >= 28, "the corpus is not whole: {checked} facts");
    assert_eq!(lacking, Vec::<String>::new());
}
