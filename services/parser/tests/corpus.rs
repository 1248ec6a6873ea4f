//! The readers over real documents: facts found, and malformed files that end in a clear state.

use std::path::Path;

use crate::support::{corpus, extract, pool, second_reader, squeeze};
use parser::Settings;
use parser::extract::{
    ExtractError, Extraction, Extractors, Input, Merging, NoOcr, SecondReader, Spent,
};
use serde::Deserialize;
use shared::contract::{Locator, ReadMethod};
use shared::format::{Format, HEAD_BYTES, detect};

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
    #[serde(default)]
    outline_contains: Vec<String>,
}

#[derive(Deserialize)]
struct Fact {
    text: String,
    #[serde(default)]
    page: Option<u32>,
    #[serde(default)]
    slide: Option<u32>,
    #[serde(default)]
    page_label: Option<String>,
    #[serde(default)]
    optional: bool,
}

fn entries(folder: &Path, format: &str) -> Vec<Entry> {
    let manifest = std::fs::read_to_string(folder.join("manifest.jsonl")).unwrap();
    let entries = manifest
        .lines()
        .map(|line| serde_json::from_str::<Entry>(line).unwrap());
    entries.filter(|entry| entry.format == format).collect()
}

fn read(folder: &Path, entry: &Entry) -> Vec<u8> {
    std::fs::read(folder.join(&entry.file)).unwrap()
}

/// Facts that are not where they should be, as `file p.n: text`.
fn missing(entry: &Entry, extraction: &Extraction) -> Vec<String> {
    let holds = |fact: &&Fact| {
        extraction.pages.iter().any(|page| {
            let right_page = match (&page.record.locator, fact.page, fact.slide) {
                (Locator::PdfPage { physical, label }, Some(expect), _) => {
                    let right_label = fact.page_label.is_none() || *label == fact.page_label;
                    *physical == expect && right_label
                }
                (locator, _, Some(number)) => *locator == Locator::Slide { number },
                _ => true,
            };
            right_page && squeeze(&page.markdown).contains(&squeeze(&fact.text))
        })
    };
    let required = entry.facts.iter().filter(|fact| !fact.optional);
    required
        .filter(|fact| !holds(fact))
        .map(|fact| format!("{} p.{:?}: {}", entry.file, fact.page, fact.text))
        .collect()
}

fn is_clean(extraction: &Extraction) -> bool {
    let clean = |c: char| matches!(c, '\n' | '\t') || !c.is_control();
    extraction
        .pages
        .iter()
        .all(|page| page.markdown.chars().all(clean))
}

#[test]
fn texts_and_markdown_hold_their_facts() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    for (name, format) in [("txt", Format::Text), ("md", Format::Markdown)] {
        for entry in entries(&folder, name) {
            let bytes = read(&folder, &entry);
            let extraction = extractors
                .extract_file(format, &entry.file, &bytes)
                .unwrap();
            assert_eq!(missing(&entry, &extraction), Vec::<String>::new());
            assert_eq!(extraction.pages.len(), 1, "{}", entry.file);
            assert!(is_clean(&extraction), "{}", entry.file);
        }
    }
}

/// Formats by the corpus' names for them.
const OTHERS: [(&str, Format); 7] = [
    ("html", Format::Html),
    ("csv", Format::Csv),
    ("tsv", Format::Csv),
    ("docx", Format::Docx),
    ("pptx", Format::Pptx),
    ("odt", Format::Odt),
    ("rtf", Format::Rtf),
];

#[test]
fn pages_tables_and_office_documents_hold_their_facts() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    let (mut wanted, mut lacking) = (0, Vec::new());
    for (name, format) in OTHERS {
        let (mut of_format, mut lost) = (0, Vec::new());
        for entry in entries(&folder, name) {
            if entry.expect.is_some() {
                continue;
            }
            let bytes = read(&folder, &entry);
            if matches!(format, Format::Html | Format::Csv | Format::Docx) {
                let head = bytes.get(..HEAD_BYTES).unwrap_or(&bytes);
                assert_eq!(detect(&entry.file, head), Ok(format), "{}", entry.file);
            }
            let extraction = extractors
                .extract_file(format, &entry.file, &bytes)
                .unwrap();
            assert!(is_clean(&extraction), "{}", entry.file);
            assert!(has_no_page_number(&extraction), "{}", entry.file);
            of_format += entry.facts.iter().filter(|fact| !fact.optional).count();
            lost.extend(missing(&entry, &extraction));
        }
        println!("{name}: {} of {of_format} facts", of_format - lost.len());
        wanted += of_format;
        lacking.extend(lost);
    }
    assert!(wanted >= 70, "the corpus is not whole: {wanted} facts");
    assert_eq!(lacking, Vec::<String>::new());
}

