//! Spreadsheets, compound files and books of the corpus: each fact on a page of its sheet.

use std::path::Path;

use crate::support::{corpus, squeeze};
use parser::extract::{ExtractError, Extraction, Extractors, Input, NoOcr, SecondReader, Spent};
use serde::Deserialize;
use shared::contract::Locator;
use shared::format::Format;

const FORMATS: [(&str, Format); 4] = [
    ("xlsx", Format::Xlsx),
    ("xls", Format::Xls),
    ("ods", Format::Ods),
    ("epub", Format::Epub),
];

#[derive(Deserialize)]
struct Entry {
    file: String,
    format: String,
    #[serde(default)]
    facts: Vec<Fact>,
    #[serde(default)]
    password: Option<String>,
    #[serde(default)]
    expect: Option<String>,
}

#[derive(Deserialize)]
struct Fact {
    text: String,
    #[serde(default)]
    sheet: Option<String>,
}

fn entries(folder: &Path) -> impl Iterator<Item = (Entry, Format, Vec<u8>)> {
    let manifest = std::fs::read_to_string(folder.join("manifest.jsonl")).unwrap();
    let entries: Vec<Entry> = manifest
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let folder = folder.to_owned();
    entries.into_iter().filter_map(move |entry| {
        let (_, format) = FORMATS.iter().find(|(name, _)| *name == entry.format)?;
        let bytes = std::fs::read(folder.join(&entry.file)).unwrap();
        Some((entry, *format, bytes))
    })
}

fn read(
    format: Format,
    name: &str,
    bytes: &[u8],
    password: Option<&str>,
) -> Result<Extraction, ExtractError> {
    let extractors = Extractors::new(SecondReader::Absent("not used here".to_owned()));
    let spent = Spent::default();
    let input = Input::new(name, bytes, &extractors, &NoOcr, &spent).with_password(password);
    extractors.extract(format, &input)
}

fn lost(entry: &Entry, extraction: &Extraction) -> Vec<String> {
    let holds = |fact: &&Fact| {
        extraction.pages.iter().any(|page| {
            let right = match (&page.record.locator, &fact.sheet) {
                (Locator::Sheet { name, .. }, Some(sheet)) => name == sheet,
                (Locator::Part { .. }, None) => true,
                _ => false,
            };
            right && squeeze(&page.markdown).contains(&squeeze(&fact.text))
        })
    };
    let lost = entry.facts.iter().filter(|fact| !holds(fact));
    lost.map(|fact| format!("{}: {}", entry.file, fact.text))
        .collect()
}

#[test]
fn spreadsheets_and_books_hold_their_facts() {
    let Some(folder) = corpus("docs") else { return };
    let (mut wanted, mut lacking) = (0, Vec::new());
    for (entry, format, bytes) in entries(&folder) {
        if entry.expect.is_some() {
            continue;
        }
        let extraction = read(format, &entry.file, &bytes, None)
            .unwrap_or_else(|error| panic!("{}: {error}", entry.file));
        wanted += entry.facts.len();
        lacking.extend(lost(&entry, &extraction));
        for page in &extraction.pages {
            assert_eq!(page.record.error, None, "{}", entry.file);
            let clean = |c: char| c == '\n' || !c.is_control();
            assert!(page.markdown.chars().all(clean), "{}", entry.file);
        }
    }
    println!("{} of {wanted} facts", wanted - lacking.len());
    assert!(wanted >= 30, "the corpus is not whole: {wanted} facts");
    assert_eq!(lacking, Vec::<String>::new());
}

#[test]
fn malformed_and_locked_workbooks_end_in_a_clear_state() {
    let Some(folder) = corpus("docs") else { return };
    let mut checked = 0;
    for (entry, format, bytes) in entries(&folder) {
        let Some(expect) = &entry.expect else {
            continue;
        };
        checked += 1;
        let result = read(format, &entry.file, &bytes, None);
        // The password that the manifest names does not open the file, here or elsewhere.
        if entry.password.is_some() {
            assert_eq!(result, Err(ExtractError::PasswordNeeded));
            let wrong = read(format, &entry.file, &bytes, Some("wrong"));
            assert_eq!(wrong, Err(ExtractError::WrongPassword));
            continue;
        }
        match result {
            Ok(extraction) => {
                assert!(expect.contains("partial"), "{}", entry.file);
                assert_eq!(lost(&entry, &extraction), Vec::<String>::new());
            }
            Err(error) => {
                println!("{}: {error}", entry.file);
                assert!(expect.contains("error"), "{}: {error}", entry.file);
            }
        }
    }
    assert!(checked >= 3, "{checked}");
}