/// Headers, footers and comments, which a reader may leave out and ours does not.
#[test]
fn the_smaller_parts_of_word_documents_are_read() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    for mut entry in entries(&folder, "docx") {
        if entry.expect.is_some() {
            continue;
        }
        for fact in &mut entry.facts {
            fact.optional = false;
        }
        let bytes = read(&folder, &entry);
        let extraction = extractors
            .extract_file(Format::Docx, &entry.file, &bytes)
            .unwrap();
        assert_eq!(missing(&entry, &extraction), Vec::<String>::new());
    }
}

/// All formats by the corpus' names for them.
fn format_of(name: &str) -> Format {
    match name {
        "txt" => Format::Text,
        "md" => Format::Markdown,
        "tsv" => Format::Csv,
        "ipynb" => Format::Notebook,
        name => name.parse().unwrap(),
    }
}

#[test]
fn every_file_is_taken_for_what_it_is() {
    let Some(folder) = corpus("docs") else { return };
    let manifest = std::fs::read_to_string(folder.join("manifest.jsonl")).unwrap();
    let mut wrong = Vec::new();
    for line in manifest.lines() {
        let entry: Entry = serde_json::from_str(line).unwrap();
        let bytes = read(&folder, &entry);
        let head = bytes.get(..HEAD_BYTES).unwrap_or(&bytes);
        let found = detect(&entry.file, head);
        if found != Ok(format_of(&entry.format)) {
            wrong.push(format!("{}: {found:?}", entry.file));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Formats that are text, with at least so many facts.
const TEXTUAL: [(&str, usize); 9] = [
    ("json", 6),
    ("xml", 7),
    ("ipynb", 5),
    ("tex", 3),
    ("txt", 9),
    ("md", 9),
    ("html", 17),
    ("csv", 13),
    ("tsv", 2),
];

#[test]
fn formats_that_are_text_hold_their_facts_and_end_in_a_clear_state() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    for (name, least) in TEXTUAL {
        let (mut wanted, mut lacking) = (0, Vec::new());
        for entry in entries(&folder, name) {
            let format = format_of(name);
            let result = extractors.extract_file(format, &entry.file, &read(&folder, &entry));
            let expect = entry.expect.as_deref().unwrap_or_default();
            let extraction = match result {
                Ok(extraction) => extraction,
                Err(error) => {
                    assert!(expect.contains("error"), "{}: {error}", entry.file);
                    continue;
                }
            };
            assert!(is_clean(&extraction), "{}", entry.file);
            assert!(has_no_page_number(&extraction), "{}", entry.file);
            let pages = &extraction.pages;
            let text: usize = pages.iter().map(|page| page.markdown.len()).sum();
            assert!(text < 1 << 20, "{}: {text} bytes", entry.file);
            if expect.contains("partial") {
                let doubts: usize = pages.iter().map(|page| page.record.doubts.len()).sum();
                assert!(doubts > 0, "{}: nothing is said about it", entry.file);
            }
            wanted += entry.facts.iter().filter(|fact| !fact.optional).count();
            lacking.extend(missing(&entry, &extraction));
        }
        println!("{name}: {} of {wanted} facts", wanted - lacking.len());
        assert_eq!(lacking, Vec::<String>::new());
        assert!(
            wanted >= least,
            "the corpus is not whole: {wanted} {name} facts"
        );
    }
}

#[test]
fn deleted_text_stays_deleted() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    for (format, name, gone) in [
        (Format::Odt, "tracked-changes.odt", "deleted"),
        (Format::Docx, "track-changes-insertion.docx", "deleted"),
    ] {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let extraction = extractors.extract_file(format, name, &bytes).unwrap();
        let text = &extraction.pages[0].markdown;
        assert!(!text.contains(gone), "{name}: {text}");
    }
}

/// Cut, changed and shortened copies of the office documents: none crashes a reader, and what is
/// read is clean.
#[test]
fn changed_office_documents_end_in_a_clear_state() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(below.max(1)).unwrap()).unwrap()
    };
    for (name, format) in OTHERS {
        if matches!(format, Format::Html | Format::Csv) {
            continue;
        }
        for entry in entries(&folder, name) {
            let whole = read(&folder, &entry);
            for _ in 0..8 {
                let mut bytes = whole.clone();
                for _ in 0..random(20) {
                    let at = random(bytes.len());
                    bytes[at] = u8::try_from(random(256)).unwrap();
                }
                bytes.truncate(bytes.len() - random(bytes.len() / 2));
                if let Ok(extraction) = extractors.extract_file(format, &entry.file, &bytes) {
                    assert!(is_clean(&extraction), "{}", entry.file);
                    assert!(!extraction.pages.is_empty(), "{}", entry.file);
                }
            }
        }
    }
}

fn has_no_page_number(extraction: &Extraction) -> bool {
    let is_page = |locator: &Locator| matches!(locator, Locator::PdfPage { .. });
    !extraction
        .pages
        .iter()
        .any(|page| is_page(&page.record.locator))
}

#[test]
fn malformed_files_of_other_formats_end_in_a_clear_state() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    let mut checked = 0;
    for (name, format) in OTHERS {
        for entry in entries(&folder, name) {
            let Some(expect) = &entry.expect else {
                continue;
            };
            let result = extractors.extract_file(format, &entry.file, &read(&folder, &entry));
            let clear = match &result {
                Ok(extraction) => expect.contains("partial") && !extraction.pages.is_empty(),
                Err(error) => expect.contains("error") && !error.to_string().is_empty(),
            };
            assert!(clear, "{}: {result:?}", entry.file);
            checked += 1;
        }
    }
    assert!(checked > 0);
}

/// The PDF of `entry`, with its password if it has one.
fn read_pdf(
    folder: &Path,
    entry: &Entry,
    extractors: &Extractors,
) -> Result<Extraction, ExtractError> {
    let bytes = read(folder, entry);
    let spent = Spent::default();
    let input = Input::new(&entry.file, &bytes, extractors, &NoOcr, &spent)
        .with_password(entry.password.as_deref());
    extractors.extract(Format::Pdf, &input)
}

/// Facts found and wanted over all PDFs, and what is missing.
fn score(folder: &Path, extractors: &Extractors) -> (usize, usize, Vec<String>) {
    let (mut wanted, mut lacking) = (0, Vec::new());
    for entry in entries(folder, "pdf") {
        let Ok(extraction) = read_pdf(folder, &entry, extractors) else {
            continue;
        };
        assert!(is_clean(&extraction), "{}", entry.file);
        wanted += entry.facts.iter().filter(|fact| !fact.optional).count();
        lacking.extend(missing(&entry, &extraction));
    }
    (wanted - lacking.len(), wanted, lacking)
}

#[test]
fn pdfs_hold_their_facts_on_the_right_page() {
    let Some(folder) = corpus("docs") else { return };
    let (found, wanted, lacking) = score(
        &folder,
        &Extractors::merging(second_reader(), Merging::default()),
    );
    println!("{found} of {wanted} facts");
    assert!(wanted >= 78, "the corpus is not whole: {wanted} facts");
    if let SecondReader::Library(_) = second_reader() {
        assert_eq!((found, lacking), (wanted, Vec::new()));
    }
}

#[test]
fn outlines_are_headings() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    let mut checked = 0;
    for entry in entries(&folder, "pdf") {
        if entry.outline_contains.is_empty() {
            continue;
        }
        let extraction = read_pdf(&folder, &entry, &extractors).unwrap();
        let headings: Vec<String> = extraction
            .pages
            .iter()
            .flat_map(|page| page.markdown.lines())
            .filter(|line| line.starts_with('#'))
            .map(squeeze)
            .collect();
        for title in &entry.outline_contains {
            let title = squeeze(title);
            let is_there = headings.iter().any(|heading| heading.contains(&title));
            assert!(is_there, "{}: {title}", entry.file);
            checked += 1;
        }
    }
    assert!(checked > 5, "{checked}");
}

#[test]
fn a_truncated_pdf_gives_its_pages_with_doubts() {
    let Some(folder) = corpus("docs") else { return };
    let bytes = std::fs::read(folder.join("truncated.pdf")).unwrap();
    let extractors = Extractors::new(second_reader());
    let extraction = extractors
        .extract_file(Format::Pdf, "truncated.pdf", &bytes)
        .unwrap();
    let second = &extraction.pages[1];
    assert!(
        second
            .markdown
            .contains("This text should contain all letters")
    );
    assert!(second.record.doubts[0].contains("fonts are lost"));
    let last = extraction.pages.last().unwrap();
    assert_eq!(last.record.method, ReadMethod::Missing);
}

/// Prints what the thresholds were chosen from.
#[test]
#[ignore = "a measurement: run with --ignored --nocapture"]
fn thresholds() {
    let Some(folder) = corpus("docs") else { return };
    let absent = SecondReader::Absent("not used".to_owned());
    let (found, wanted, _) = score(&folder, &Extractors::merging(absent, Merging::default()));
    println!("without PDFium: {found} of {wanted}");
    for (fallback_below, insert_below) in [
        (0.0, 0.0),
        (0.0, 0.6),
        (0.3, 0.6),
        (0.6, 0.6),
        (0.9, 0.6),
        (0.95, 0.6),
        (1.1, 0.0),
    ] {
        let merging = Merging {
            fallback_below,
            insert_below,
        };
        let (found, wanted, _) = score(&folder, &Extractors::merging(second_reader(), merging));
        println!("fallback {fallback_below} insert {insert_below}: {found} of {wanted}");
    }
}

/// Prints how the pages of all PDFs of the folder are read, and how long it takes.
#[test]
#[ignore = "a measurement: run with --ignored --nocapture"]
fn survey() {
    let (Some(docs), Some(folder)) = (corpus("docs"), corpus("folder")) else {
        return;
    };
    let extractors = Extractors::new(second_reader());
    for path in pdfs(&docs).into_iter().chain(pdfs(&folder)) {
        let started = std::time::Instant::now();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match extractors.extract_file(Format::Pdf, &name, &std::fs::read(&path).unwrap()) {
            Err(error) => println!("{name}: {error}"),
            Ok(extraction) => {
                let ms = started.elapsed().as_millis();
                println!(
                    "{name}: {} pages, {ms} ms, {:?}",
                    extraction.pages.len(),
                    extraction.notes
                );
                for page in extraction.pages {
                    let record = page.record;
                    if !record.doubts.is_empty() || record.method != ReadMethod::TextLayer {
                        println!(
                            "  {:?} {:?} {} {:?} {:?}",
                            record.locator,
                            record.method,
                            record.characters,
                            record.doubts,
                            record.error
                        );
                    }
                }
            }
        }
    }
}

fn pdfs(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(pdfs(&path));
        } else if path.extension().is_some_and(|extension| extension == "pdf") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn malformed_and_textless_pdfs_end_in_a_clear_state() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    for entry in entries(&folder, "pdf") {
        let result = extractors.extract_file(Format::Pdf, &entry.file, &read(&folder, &entry));
        let expect = entry.expect.as_deref().unwrap_or("facts");
        match (&entry.password, result) {
            (Some(_), result) => {
                assert_eq!(result, Err(ExtractError::PasswordNeeded), "{}", entry.file);
            }
            (None, Err(error)) => assert!(expect.contains("error"), "{}: {error}", entry.file),
            (None, Ok(extraction)) if expect.starts_with("no text") => {
                let missing = |page: &parser::extract::ExtractedPage| {
                    page.record.method == ReadMethod::Missing && page.record.error.is_some()
                };
                assert!(
                    extraction.pages.iter().all(missing),
                    "{}: {extraction:?}",
                    entry.file
                );
            }
            (None, Ok(extraction)) => assert!(!extraction.pages.is_empty(), "{}", entry.file),
        }
    }
}

#[derive(Deserialize)]
struct Question {
    sources: Vec<String>,
    #[serde(default)]
    evidence: Vec<String>,
}

/// Reports of hundreds of pages among them, within the limits that users have.
#[tokio::test]
async fn evidence_stands_on_the_page_that_would_be_cited() {
    let Some(folder) = corpus("folder") else {
        return;
    };
    let mut plan = Settings::default().plan().unwrap();
    plan.program = env!("CARGO_BIN_EXE_ibid-parser").into();
    let pool = pool(plan);
    let questions =
        std::fs::read_to_string(folder.with_file_name("folder-questions.jsonl")).unwrap();
    let mut checked = 0;
    for line in questions.lines() {
        let question: Question = serde_json::from_str(line).unwrap();
        for (source, evidence) in question.sources.iter().zip(&question.evidence) {
            let (file, page) = source.split_once('#').unwrap_or((source, "1"));
            let format = match Path::new(file)
                .extension()
                .and_then(|extension| extension.to_str())
            {
                Some("pdf") => Format::Pdf,
                Some("md") => Format::Markdown,
                Some("txt") => Format::Text,
                Some("html") => Format::Html,
                Some("docx") => Format::Docx,
                _ => continue,
            };
            let bytes = std::fs::read(folder.join(file)).unwrap();
            let extraction = extract(&pool, format, file, &bytes).await.unwrap();
            let page = &extraction.pages[page.parse::<usize>().unwrap() - 1];
            assert!(
                squeeze(&page.markdown).contains(&squeeze(evidence)),
                "{source}: {evidence}"
            );
            checked += 1;
        }
    }
    assert!(checked >= 18, "{checked}");
}

/// Facts of messages and archives, each in its message or entry.
#[derive(Deserialize)]
struct Placed {
    file: String,
    format: String,
    #[serde(default)]
    facts: Vec<PlacedFact>,
}

#[derive(Deserialize)]
struct PlacedFact {
    text: String,
    #[serde(default)]
    message: Option<u32>,
    #[serde(default)]
    entry: Option<String>,
}

/// Whether `page` is where `fact` should be.
fn is_placed(page: &parser::extract::ExtractedPage, fact: &PlacedFact) -> bool {
    match (&page.record.locator, fact.message, &fact.entry) {
        (Locator::Message { number }, Some(expect), _) => *number == expect,
        (Locator::Entry { path, .. }, _, Some(expect)) => path == expect,
        (_, message, entry) => message.is_none() && entry.is_none(),
    }
}

/// Whether `page` holds `fact`. A row of a table is read cell by cell.
fn holds_placed(page: &parser::extract::ExtractedPage, fact: &PlacedFact) -> bool {
    let text = squeeze(&page.markdown);
    let is_row = matches!(page.record.locator, Locator::Entry { ref inner, .. }
        if matches!(**inner, Locator::Sheet { .. }));
    let mut cells = fact.text.split(if is_row { ',' } else { '\n' });
    is_placed(page, fact) && cells.all(|cell| text.contains(&squeeze(cell)))
}

#[test]
fn messages_and_archives_hold_their_facts_in_their_places() {
    let Some(folder) = corpus("docs") else { return };
    let manifest = std::fs::read_to_string(folder.join("manifest.jsonl")).unwrap();
    let extractors = Extractors::new(second_reader());
    let (mut checked, mut lacking, mut unread) = (0, Vec::new(), 0);
    for line in manifest.lines() {
        let entry: Placed = serde_json::from_str(line).unwrap();
        let format = match entry.format.as_str() {
            "eml" => Format::Eml,
            "msg" => Format::Msg,
            "mbox" => Format::Mbox,
            "zip" => Format::Zip,
            _ => continue,
        };
        let bytes = std::fs::read(folder.join(&entry.file)).unwrap();
        let extraction = extractors
            .extract_file(format, &entry.file, &bytes)
            .unwrap();
        assert!(is_clean(&extraction), "{}", entry.file);
        for page in &extraction.pages {
            let place = page.record.locator.short().unwrap_or_default();
            assert!(!place.contains("..") && !place.starts_with('/'), "{place}");
        }
        for fact in &entry.facts {
            let mut placed = extraction.pages.iter().filter(|page| is_placed(page, fact));
            checked += 1;
            if placed.clone().any(|page| holds_placed(page, fact)) {
                continue;
            }
            // A workbook counts as unread only where the build has no reader for it.
            if placed.all(|page| page.record.method == ReadMethod::Missing) {
                unread += 1;
            } else {
                lacking.push(format!("{}: {}", entry.file, fact.text));
            }
        }
    }
    println!(
        "{} of {checked} facts, {unread} unread",
        checked - lacking.len() - unread
    );
    assert!(checked >= 28, "the corpus is not whole: {checked} facts");
    assert_eq!(lacking, Vec::<String>::new());
    assert!(unread <= 1, "{unread}");
}
